import { forgetKey, keepKey, storedKey } from '../../shared/key-storage.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { vault } from './device-people.ts'
import { takeLinkedCode } from './pairing.ts'
import { Session } from './session.ts'

interface OpenSession {
  readonly session: Session
  /** Only in memory, so that a PIN can be set later. */
  readonly apiKey: string
  /** The person on this device whose PIN unlocked the session. */
  readonly personId: string | undefined
}

interface NoSession {
  readonly session: undefined
  /** Why the last session ended by itself. */
  readonly reason?: string | undefined
  /** The person to ask for the PIN first. */
  readonly personId?: string | undefined
}

export type SignedIn = OpenSession | NoSession

/** The characters that a header can carry. */
export const KEY_FORM = /^[\x21-\x7e]+$/

type TabMessage = { readonly type: 'locked' | 'signed out' }

const KEY_REFUSED =
  'You were signed out: your access was paused or has ended. Ask the person who manages People in your shop.'

const state = new Observable<SignedIn>({ session: undefined })
/** Tells the other tabs of this page; a key is never sent. */
const tabs = new BroadcastChannel('petstore.tabs')

export const signedIn: Readable<SignedIn> = state

/** Continues with the key that is stored, unless the address is a link with a sign-in code. */
export function resumeSession(): void {
  tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => onTabMessage(data))
  vault.people.subscribe(leaveIfRemoved)
  addEventListener('hashchange', () => {
    if (takeLinkedCode()) leave({})
  })
  if (!takeLinkedCode()) openStoredKey()
}

/** Returns false if no key is stored. */
export function openStoredKey(): boolean {
  const key = storedKey()
  if (key !== undefined && KEY_FORM.test(key)) {
    openSession(key, undefined)
    return true
  }
  if (key !== undefined) forgetKey()
  return false
}

function onTabMessage(message: TabMessage): void {
  const { session, personId } = state.get()
  switch (message.type) {
    case 'locked':
      if (session !== undefined && personId !== undefined) leave({})
      return
    case 'signed out':
      forgetKey()
      leave({})
  }
}

function post(message: TabMessage): void {
  tabs.postMessage(message)
}

/** Resolves if the service accepts the key, and throws otherwise. `onSession` gets the session that tries it. */
export async function signIn(
  apiKey: string,
  remember: boolean,
  onSession: (session: Session) => void,
): Promise<void> {
  // Until the key is accepted, the form reports a refusal; later a refusal ends the session.
  let isAccepted = false
  const session = new Session(apiKey, () => {
    if (isAccepted) onRefusedKey(session)
  })
  onSession(session)
  try {
    await session.checkKey()
  } catch (error) {
    session.end()
    throw error
  }
  isAccepted = true
  keepKey(apiKey, remember)
  show({ session, apiKey, personId: undefined })
}

/** Opens a session without asking the service first, so that a device also unlocks while the service is down. */
export function openSession(apiKey: string, personId: string | undefined): void {
  const session: Session = new Session(apiKey, () => onRefusedKey(session))
  show({ session, apiKey, personId })
  // If it fails for another reason, the stock reports it: its requests fail as well.
  void session.findOwner()
}

/** Encrypts the key of the open session with a PIN. From now on this device stores it in no other form. */
export async function setPin(pin: string): Promise<void> {
  const open = state.get()
  const owner = open.session?.owner.get()
  if (open.session === undefined || owner === undefined)
    throw new Error('only a person who is signed in can set a PIN')
  await vault.add({ id: owner.id, name: owner.name }, open.apiKey, pin)
  forgetKey()
  if (state.get() === open) state.set({ ...open, personId: owner.id })
}

/** Ends the session in all tabs. Only a session with a PIN can be locked: any other key would be lost. */
export function lock(reason?: string): void {
  leave({ reason, personId: state.get().personId })
  post({ type: 'locked' })
}

/** Locks, and shows all people of this device. */
export function switchPerson(): void {
  lock()
  leave({})
}

/** Removes the key from this device, and ends the session in all tabs. */
export async function signOut(): Promise<void> {
  const { personId } = state.get()
  forgetKey()
  leave({})
  post({ type: 'signed out' })
  if (personId !== undefined) await vault.remove(personId)
}

function show(open: OpenSession): void {
  state.get().session?.end()
  state.set(open)
  open.session.start()
  open.session.owner.subscribe(() => void renamePerson(open))
}

/** The name may have changed in People. */
async function renamePerson({ session, personId }: OpenSession): Promise<void> {
  const name = session.owner.get()?.name
  const person = vault.people.get().find(({ id }) => id === personId)
  if (name !== undefined && person !== undefined && person.name !== name)
    await vault.rename({ id: person.id, name })
}

/** Another tab may remove the person from this device. */
function leaveIfRemoved(): void {
  const { session, personId } = state.get()
  const isKnown = vault.people.get().some(({ id }) => id === personId)
  if (session !== undefined && personId !== undefined && !isKnown) leave({})
}

function onRefusedKey(session: Session): void {
  if (state.get().session !== session) return
  forgetKey()
  leave({ reason: KEY_REFUSED })
}

function leave(next: Omit<NoSession, 'session'>): void {
  const { session } = state.get()
  state.set({ ...next, session: undefined })
  session?.end()
}

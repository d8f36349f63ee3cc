import { forgetKey, keepKey, onForgottenElsewhere, storedKey } from '../../shared/key-storage.ts'
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
  readonly reason: string | undefined
  /** The person to ask for the PIN first. */
  readonly personId: string | undefined
}

export type SignedIn = OpenSession | NoSession

/** The characters that a header can contain. */
export const KEY_FORM = /^[\x21-\x7e]+$/

const KEY_REFUSED =
  'You were signed out: your access was paused or has ended. Ask the person who manages People in your shop.'

const state = new Observable<SignedIn>({ session: undefined, reason: undefined, personId: undefined })

export const signedIn: Readable<SignedIn> = state

/** Locking one tab locks all of them. */
const lockChannel = new BroadcastChannel('petstore.lock')
lockChannel.onmessage = () => {
  if (state.get().personId !== undefined) leave({ reason: undefined })
}

/** Continues with the key that is stored, if any, unless the address is a link with a sign-in code. */
export function resumeSession(): void {
  addEventListener('hashchange', () => {
    if (takeLinkedCode()) leave({ reason: undefined })
  })
  if (!takeLinkedCode()) openStoredKey()
}

export function openStoredKey(): void {
  const key = storedKey()
  if (key === undefined) return
  if (KEY_FORM.test(key)) openSession(key, undefined)
  else forgetKey()
}

/**
 * Resolves when the service has accepted the key, and rejects if it does not. `onSession` gets the session that tries, so
 * that the form can show its state.
 */
export async function signIn(
  apiKey: string,
  remember: boolean,
  onSession: (session: Session) => void,
): Promise<void> {
  // While the key is checked, the form reports a refusal; afterwards it ends the session.
  let isAccepted = false
  const session = new Session(apiKey, () => {
    if (isAccepted) endRefused(session)
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
  const session: Session = new Session(apiKey, () => endRefused(session))
  show({ session, apiKey, personId })
  // If this fails, the stock reports it: the same request fails there.
  void session.findOwner()
}

/** Encrypts the key of the open session with a PIN. From now on this device stores it in no other form. */
export async function setPin(pin: string): Promise<void> {
  const open = state.get()
  const owner = open.session?.owner.get()
  if (open.session === undefined || owner === undefined)
    throw new Error('a PIN needs somebody who is signed in')
  await vault.add({ id: owner.id, name: owner.name }, open.apiKey, pin)
  forgetKey()
  if (state.get() === open) state.set({ ...open, personId: owner.id })
}

/** Ends the session in all tabs. Only a session with a PIN can be locked: any other key would be lost. */
export function lock(reason?: string): void {
  const { personId } = state.get()
  leave({ reason, personId })
  lockChannel.postMessage('lock')
}

/** Like `lock`, but shows all people of this device. */
export function switchPerson(): void {
  lock()
  leave({ reason: undefined })
}

/** Removes the key from this device, and everything that the page holds. */
export async function signOut(): Promise<void> {
  const { personId } = state.get()
  forgetKey()
  leave({ reason: undefined })
  if (personId !== undefined) await vault.remove(personId)
}

function show(open: OpenSession): void {
  state.get().session?.end()
  state.set(open)
  open.session.start()
  open.session.owner.subscribe(() => void renamePerson(open))
}

/** People may have renamed the person. */
async function renamePerson({ session, personId }: OpenSession): Promise<void> {
  const name = session.owner.get()?.name
  const person = vault.people.get().find(({ id }) => id === personId)
  if (name !== undefined && person !== undefined && person.name !== name)
    await vault.rename({ id: person.id, name })
}

function endRefused(session: Session): void {
  if (state.get().session !== session) return
  forgetKey()
  leave({ reason: KEY_REFUSED })
}

function leave({
  reason,
  personId,
}: {
  readonly reason: string | undefined
  readonly personId?: string | undefined
}): void {
  const { session } = state.get()
  state.set({ session: undefined, reason, personId })
  session?.end()
}

onForgottenElsewhere(() => {
  if (storedKey() === undefined && state.get().personId === undefined) leave({ reason: undefined })
})

// Somebody was removed from this device in another tab.
vault.people.subscribe(() => {
  const { personId } = state.get()
  const isHere = vault.people.get().some(({ id }) => id === personId)
  if (personId !== undefined && !isHere) leave({ reason: undefined })
})

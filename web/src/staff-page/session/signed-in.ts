import { forgetKey, keepKey, storedKey } from '../../shared/key-storage.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { Session } from './session.ts'

export type SignedIn =
  | { readonly session: Session }
  /** `reason` says why a session ended by itself. */
  | { readonly session: undefined; readonly reason: string | undefined }

/** The characters that a header can carry. */
export const KEY_FORM = /^[\x21-\x7e]+$/

type TabMessage =
  /** A new tab asks for the key of the tabs that are signed in. */
  | { readonly type: 'key wanted' }
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'signed out' }

const KEY_REFUSED = 'You were signed out: the key is not valid any more. Sign in with another one.'

const state = new Observable<SignedIn>({ session: undefined, reason: undefined })
/** Reaches the other tabs of this page only, and keeps nothing on disk. */
const tabs = new BroadcastChannel('petstore.tabs')
let wantsKey = false

export const signedIn: Readable<SignedIn> = state

/** Continues with the key that is stored, or with the key of another tab. */
export function resumeSession(): void {
  tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => onTabMessage(data))
  const key = storedKey()
  if (key !== undefined && KEY_FORM.test(key)) {
    begin(key)
    return
  }
  if (key !== undefined) forgetKey()
  wantsKey = true
  post({ type: 'key wanted' })
}

function onTabMessage(message: TabMessage): void {
  switch (message.type) {
    case 'key wanted': {
      const key = storedKey()
      if (state.get().session !== undefined && key !== undefined) post({ type: 'key', key })
      return
    }
    case 'key':
      if (!wantsKey) return
      keepKey(message.key, false)
      begin(message.key)
      return
    case 'signed out':
      forgetKey()
      leave(undefined)
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
  show(session)
}

/** Forgets the key and all data of the page, in all tabs. */
export function signOut(): void {
  forgetKey()
  leave(undefined)
  post({ type: 'signed out' })
}

function begin(apiKey: string): void {
  const session: Session = new Session(apiKey, () => onRefusedKey(session))
  show(session)
  // If it fails for another reason, the stock reports it: its requests fail as well.
  void session.findOwner()
}

function show(session: Session): void {
  wantsKey = false
  state.get().session?.end()
  state.set({ session })
  session.start()
}

function onRefusedKey(session: Session): void {
  if (state.get().session !== session) return
  forgetKey()
  leave(KEY_REFUSED)
}

function leave(reason: string | undefined): void {
  const { session } = state.get()
  state.set({ session: undefined, reason })
  session?.end()
}

import { forgetKey, keepKey, onForgottenElsewhere, storedKey } from '../../shared/key-storage.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { Session } from './session.ts'

export type SignedIn =
  | { readonly session: Session }
  /** `reason` is why a session ended by itself. */
  | { readonly session: undefined; readonly reason: string | undefined }

/** What a header can carry. */
export const KEY_FORM = /^[\x21-\x7e]+$/

const KEY_REFUSED = 'You were signed out: the key is not valid any more. Sign in with another one.'

const state = new Observable<SignedIn>({ session: undefined, reason: undefined })

export const signedIn: Readable<SignedIn> = state

/** Goes on with the key that is stored, if any. */
export function resumeSession(): void {
  const key = storedKey()
  if (key === undefined) return
  if (!KEY_FORM.test(key)) {
    forgetKey()
    return
  }
  const session = begin(key)
  // Where it fails for another reason, the stock shows that: the same request would fail there as well.
  void session.findOwner()
}

/**
 * Resolves when the key was taken; throws where it was not. `onSession` is told of the session that tries, so that
 * the form can show what it is waiting for.
 */
export async function signIn(
  apiKey: string,
  remember: boolean,
  onSession: (session: Session) => void,
): Promise<void> {
  // The form says it when the key is refused now; once it was taken, that ends the session.
  let wasTaken = false
  const session = new Session(apiKey, () => {
    if (wasTaken) refused(session)
  })
  onSession(session)
  try {
    await session.checkKey()
  } catch (error) {
    session.end()
    throw error
  }
  wasTaken = true
  keepKey(apiKey, remember)
  show(session)
}

/** Forgets the key wherever it is kept, and all that the page holds. */
export function signOut(): void {
  forgetKey()
  leave(undefined)
}

function begin(apiKey: string): Session {
  const session: Session = new Session(apiKey, () => refused(session))
  show(session)
  return session
}

function show(session: Session): void {
  state.get().session?.end()
  state.set({ session })
  session.start()
}

function refused(session: Session): void {
  if (state.get().session !== session) return
  forgetKey()
  leave(KEY_REFUSED)
}

function leave(reason: string | undefined): void {
  const { session } = state.get()
  state.set({ session: undefined, reason })
  session?.end()
}

onForgottenElsewhere(() => {
  if (storedKey() === undefined) leave(undefined)
})

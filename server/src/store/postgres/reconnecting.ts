interface Attempts<T> {
  readonly attempt: () => Promise<T>
  readonly onFailure: (error: unknown) => void
  /** For what succeeds after another has. */
  readonly discard: (late: T) => void
  readonly isOver: () => boolean
}

/** Between an attempt that failed and the next. */
const AGAIN_AFTER_MS = 100
/** After so long an attempt is not waited for: what it was sent to may never answer, though another would by now. */
const HANGS_AFTER_MS = 400

/** What the first attempt that succeeds gives; `undefined` where it is over before. The pauses do not grow. */
export async function firstToSucceed<T>(attempts: Attempts<T>): Promise<T | undefined> {
  const { attempt, onFailure, discard, isOver } = attempts
  const found = Promise.withResolvers<void>()
  let first: { readonly result: T } | undefined
  const succeeded = (result: T) => {
    if (first !== undefined || isOver()) return discard(result)
    first = { result }
    found.resolve()
  }
  // What fails after another has succeeded says nothing of what is in use by then.
  const failed = (error: unknown) => {
    if (first === undefined) onFailure(error)
  }
  while (first === undefined && !isOver()) {
    const answered = attempt().then(succeeded, failed)
    await Promise.race([answered, found.promise, Bun.sleep(HANGS_AFTER_MS)])
    if (first === undefined) await Promise.race([found.promise, Bun.sleep(AGAIN_AFTER_MS)])
  }
  return first?.result
}

/** The client's source of time and randomness; tests pass their own. */
export interface Time {
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Rejects with the signal's reason if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A number from 0 up to 1, for jitter. */
  readonly random: () => number
}

export const SYSTEM_TIME: Time = { clock: Date.now, sleep, random: Math.random }

/** The longest delay that setTimeout accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** May wake up early if the delay is longer than a timer can be; callers check the clock again. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS))
  return unlessAborted(promise, signal).finally(() => clearTimeout(timer))
}

/** Rejects with the signal's reason if the signal is aborted before the promise resolves. */
export async function unlessAborted(promise: Promise<void>, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise: aborted, resolve } = Promise.withResolvers<unknown>()
  signal?.addEventListener('abort', resolve, { once: true })
  try {
    await Promise.race([promise, aborted])
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', resolve)
  }
}

/** Exponential back-off with full jitter: a random delay up to a ceiling that doubles with each attempt. */
export function backOff(attempt: number, random: () => number, first: number, most: number): number {
  return random() * Math.min(most, first * 2 ** attempt)
}

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
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(
      () => {
        removeListener()
        resolve()
      },
      Math.min(ms, MAX_TIMER_MS),
    )
    const removeListener = onAbort(signal, () => {
      clearTimeout(timer)
      reject(signal?.reason)
    })
  })
}

/** Exponential back-off with full jitter: a random delay up to a ceiling that doubles with each attempt. */
export function backOff(attempt: number, random: () => number, first: number, most: number): number {
  return random() * Math.min(most, first * 2 ** attempt)
}

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls the listener when the signal is aborted, unless the returned function is called before. Registers one event
 * listener per signal: thousands of calls may share a signal, and each event listener makes the next slower to add.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {}
  const listeners = listenersOf.get(signal) ?? new Set()
  if (!listenersOf.has(signal)) {
    listenersOf.set(signal, listeners)
    const callAll = () => {
      for (const each of [...listeners]) each()
    }
    signal.addEventListener('abort', callAll, { once: true })
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Rejects with the signal's reason if the signal is aborted before the promise settles. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  let removeListener = () => {}
  const aborted = new Promise<never>((_, reject) => {
    removeListener = onAbort(signal, () => reject(signal.reason))
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    removeListener()
  }
}

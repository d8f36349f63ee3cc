/** The client's view of time; tests put in their own. */
export interface Time {
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Rejects with the signal's reason when it is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 up to 1, for the jitter. */
  readonly random: () => number
}

/** The longest that setTimeout can wait; whoever waits for longer asks again. */
const LONGEST_TIMER = 2 ** 31 - 1

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', end)
        resolve()
      },
      Math.min(ms, LONGEST_TIMER),
    )
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Exponential back-off with full jitter: anything from 0 up to a ceiling that doubles with each attempt. */
export function backOff(attempt: number, random: () => number, first: number, most: number): number {
  return random() * Math.min(most, first * 2 ** attempt)
}

/** Gives up on a promise when the signal is aborted; what the promise does later is nobody's business. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return promise
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

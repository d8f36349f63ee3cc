/** A value that may be here already. What is answered out of memory need not wait for a turn of the event loop. */
export type Eventually<T> = T | Promise<T>

/** Goes on with a value: at once if it is here. A list from memory then waits for nothing. */
export function whenHere<T, R>(value: Eventually<T>, next: (value: T) => Eventually<R>): Eventually<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

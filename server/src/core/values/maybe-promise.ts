/** A value that may be here already. What is answered out of memory need not wait for a turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>

export function isPending<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/** Goes on with a value, at once if it is here; with a failure by `onFailure`, where that is given. */
export function andThen<T, R>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
  onFailure?: (error: unknown) => MaybePromise<R>,
): MaybePromise<R> {
  return isPending(value) ? value.then(next, onFailure) : next(value)
}

/** Returned if a value may be in memory. Without a promise, the caller continues in the same turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>

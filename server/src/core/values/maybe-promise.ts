/** A value that is often available at once. Then the caller continues in the same turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>

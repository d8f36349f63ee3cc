/**
 * A value that is often available at once, such as a cached value. If it is not a promise, the caller continues in the
 * same turn of the event loop.
 */
export type MaybePromise<T> = T | Promise<T>

/** A value that is either available now or promised. Values from memory need not wait for a turn of the event loop. */
export type MaybePromise<T> = T | Promise<T>

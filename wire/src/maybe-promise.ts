/** A value that may be here already. */
export type MaybePromise<T> = T | Promise<T>

import { ServiceError } from '../../core/values/errors.ts'
import type { WalFile } from './wal-file.ts'

/** A flush on the event loop may keep others waiting for about this long. */
const SHORT_FLUSH_MS = 1
/** Of the latest flush in the average. */
const WEIGHT_OF_LATEST = 0.1

/** Commits that one flush covers. */
interface Group {
  /** Where the log of changes ended before the first of these commits. */
  readonly logStart: bigint
  readonly flushed: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

export interface FlushQueueParts {
  readonly file: Pick<WalFile, 'flush' | 'flushNow'>
  /** Called after each flush, before anybody who waits for it continues. */
  readonly onFlushed: () => void
  /** Called once. Nothing is flushed after that. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Flushes commits that have been written. One flush is under way at a time; commits that are written meanwhile share
 * the next one. Nobody may learn of a commit before it is flushed.
 */
export class FlushQueue {
  readonly #parts: FlushQueueParts
  #flushing: Group | undefined
  #waiting: Group | undefined
  #failure: ServiceError | undefined
  #averageMs = SHORT_FLUSH_MS

  constructor(parts: FlushQueueParts) {
    this.#parts = parts
  }

  /**
   * To be called right after each commit. `logStart` is where the log of changes ended before it. If nobody else is
   * waiting, a flush that is known to be short is not worth a round trip to another thread.
   */
  add(logStart: bigint, isAlone: boolean): void {
    if (isAlone && this.#flushing === undefined && this.#averageMs < SHORT_FLUSH_MS) {
      this.#flushNow()
      return
    }
    this.#waiting ??= newGroup(logStart)
    if (this.#flushing === undefined) void this.#flushWaiting()
  }

  /** Resolves when every commit so far is flushed; undefined if it is already. Rejects after a failed flush. */
  flushed(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return (this.#waiting ?? this.#flushing)?.flushed
  }

  /** Where the log of changes ends for those who may see flushed commits only; undefined if all are flushed. */
  get logStart(): bigint | undefined {
    return (this.#flushing ?? this.#waiting)?.logStart
  }

  /** A failed flush leaves open what is on the disk. Only a new start, which reads it again, can find out. */
  requireUsable(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #flushNow(): void {
    const began = performance.now()
    try {
      this.#parts.file.flushNow()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#measure(began)
    this.#parts.onFlushed()
  }

  #measure(began: number): void {
    this.#averageMs += (performance.now() - began - this.#averageMs) * WEIGHT_OF_LATEST
  }

  async #flushWaiting(): Promise<void> {
    for (;;) {
      const group = this.#waiting
      if (group === undefined || this.#failure !== undefined) return
      this.#waiting = undefined
      this.#flushing = group
      const began = performance.now()
      try {
        await this.#parts.file.flush()
      } catch (error) {
        this.#fail(error)
        return
      }
      this.#measure(began)
      this.#flushing = undefined
      this.#parts.onFlushed()
      group.resolve()
    }
  }

  #fail(error: unknown): void {
    this.#failure = new ServiceError(
      'service_unavailable',
      'the disk failed while changes were being saved; a change that was under way may or may not have been made: read the current state before trying again',
      { cause: error },
    )
    const groups = [this.#flushing, this.#waiting]
    this.#flushing = undefined
    this.#waiting = undefined
    for (const group of groups) group?.reject(this.#failure)
    this.#parts.onFailed(error)
  }
}

function newGroup(logStart: bigint): Group {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // A commit that nobody waits for, such as one whose caller has gone, must not end the process.
  promise.catch(() => {})
  return { logStart, flushed: promise, resolve, reject }
}

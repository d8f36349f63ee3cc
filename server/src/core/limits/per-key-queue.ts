import { ServiceError } from '../values/errors.ts'

/** Equals the requests per minute of the Free plan. The staff page sends far fewer. */
const MAX_WAITING = 60

/** Runs the tasks of a key one after the other, so that each key delays other keys by at most one task. */
export class PerKeyQueue {
  readonly #queues = new Map<string, { last: Promise<unknown>; size: number }>()

  async run<T>(keyId: string, task: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(keyId) ?? { last: Promise.resolve(), size: 0 }
    if (queue.size > MAX_WAITING) {
      throw new ServiceError(
        'service_unavailable',
        `this key already has ${MAX_WAITING} searches or history requests waiting; wait for one of them to finish`,
      )
    }
    this.#queues.set(keyId, queue)
    queue.size++
    const result = queue.last.then(task)
    queue.last = result.catch(() => {})
    try {
      return await result
    } finally {
      queue.size--
      if (queue.size === 0) this.#queues.delete(keyId)
    }
  }
}

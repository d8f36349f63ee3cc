import { SECOND } from '../values/clock.ts'
import { ServiceError } from '../values/errors.ts'

/** A request that has not had its turn by then is refused. */
const MAX_QUEUE_MS = 10 * SECOND

/** Limits how many commits wait for locked pets at once, so that sessions are left for everybody else. */
export class LockWaits {
  readonly #max: number
  readonly #queue: (() => void)[] = []
  #count = 0

  constructor(max: number) {
    this.#max = max
  }

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#count >= this.#max) await this.#turn()
    else this.#count++
    try {
      await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#count--
      else next()
    }
  }

  /** Resolves when another wait ends and hands its place over. */
  async #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push(resolve)
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(resolve), 1)
      reject(
        new ServiceError('service_unavailable', 'another process keeps the pet locked; try again shortly'),
      )
    }, MAX_QUEUE_MS)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }
}

import type { HttpResponse } from '@petstore/wire'
import type { Requester } from '../core/stock/group-commit.ts'
import { SECOND } from '../core/values/clock.ts'
import { outcomeUnknown, ServiceError } from '../core/values/errors.ts'

/**
 * After this time nothing of a request happens any more. It is longer than the statement timeout of PostgreSQL, so that a locked
 * row is reported as the reason, and shorter than the time that callers and proxies should wait.
 */
export const DEADLINE_MS = 12 * SECOND
const MAX_LATENESS_MS = 500

/** Ends the wait of one request. */
export interface Responder {
  resolve(response: HttpResponse): void
  reject(error: unknown): void
}

interface PendingRequest {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number
  /** Set while the request waits. */
  responder: Responder | undefined
}

interface Waiting<Request> {
  readonly request: Request
  /** Its place in the list of all that wait. */
  index: number
}

/** Replies to requests whose deadline has passed. */
export class Deadlines<Request extends PendingRequest> {
  readonly #expire: (request: Request) => HttpResponse
  /** In any order. With a `Set`, an update took an eighth longer. */
  readonly #waiting: Waiting<Request>[] = []
  #timer: ReturnType<typeof setInterval> | undefined

  /** `expire` replies to a request, and its later steps are skipped. */
  constructor(expire: (request: Request) => HttpResponse) {
    this.#expire = expire
  }

  /** Waits for a call of the request's responder, and replies with `expire` if there is none before the deadline. */
  wait(request: Request): Promise<HttpResponse> {
    this.#timer ??= setInterval(() => this.#expireLateRequests(), MAX_LATENESS_MS)
    const waiting = { request, index: this.#waiting.length }
    this.#waiting.push(waiting)
    return new Promise((resolve, reject) => {
      request.responder = {
        resolve: (response) => {
          this.#remove(waiting)
          resolve(response)
        },
        reject: (error) => {
          this.#remove(waiting)
          reject(error)
        },
      }
    })
  }

  /** Moves the last one into its place. */
  #remove(waiting: Waiting<Request>): void {
    waiting.request.responder = undefined
    const last = this.#waiting.pop()
    if (last === undefined || last === waiting) return
    last.index = waiting.index
    this.#waiting[last.index] = last
  }

  #expireLateRequests(): void {
    const now = performance.now()
    const late = this.#waiting.filter(({ request }) => request.deadline <= now)
    for (const { request } of late) request.responder?.resolve(this.#expire(request))
    if (this.#waiting.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

export function deadlineError({ isBeingCommitted }: Pick<Requester, 'isBeingCommitted'>): ServiceError {
  const reason = 'the service is overloaded, or another process keeps the data locked'
  return isBeingCommitted
    ? outcomeUnknown(reason)
    : new ServiceError('service_unavailable', `${reason}; nothing was changed; try again shortly`)
}

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

interface PendingRequest {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number
}

/** Replies to requests whose deadline has passed. */
export class Deadlines<Request extends PendingRequest> {
  readonly #expire: (request: Request) => HttpResponse
  readonly #pending = new Map<Request, (response: HttpResponse) => void>()
  #timer: ReturnType<typeof setInterval> | undefined

  /** `expire` replies to a request, and its later steps are skipped. */
  constructor(expire: (request: Request) => HttpResponse) {
    this.#expire = expire
  }

  /** Resolves to the response, or to the reply of `expire` if the response comes after the deadline. */
  enforce(request: Request, response: Promise<HttpResponse>): Promise<HttpResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    this.#pending.set(request, resolve)
    this.#timer ??= setInterval(() => this.#expireLateRequests(), MAX_LATENESS_MS)
    response.then(resolve, reject).finally(() => this.#pending.delete(request))
    return promise
  }

  #expireLateRequests(): void {
    const now = performance.now()
    for (const [request, resolve] of this.#pending) {
      if (request.deadline > now) continue
      this.#pending.delete(request)
      resolve(this.#expire(request))
    }
    if (this.#pending.size > 0) return
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

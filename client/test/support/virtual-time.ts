import type { TestService } from '../../../server/test/support/test-service.ts'
import type { TestOptions } from './live-service.ts'

type LoggedEvent =
  | { readonly kind: 'sent'; readonly at: number }
  | { readonly kind: 'answered'; readonly at: number; readonly status: number; readonly retryAfter: number }

/**
 * One clock for the service and its clients. When all of them sleep, it moves to the moment at which the first one
 * wakes up.
 */
export class VirtualTime {
  readonly log: LoggedEvent[] = []
  readonly #service: TestService
  #underWay = 0
  #sleepers: { readonly at: number; readonly wake: () => void }[] = []

  constructor(service: TestService) {
    this.#service = service
  }

  /** The options of a client that uses this clock. */
  get options(): Required<Pick<TestOptions, 'clock' | 'sleep' | 'fetch'>> {
    return {
      clock: () => this.#service.now,
      sleep: (ms, signal) => this.#sleep(ms, signal),
      fetch: (url, init) => this.#fetch(url, init),
    }
  }

  statuses(): number[] {
    return this.log.flatMap((event) => (event.kind === 'answered' ? [event.status] : []))
  }

  /** The requests that were sent before an earlier Retry-After had passed. */
  sentTooEarly(): LoggedEvent[] {
    let waitUntil = 0
    return this.log.filter((event) => {
      if (event.kind === 'sent') return event.at < waitUntil
      if (event.retryAfter > 0) waitUntil = Math.max(waitUntil, event.at + event.retryAfter * 1000)
      return false
    })
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const sleeper = { at: this.#service.now + ms, wake: resolve }
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal.reason)
      })
      this.#sleepers.push(sleeper)
      this.#moveWhenIdle()
    })
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    this.#underWay++
    this.log.push({ kind: 'sent', at: this.#service.now })
    try {
      const response = await fetch(url, init)
      const body = response.status === 304 ? null : await response.text()
      const { status, headers } = response
      headers.set('Date', new Date(this.#service.now).toUTCString())
      const retryAfter = Number(headers.get('Retry-After') ?? 0)
      this.log.push({ kind: 'answered', at: this.#service.now, status, retryAfter })
      return new Response(body, { status, headers })
    } finally {
      this.#underWay--
      this.#moveWhenIdle()
    }
  }

  #moveWhenIdle(): void {
    setTimeout(() => {
      if (this.#underWay > 0 || this.#sleepers.length === 0) return
      const first = this.#sleepers.reduce((one, other) => (other.at < one.at ? other : one))
      this.#service.now = Math.max(this.#service.now, first.at)
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== first)
      first.wake()
      this.#moveWhenIdle()
    }, 2)
  }
}

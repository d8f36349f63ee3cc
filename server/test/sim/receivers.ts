import type {
  CheckedUrl,
  Message,
  SendPermit,
  SendResult,
  WebhookSender,
} from '../../src/core/webhooks/webhook-store.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface Delivery {
  readonly url: string
  readonly message: Message
}

const LATENCY_MS = [0.1, 2] as const
const TIMEOUT_MS = 10_000
/** How often a receiver has each of these problems. */
const PROBLEMS = { none: 90, error: 4, busy: 2, 'lost answer': 4, silence: 0.3 }

/** Sends webhook messages to receivers that sometimes fail. */
export class Receivers implements WebhookSender {
  /** What the receivers have accepted, in the order of arrival. */
  readonly accepted: Delivery[] = []
  areDown = false
  hasProblems = true
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #onAccepted: (delivery: Delivery) => void

  constructor(time: VirtualTime, random: Random, onAccepted: (delivery: Delivery) => void) {
    this.#time = time
    this.#random = random
    this.#onAccepted = onAccepted
  }

  async checkUrl(url: string): Promise<CheckedUrl> {
    return { url }
  }

  async send(
    url: string,
    _secrets: readonly string[],
    message: Message,
    permit: SendPermit,
  ): Promise<SendResult | undefined> {
    if (!(await permit.isValid())) return undefined
    const { now: startedAt, processNumber } = this.#time
    const { promise, resolve } = Promise.withResolvers<Omit<SendResult, 'durationMs'> | undefined>()
    permit.signal?.addEventListener('abort', () => resolve(undefined))
    this.#time.afterForProcess(TIMEOUT_MS, () =>
      resolve({ response: '', error: 'the receiver did not answer' }),
    )
    // A message that was sent arrives, even if the process ends.
    this.#time.after(this.#random.between(...LATENCY_MS), () => {
      const result = this.#receive({ url, message })
      if (result === undefined || processNumber !== this.#time.processNumber) return
      this.#time.afterForProcess(this.#random.between(...LATENCY_MS), () => resolve(result))
    })
    const result = await promise
    return result && { ...result, durationMs: this.#time.now - startedAt }
  }

  /** Returns the response, if there is one. */
  #receive(delivery: Delivery): Omit<SendResult, 'durationMs'> | undefined {
    if (this.areDown) return { response: '', error: 'the receiver could not be reached' }
    const problem = this.hasProblems ? this.#random.pickWeighted(PROBLEMS) : 'none'
    switch (problem) {
      case 'error':
        return { status: 500, response: '', error: 'the receiver answered 500' }
      case 'busy':
        return { status: 429, response: '', error: 'the receiver answered 429', retryAfterMs: 1_000 }
      case 'silence':
        return undefined
      case 'none':
      case 'lost answer':
        this.accepted.push(delivery)
        this.#onAccepted(delivery)
        return problem === 'none'
          ? { status: 204, response: '' }
          : { response: '', error: 'the connection was lost' }
    }
  }
}

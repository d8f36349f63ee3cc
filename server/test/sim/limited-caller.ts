import type { Network, Outcome } from './network.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** So few that the key is refused, and then banned, in every simulation. */
export const FEW_REQUESTS = { perMinute: 5, perDay: 1_000_000 }
const LONGEST_BAN_SECONDS = 3_600
const LONGEST_PAUSE_MS = 40
/** Windows begin and end at whole seconds, and a clock that is set back moves them by whole seconds. */
const SLACK_SECONDS = 2

interface LimitedCallerParts {
  readonly time: VirtualTime
  readonly random: Random
  readonly network: Network
  /** The secret of a key with the limits FEW_REQUESTS. */
  readonly secret: string
}

interface LimitAnswer {
  /** By the clock that the service sees, which may be set while it answers. */
  readonly earliest: number
  readonly latest: number
  /** The time that has passed for the service if it has noticed every step of its clock. */
  readonly elapsed: number
  readonly processNumber: number
  /** `undefined` if the request was admitted. */
  readonly refusal: string | undefined
  readonly remaining: number
  /** In seconds since 1970. */
  readonly reset: number
}

/** Sends one request after the other with a key that has few, and compares each answer with the previous one. */
export class LimitedCaller {
  readonly violations: string[] = []
  readonly counts = { admitted: 0, refused: 0, bans: 0 }
  readonly #parts: LimitedCallerParts
  #previous: LimitAnswer | undefined
  /** Requests since the previous answer that were perhaps counted. */
  #unanswered = 0

  constructor(parts: LimitedCallerParts) {
    this.#parts = parts
  }

  async run(): Promise<never> {
    const { time, random, network, secret } = this.#parts
    for (;;) {
      const sentAt = time.wallClock()
      const { processNumber } = time
      const headers = { Authorization: `Bearer ${secret}` }
      const outcome = await network.send({ method: 'GET', path: '/inventory/1', headers })
      if (outcome.type === 'answered') {
        const { limit, ...answer } = limitOf(outcome)
        const times = [sentAt, time.wallClock()]
        const [earliest, latest] = [Math.min(...times), Math.max(...times)]
        // A request about which the service cannot decide has the limit of its address.
        if (limit === FEW_REQUESTS.perMinute)
          this.#compare({ ...answer, earliest, latest, processNumber, elapsed: time.elapsed })
      } else this.#unanswered++
      await time.sleep(random.between(0, LONGEST_PAUSE_MS))
    }
  }

  #compare(answer: LimitAnswer): void {
    const previous = this.#previous
    this.#previous = answer
    const lost = this.#unanswered
    this.#unanswered = 0
    this.#count(answer, previous)
    if (previous === undefined) return
    if (previous.refusal !== undefined) this.#checkWait(previous, answer)
    // A crash may lose the counts of the last moment.
    if (previous.processNumber !== answer.processNumber) return
    const passed = (answer.elapsed - previous.elapsed) / 1_000 + SLACK_SECONDS
    if (answer.refusal !== undefined) return
    const mayBeNewWindow = previous.latest / 1_000 + passed >= previous.reset
    if (previous.refusal !== undefined) {
      if (!mayBeNewWindow) this.#complain('was admitted before the announced time', previous, answer)
      return
    }
    const counted = previous.remaining - answer.remaining
    if (!mayBeNewWindow && (counted < 1 || counted > 1 + lost)) {
      this.#complain(
        `was counted ${counted} times, with ${lost} requests without an answer`,
        previous,
        answer,
      )
    }
  }

  /** Nobody waits longer than was announced, not even if the clock is set back. */
  #checkWait(previous: LimitAnswer, answer: LimitAnswer): void {
    if (answer.refusal === undefined) return
    if (answer.earliest >= previous.reset * 1_000)
      this.#complain('was refused after the announced time', previous, answer)
    const isSame = answer.refusal === previous.refusal
    if (
      isSame &&
      answer.reset - answer.latest / 1_000 > previous.reset - previous.earliest / 1_000 + SLACK_SECONDS
    ) {
      this.#complain('has to wait longer than was announced', previous, answer)
    }
  }

  #count(answer: LimitAnswer, previous: LimitAnswer | undefined): void {
    if (answer.refusal === undefined) this.counts.admitted++
    else this.counts.refused++
    if (answer.refusal !== 'key_banned' || previous?.refusal === 'key_banned') return
    this.counts.bans++
    if (answer.reset - answer.latest / 1_000 > LONGEST_BAN_SECONDS)
      this.#complain('is banned for too long', previous, answer)
  }

  #complain(problem: string, previous: LimitAnswer | undefined, answer: LimitAnswer): void {
    this.violations.push(`a request ${problem}: ${JSON.stringify(previous)}, then ${JSON.stringify(answer)}`)
  }
}

function limitOf({ status, head, body }: Extract<Outcome, { type: 'answered' }>) {
  const header = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(head)?.[1])
  return {
    limit: header('X-RateLimit-Limit'),
    refusal: status === 429 ? String(JSON.parse(body).code) : undefined,
    remaining: header('X-RateLimit-Remaining'),
    reset: header('X-RateLimit-Reset'),
  }
}

import { describe, expect, test } from 'bun:test'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { DAY, HOUR, SECOND } from '../../src/core/values/clock.ts'
import { DeliveryStarts, SharedLog } from '../../src/core/webhooks/shared-delivery.ts'
import type { Webhook, WebhookProgress } from '../../src/core/webhooks/webhook.ts'
import { WebhookRunner } from '../../src/core/webhooks/webhook-runner.ts'
import type { DeliveryAttempt } from '../../src/core/webhooks/webhook-store.ts'

interface Sent {
  readonly petId: bigint
  /** The position of the event in the log. */
  readonly position: number
  readonly at: number
  isRefused?: boolean
}

/** The answer of a receiver that refuses. */
interface Refusal {
  readonly retryAfterMs?: number
}

/** A log in memory, a receiver that refuses what a test says, and the runner between them. */
class Post {
  now = Date.UTC(2026, 10, 19)
  readonly sent: Sent[] = []
  readonly attempts: DeliveryAttempt[] = []
  mostParallel = 0
  progress: WebhookProgress = { cursor: '0.a', held: [] }
  refuses: (sent: Sent) => boolean = () => false
  refusal: Refusal = {}
  prunedTo = 0
  readonly #pets: bigint[] = []
  #open = 0
  #runner = this.#start()

  get end(): string {
    return `${this.#pets.length}.a`
  }

  change(...petIds: readonly (bigint | number)[]): void {
    this.#pets.push(...petIds.map(BigInt))
    this.#runner.wake(this.end)
  }

  /** Stops the runner, and starts another one from what was saved. */
  async restart(): Promise<void> {
    await this.#runner.stop()
    this.#runner = this.#start()
    this.#runner.wake(this.end)
  }

  async advance(ms: number): Promise<void> {
    this.now += ms
    await this.tick()
  }

  /** Lets the runner do all that is due. */
  async tick(): Promise<void> {
    for (let count = -1; count !== this.sent.length; ) {
      count = this.sent.length
      await this.#runner.tick()
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    }
    await this.#runner.tick()
  }

  deliveredTo(petId: number): number[] {
    return this.sent.filter((one) => one.petId === BigInt(petId) && !one.isRefused).map((one) => one.position)
  }

  #start(): WebhookRunner {
    const webhook: Webhook = {
      id: 1n,
      url: 'https://shop.example',
      kinds: ['stock.changed'],
      paused: false,
      createdAt: 0,
      secret: 's',
      revision: 1,
      progress: this.progress,
    }
    const eventAt = (position: number): StockEvent => ({
      kind: 'change',
      petId: this.#pets[position - 1] ?? 0n,
      before: 0,
      after: 1,
      status: 'available',
      at: 0,
      occurredAt: 0,
      keyId: 'k',
      cursor: `${position}.a`,
    })
    const log = new SharedLog({
      eventsAfter: async (cursor, limit) => {
        const first = Number.parseInt(cursor, 10) + 1
        if (first <= this.prunedTo) return 'relist_needed'
        const last = Math.min(first + limit - 1, this.#pets.length)
        const events = Array.from({ length: last - first + 1 }, (_, index) => eventAt(first + index))
        return { events, cursor: `${Math.max(last, first - 1)}.a` }
      },
    })
    return new WebhookRunner(webhook, {
      store: {
        latestEventCursor: async () => this.end,
        saveProgress: async (_, progress, attempts) => {
          this.progress = progress
          this.attempts.push(...attempts)
          return true
        },
      },
      log,
      starts: new DeliveryStarts(),
      sender: {
        checkUrl: async (url) => ({ url }),
        send: async (_url, _secrets, { body }) => {
          const [petId = '', position = ''] = body.split(' ')
          const sent: Sent = { petId: BigInt(petId), position: Number(position), at: this.now }
          this.sent.push(sent)
          this.mostParallel = Math.max(this.mostParallel, ++this.#open)
          await new Promise(setImmediate)
          this.#open--
          const isRefused = this.refuses(sent)
          sent.isRefused = isRefused
          return {
            status: isRefused ? 500 : 204,
            durationMs: 1,
            response: '',
            ...(isRefused ? { error: 'no', ...this.refusal } : {}),
          }
        },
      },
      messageOf: (event) => ({
        id: `evt_${event.cursor}`,
        type: event.kind,
        body: `${event.kind === 'change' ? event.petId : -1n} ${Number.parseInt(event.cursor, 10)}`,
      }),
      clock: () => this.now,
      observers: [],
      hasLease: () => true,
    })
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const refusesPetOne = ({ petId }: Sent) => petId === 1n

describe('an event that the receiver refuses', () => {
  test('holds only its pet, however many events follow, also after a restart', async () => {
    const post = new Post()
    post.refuses = refusesPetOne
    post.change(1, 2)
    await post.tick()
    // More events of the held pet than the window has room for.
    post.change(...Array.from({ length: 1_500 }, () => 1), 3)
    await post.tick()
    expect([post.deliveredTo(2), post.deliveredTo(3)]).toEqual([[2], [1_503]])
    expect(post.progress).toMatchObject({ cursor: post.end, held: [{ petId: 1n, cursor: '0.a' }] })
    await post.restart()
    post.change(2)
    await post.tick()
    expect([post.deliveredTo(2), post.deliveredTo(3)]).toEqual([[2, 1_504], [1_503]])

    post.refuses = () => false
    await post.advance(4 * HOUR)
    expect(post.deliveredTo(1)).toEqual([1, ...range(3, 1_502)])
    expect(post.progress).toEqual({ cursor: post.end, held: [] })
  })

  test('is parked after 3 days, listed as parked, and the later events of its pet are sent', async () => {
    const post = new Post()
    post.refuses = ({ position }) => position === 1
    post.change(1, 1, 2)
    await post.tick()
    for (let hours = 0; hours < 74; hours += 2) {
      await post.advance(2 * HOUR)
      post.change(2)
      await post.tick()
    }
    expect(post.progress.off).toBeUndefined()
    expect(post.deliveredTo(1)).toEqual([2])
    expect(post.progress.held).toEqual([])
    const parked = post.attempts.filter(({ isParked }) => isParked)
    expect(parked).toMatchObject([{ messageId: 'evt_1.a', isDelivered: false }])
    const attempts = post.sent.filter(({ position }) => position === 1)
    expect((attempts.at(-1)?.at ?? 0) - (attempts[0]?.at ?? 0)).toBeGreaterThanOrEqual(3 * DAY)
  })

  test('turns the webhook off if nothing at all was accepted for 3 days', async () => {
    const post = new Post()
    post.refuses = () => true
    post.change(1, 2)
    await post.tick()
    for (let hours = 0; hours < 70; hours += 2) await post.advance(2 * HOUR)
    expect(post.progress.off).toBeUndefined()
    for (let hours = 0; hours < 8; hours += 2) await post.advance(2 * HOUR)
    expect(post.progress.off?.reason).toContain('has accepted nothing since')
    expect(post.attempts.filter(({ isParked }) => isParked)).toEqual([])
    expect(post.progress.held).toHaveLength(2)
    const sent = post.sent.length
    post.refuses = () => false
    post.change(1, 3)
    await post.advance(DAY)
    expect(post.sent).toHaveLength(sent)
  })

  test('is part of a single relist if the log was pruned past it', async () => {
    const post = new Post()
    post.refuses = refusesPetOne
    post.change(1, 2)
    await post.tick()
    post.change(1)
    await post.tick()
    post.prunedTo = 2
    post.refuses = () => false
    await post.advance(HOUR)
    expect(post.sent.slice(-2).map(({ petId }) => petId)).toEqual([1n, -1n])
    expect(post.progress).toEqual({ cursor: post.end, held: [] })
  })
})

test('a refused event is retried after 5 s, 30 s and so on, give or take a tenth', async () => {
  const post = new Post()
  post.refuses = () => true
  post.change(1)
  await post.tick()
  let attempts = 1
  for (const seconds of [5, 30, 120, 600, 3_600, 10_800, 10_800]) {
    await post.advance(0.9 * seconds * SECOND - 1)
    expect(post.sent).toHaveLength(attempts)
    await post.advance(0.2 * seconds * SECOND + 1)
    expect(post.sent).toHaveLength(++attempts)
  }
})

test('nothing is sent before the end of Retry-After, not even an event of another pet', async () => {
  const post = new Post()
  post.refuses = () => true
  post.refusal = { retryAfterMs: 120 * SECOND }
  post.change(1)
  await post.tick()
  post.change(2)
  post.refuses = () => false
  await post.advance(120 * SECOND - 1)
  expect(post.sent).toHaveLength(1)
  await post.advance(1)
  expect([post.deliveredTo(1), post.deliveredTo(2)]).toEqual([[1], [2]])
})

describe('a receiver that is down', () => {
  test('gets one request at a time, for one pet after the other, and everything after the first success', async () => {
    const post = new Post()
    post.refuses = () => true
    post.change(...range(1, 300))
    await post.tick()
    expect(post.sent).toHaveLength(16)
    post.mostParallel = 0
    post.sent.length = 0
    await post.advance(6 * SECOND)
    // Each of the 16 is retried, and one further event is a probe.
    expect(new Set(post.sent.map(({ petId }) => petId)).size).toBe(17)
    expect(post.mostParallel).toBe(1)

    // It is back, and refuses only pet 1 from now on.
    post.refuses = refusesPetOne
    post.sent.length = 0
    await post.advance(40 * SECOND)
    for (const petId of range(2, 300)) expect(post.deliveredTo(petId)).toEqual([petId])
    expect(post.progress).toMatchObject({ cursor: post.end, held: [{ petId: 1n }] })
  })

  test('is found to be back by a probe even if it refuses every retry', async () => {
    const post = new Post()
    post.refuses = ({ petId }) => petId <= 16n
    post.change(...range(1, 40))
    await post.tick()
    expect(post.sent).toHaveLength(16)
    await post.advance(6 * SECOND)
    for (const petId of range(17, 40)) expect(post.deliveredTo(petId)).toEqual([petId])
  })
})

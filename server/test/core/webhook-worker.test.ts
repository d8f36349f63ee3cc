import { afterEach, expect, spyOn, test } from 'bun:test'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { MAX_WEBHOOKS, type Webhook } from '../../src/core/webhooks/webhook.ts'
import type { DeliveryStore, SendResult } from '../../src/core/webhooks/webhook-store.ts'
import { WebhookWorker } from '../../src/core/webhooks/webhook-worker.ts'
import { until } from '../support/until.ts'

/** Bun sends this many requests in parallel. More requests wait inside Bun while their timeout runs. */
const MAX_REQUESTS = 256
const OK: SendResult = { status: 204, durationMs: 1, response: '' }

/** A log with one change for each of `length` pets. The webhooks are at its beginning. */
class Log {
  webhooks: Webhook[] = []
  reads: string[] = []
  /** The turn of the event loop at each read. */
  readonly turns: number[] = []
  isUnavailable = false
  #turn = 0
  readonly #length: number
  readonly #ticking = setInterval(() => this.#turn++, 0)

  constructor(length: number) {
    this.#length = length
  }

  readonly store: DeliveryStore = {
    version: () => undefined,
    latestEventCursor: async () => String(this.#length),
    eventsAfter: async (cursor, limit) => {
      this.reads.push(cursor)
      this.turns.push(this.#turn)
      const first = Number(cursor) + 1
      const count = Math.min(limit, this.#length - first + 1)
      const events = Array.from({ length: count }, (_, index) => change(first + index))
      return { events, cursor: String(first + count - 1) }
    },
    leaseWebhooks: () => (this.isUnavailable ? new Promise(() => {}) : Promise.resolve(this.webhooks)),
    releaseWebhooks: async () => {},
    webhookRevisions: async () => new Map(this.webhooks.map(({ id, revision }) => [id, revision])),
    saveProgress: async () => true,
  }

  end(): void {
    clearInterval(this.#ticking)
  }
}

function change(place: number): StockEvent {
  const [petId, cursor] = [BigInt(place), String(place)]
  return { kind: 'change', petId, before: 0, after: 1, status: 'available', at: 0, keyId: 'k', cursor }
}

function webhook(id: number, fields: Partial<Webhook> = {}): Webhook {
  return {
    id: BigInt(id),
    url: 'good',
    kinds: ['stock.changed'],
    paused: false,
    createdAt: 0,
    secret: 's',
    progress: { cursor: '0' },
    revision: 1,
    ...fields,
  }
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function begin(log: Log, send: (url: string) => Promise<SendResult>): void {
  const worker = new WebhookWorker({
    store: log.store,
    sender: { problemOf: async () => undefined, send },
    messageOf: ({ cursor }) => ({ id: cursor, type: 't', body: '' }),
    retryDelaysMs: [5_000],
    clock: Date.now,
    observers: [],
    onFailure: () => {},
  })
  worker.start()
  ends.push(() => {
    log.end()
    void worker.stop()
  })
}

test('receivers that hang on all their connections leave room for the others', async () => {
  const log = new Log(200)
  log.webhooks = Array.from({ length: MAX_WEBHOOKS }, (_, index) =>
    webhook(index + 1, { url: index < MAX_WEBHOOKS - 1 ? 'hangs' : 'good' }),
  )
  let hanging = 0
  let delivered = 0
  const answers: (() => void)[] = []
  ends.push(() => {
    for (const answer of answers) answer()
  })
  begin(log, (url) => {
    if (url === 'good') {
      delivered++
      return Promise.resolve(OK)
    }
    hanging++
    return new Promise((resolve) => answers.push(() => resolve({ ...OK, error: 'late' })))
  })
  await until(() => delivered === 200)
  expect(hanging).toBeGreaterThanOrEqual(MAX_WEBHOOKS - 1)
  expect(hanging).toBeLessThan(MAX_REQUESTS)
})

test('webhooks with a backlog share reads of the log, with turns of the event loop in between', async () => {
  const log = new Log(5_000)
  log.webhooks = Array.from({ length: MAX_WEBHOOKS }, (_, index) =>
    webhook(index + 1, { kinds: ['pet.removed'] }),
  )
  begin(log, async () => OK)
  await until(() => log.reads.includes('4864'))
  expect(log.reads.length).toBeLessThan(100)
  expect(new Set(log.turns).size).toBeGreaterThan(2)
})

test('a process that cannot renew its lease sends nothing once the lease may have expired', async () => {
  const log = new Log(1)
  log.webhooks = [webhook(1)]
  let sent = 0
  const now = performance.now.bind(performance)
  const clock = spyOn(performance, 'now')
  ends.push(() => clock.mockRestore())
  begin(log, async () => {
    sent++
    log.isUnavailable = true
    // When the lease was read, at least half of its 8 s were left.
    clock.mockImplementation(() => now() + 4_000)
    return { ...OK, error: 'not now', retryAfterMs: 1 }
  })
  await until(() => sent === 1)
  await Bun.sleep(500)
  expect(sent).toBe(1)
})

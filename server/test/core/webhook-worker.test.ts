import { afterEach, expect, spyOn, test } from 'bun:test'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { MAX_WEBHOOKS, type Webhook } from '../../src/core/webhooks/webhook.ts'
import type {
  DeliveryStore,
  SendPermit,
  SendResult,
  WebhookSender,
} from '../../src/core/webhooks/webhook-store.ts'
import { WebhookWorker } from '../../src/core/webhooks/webhook-worker.ts'
import { until } from '../support/until.ts'

/** Bun sends 256 requests in parallel. More requests wait inside Bun while their timeout runs. */
const MAX_DELIVERIES = 256 - MAX_WEBHOOKS
const OK: SendResult = { status: 204, durationMs: 1, response: '' }

/** A log with one change for each of `length` pets. The webhooks are at its beginning. */
class Log {
  webhooks: Webhook[] = []
  reads: string[] = []
  /** The worker asks for the end of the log at least once in each tick. */
  ticks = 0
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
    sharesDeliveries: true,
    version: () => undefined,
    latestEventCursor: async () => {
      this.ticks++
      return `${this.#length}.a`
    },
    eventsAfter: async (cursor, limit) => {
      this.reads.push(cursor)
      this.turns.push(this.#turn)
      const first = Number.parseInt(cursor, 10) + 1
      const count = Math.min(limit, this.#length - first + 1)
      const events = Array.from({ length: count }, (_, index) => change(first + index))
      return { events, cursor: `${first + count - 1}.a` }
    },
    leaseWebhooks: () => (this.isUnavailable ? new Promise(() => {}) : Promise.resolve(this.webhooks)),
    releaseWebhooks: async () => {},
    saveProgress: async () => true,
  }

  end(): void {
    clearInterval(this.#ticking)
  }
}

function change(place: number): StockEvent {
  const [petId, cursor] = [BigInt(place), `${place}.a`]
  const times = { at: 0, occurredAt: 0 }
  return { kind: 'change', petId, before: 0, after: 1, status: 'available', ...times, keyId: 'k', cursor }
}

function webhook(id: number, fields: Partial<Webhook> = {}): Webhook {
  return {
    id: BigInt(id),
    url: 'good',
    kinds: ['stock.changed'],
    paused: false,
    createdAt: 0,
    secret: 's',
    progress: { cursor: '0.a', held: [] },
    revision: 1,
    ...fields,
  }
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function begin(log: Log, send: WebhookSender['send']): WebhookWorker {
  const worker = new WebhookWorker({
    store: log.store,
    sender: { checkUrl: async (url) => ({ url }), send },
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
  return worker
}

test('receivers that hang on all their connections leave room for the others and for test events', async () => {
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
  expect(hanging).toBeLessThan(MAX_DELIVERIES)
})

test('webhooks with a backlog share reads of the log, with turns of the event loop in between', async () => {
  const log = new Log(5_000)
  log.webhooks = Array.from({ length: MAX_WEBHOOKS }, (_, index) =>
    webhook(index + 1, { kinds: ['pet.removed'] }),
  )
  begin(log, async () => OK)
  await until(() => log.reads.includes('4864.a'))
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
  const { ticks } = log
  await until(() => log.ticks >= ticks + 3)
  expect(sent).toBe(1)
})

test('once a change is applied by another process, no attempt of the previous webhook may be sent', async () => {
  const log = new Log(1)
  log.webhooks = [webhook(1)]
  const permits: SendPermit[] = []
  const answer = Promise.withResolvers<SendResult>()
  ends.push(() => answer.resolve(OK))
  begin(log, (_url, _secrets, _message, permit) => {
    permits.push(permit)
    // From now on, the process cannot learn of changes.
    log.isUnavailable = true
    return answer.promise
  })
  await until(() => permits.length === 1)
  expect(permits[0]?.isValid()).toBe(true)
  const other = begin(new Log(0), async () => OK)
  await other.applyChange(1n)
  expect(permits[0]?.isValid()).toBe(false)
})

test('a change of this process ends the attempts of the previous webhook at once', async () => {
  const log = new Log(1)
  log.webhooks = [webhook(1)]
  const permits: SendPermit[] = []
  const worker = begin(log, (_url, _secrets, _message, permit) => {
    permits.push(permit)
    return new Promise((resolve) => permit.signal?.addEventListener('abort', () => resolve(undefined)))
  })
  await until(() => permits.length === 1)
  log.webhooks = [webhook(1, { revision: 2 })]
  await worker.applyChange(1n)
  expect([permits[0]?.isValid(), permits[0]?.signal?.aborted]).toEqual([false, true])
  await until(() => permits.length === 2)
  expect(permits[1]?.isValid()).toBe(true)
})

test('a change that another process has made ends the attempts of the previous webhook', async () => {
  const log = new Log(1)
  log.webhooks = [webhook(1)]
  const permits: SendPermit[] = []
  begin(log, (_url, _secrets, _message, permit) => {
    permits.push(permit)
    return new Promise((resolve) => permit.signal?.addEventListener('abort', () => resolve(undefined)))
  })
  await until(() => permits.length === 1)
  log.webhooks = [webhook(1, { revision: 2 })]
  await until(() => permits.length === 2)
  expect([permits[0]?.signal?.aborted, permits[1]?.isValid()]).toEqual([true, true])
})

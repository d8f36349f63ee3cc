import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import {
  type ApiKey,
  createKeyId,
  createSecret,
  type Limits,
  PERMISSIONS,
  PLAN_LIMITS,
  type Plan,
  toStoredSecret,
} from '../../src/core/keys/api-key.ts'
import { ORDER_STATES, type OrderRow } from '../../src/core/orders/order.ts'
import type { ErrorDetail } from '../../src/core/values/errors.ts'
import { toJson } from '../../src/http/reply.ts'
import { type RunningService, type ServiceOptions, startService } from '../../src/service/compose.ts'
import { readConfig, type SettingName } from '../../src/service/config.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from './add-pets.ts'
import { checkAgainstContract } from './contract-check.ts'
import { logTo } from './log-to.ts'
import { operatorOf } from './operator.ts'
import { addOrders } from './orders.ts'
import type { TestDatabase } from './postgres-databases.ts'
import { stopAfterTest } from './stop-after-test.ts'
import { createTestDatabase } from './test-database.ts'
import { historyOf, stockOf } from './whole-store.ts'

/** On a whole second, so that windows begin exactly as tests expect. */
export const START = Date.UTC(2026, 10, 15, 12)
const ROOMY: Limits = { perMinute: 1_000_000, perDay: 1_000_000_000 }
/** A commit that even a busy machine makes well within the statement timeout. */
const PETS_AT_ONCE = 5_000

export const PETS: readonly StockedPet[] = [
  { id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 },
  { id: 2n, name: 'Mittens', categoryId: 2n, status: 'pending', quantity: 1 },
  { id: 3n, name: 'Goldie', categoryId: 4n, status: 'sold', quantity: 0 },
  { id: 9007199254740993n, name: 'Odd one', categoryId: 9n, status: 'available', quantity: 7 },
  { id: 9223372036854775807n, name: 'Last one', categoryId: 9n, status: 'available', quantity: 8 },
]

/** One of them reserves one unit of the last pet. */
const ORDERS: readonly OrderRow[] = [
  { id: 1n, petId: 1n, quantity: 2, shipDate: START, complete: true },
  { id: 9007199254740993n, petId: 9223372036854775807n, quantity: 1, shipDate: START, complete: false },
]

/** For ids that fit a number; larger ones are compared in `text`. */
export interface WireItem {
  readonly petId: number
  readonly quantity: number
  readonly status: string
}

interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly status: number
  readonly field?: string
  readonly details?: readonly (Omit<ErrorDetail, 'petId'> & { readonly petId?: number })[]
}

/** One response, with its body in the form that the test expects. */
export class Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string

  constructor(status: number, headers: Headers, text: string) {
    this.status = status
    this.headers = headers
    this.text = text
  }

  get json(): unknown {
    return JSON.parse(this.text)
  }

  get items(): readonly WireItem[] {
    return this.json as WireItem[]
  }

  get item(): WireItem {
    return this.json as WireItem
  }

  get error(): ErrorBody {
    return this.json as ErrorBody
  }

  get etag(): string {
    return this.headers.get('ETag') ?? ''
  }

  get isReplayed(): boolean {
    return this.headers.get('Idempotency-Replayed') === 'true'
  }

  /** The path of the next page, without /v1. */
  get next(): string | undefined {
    const link = this.headers.get('Link')
    if (link === null) return undefined
    const [, path] = /^<\/v1([^>]+)>; rel="next"$/.exec(link) ?? []
    if (path === undefined) throw new Error(`${link} is not a link to a next page`)
    return path
  }
}

export interface CallOptions {
  /** The bearer key; `null` sends no Authorization header. By default the key without practical limits. */
  readonly key?: string | null
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream
  readonly headers?: Readonly<Record<string, string>>
}

interface Options extends Omit<ServiceOptions, 'clock' | 'logOutput' | 'passedSocket'> {
  /** The stock; a few pets by default. */
  readonly pets?: readonly StockedPet[]
  readonly settings?: Partial<Record<SettingName, string>>
  /** Wraps the store of the service, for example with a fault. */
  readonly wrapStore?: (store: Store) => Store
  /** The database to use; by default the one of TEST_STORE. */
  readonly onPostgres?: boolean
  /** The real clock instead of the clock of the test. */
  readonly realTime?: boolean
}

/** The real service on a free port with a real database file, and a clock that tests control. */
export class TestService {
  now = START
  /** A key whose limits no test reaches. */
  key = ''
  store!: Store
  /** The whole log, as on standard output. */
  logText = ''
  readonly folder = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  readonly databasePath = join(this.folder, 'petstore.db')
  readonly #options: Options
  #database!: TestDatabase
  #running!: RunningService
  #stopped: Promise<void> | undefined

  static async start(options: Options = {}): Promise<TestService> {
    const service = new TestService(options)
    service.#database = await createTestDatabase(service.folder, options.onPostgres)
    await service.#open()
    stopAfterTest(() => service.stop())
    const pets = options.pets ?? PETS
    for (let from = 0; from < pets.length; from += PETS_AT_ONCE) {
      await addPets(service.store, pets.slice(from, from + PETS_AT_ONCE))
    }
    await addOrders(service.store, options.pets === undefined ? ORDERS : ORDERS.filter((one) => one.complete))
    service.key = (await service.createKey('enterprise', { limits: ROOMY })).secret
    return service
  }

  private constructor(options: Options) {
    this.#options = options
  }

  async #open(): Promise<void> {
    const { settings, wrapStore = (store: Store) => store, realTime, ...options } = this.#options
    const clock = realTime ? {} : { clock: () => this.now }
    this.store = await openStore(this.#database.url, { tables: 'migrate', exclusive: true, ...clock }, clock)
    this.#running = await startService(
      readConfig({ port: '0', metricsPort: 'off', ...settings }, {}),
      wrapStore(this.store),
      {
        stopDelayMs: 0,
        stopGraceMs: 0,
        ...options,
        ...clock,
        logOutput: logTo((line) => {
          this.logText += line
        }),
      },
    )
  }

  get address(): string {
    return `http://127.0.0.1:${this.#running.port}`
  }

  get metricsAddress(): string {
    return `http://127.0.0.1:${this.#running.metricsPort}/metrics`
  }

  get port(): number {
    return this.#running.port
  }

  async createKey(plan: Plan, overrides: Partial<ApiKey> = {}): Promise<{ id: string; secret: string }> {
    const secret = createSecret('production')
    const { id = createKeyId() } = overrides
    const limits = plan === 'enterprise' ? ROOMY : PLAN_LIMITS[plan]
    await operatorOf(this.store).addKey(
      { id, name: `${plan} key`, plan, limits, permissions: PERMISSIONS, createdAt: this.now, ...overrides },
      toStoredSecret(secret, this.now),
      { at: this.now, actor: 'test' },
    )
    return { id, secret }
  }

  /** Sends a request and checks the response against the contract. `path` is relative to /v1. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.fetch(method, `/v1${path}`, options)
    checkAgainstContract(method, path, answer)
    return answer
  }

  /** Sends JSON; a text is sent unchanged. */
  send(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call(method, path, {
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : toJson(body) }),
      ...options,
      headers: {
        'Content-Type': path.startsWith('/imports') ? 'text/csv' : 'application/json',
        ...options.headers,
      },
    })
  }

  /** All pages from this one on. */
  async pages(path: string, options: CallOptions = {}): Promise<readonly Answer[]> {
    const pages: Answer[] = []
    for (let next: string | undefined = path; next !== undefined; next = pages.at(-1)?.next) {
      pages.push(await this.call('GET', next, options))
    }
    return pages
  }

  async fetch(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { key = this.key, body, headers } = options
    const response = await fetch(this.address + path, {
      method,
      headers: { ...(key === null ? {} : { Authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    })
    return new Answer(response.status, response.headers, await bodyOf(response))
  }

  /** Sets a quantity as a caller would. `body` is sent unchanged. */
  setQuantity(petId: string | bigint, body: string, options: CallOptions = {}): Promise<Answer> {
    return this.send('PATCH', `/inventory/${petId}`, body, options)
  }

  /** The log so far, line by line. */
  async logged(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    await this.#running.logger.flush()
    return this.logText.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  }

  /** Runs SQL in the service's database, without the service. */
  run(sql: string): Promise<readonly Record<string, unknown>[]> {
    return this.#database.run(sql)
  }

  get databaseUrl(): string {
    return this.#database.url
  }

  /** Everything that an update could change. */
  async contents(): Promise<unknown> {
    const histories = await Promise.all(PETS.map(({ id }) => historyOf(this.store, id)))
    const available = await Promise.all(PETS.map(({ id }) => this.store.findAvailability(id)))
    const orders = await Promise.all(ORDER_STATES.map((state) => this.store.listOrders({ state }, 1_000)))
    return { inventory: await stockOf(this.store), histories, available, orders }
  }

  /** Stops it as an operator would, and starts it again on the same file. */
  async restart(): Promise<void> {
    await this.halt()
    await this.resume()
  }

  /** Stops it as an operator would; the database stays for `resume`. */
  async halt(): Promise<void> {
    await this.#running.stop()
  }

  /** Starts it again, on another port unless the settings name one. */
  async resume(): Promise<void> {
    await this.#open()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stopAndDiscard()
    return this.#stopped
  }

  async #stopAndDiscard(): Promise<void> {
    await this.#running.stop()
    await this.#database.drop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The first event, for an endless stream. */
async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get('Content-Type') !== 'text/event-stream') return response.text()
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (/^event: .*\n.*\n.*\n\n/m.test(text)) break
  }
  return text
}

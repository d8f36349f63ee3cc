import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StockedPet } from '../../../src/core/catalog/pet.ts'
import {
  type ApiKey,
  createKeyId,
  createSecret,
  type Limits,
  PERMISSIONS,
  toStoredSecret,
} from '../../../src/core/keys/api-key.ts'
import { type RunningService, startService } from '../../../src/service/compose.ts'
import { readConfig, type SettingName } from '../../../src/service/config.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { addPets } from '../../support/add-pets.ts'
import { logTo } from '../../support/log-to.ts'
import { operatorOf } from '../../support/operator.ts'
import { createReadyDatabase, type TestDatabase } from '../../support/postgres-databases.ts'
import { Answer, START } from '../../support/test-service.ts'

const QUIET = logTo(() => {})

export interface ShopOptions {
  readonly store: 'sqlite' | 'postgres'
  /** The clock offset of each instance to the shop's clock; one instance per entry. */
  readonly skews?: readonly number[]
  /** Limits use PostgreSQL's real clock instead of the clock of the test. */
  readonly databaseClock?: true
  /** The stock; one pet by default. */
  readonly pets?: readonly StockedPet[]
  readonly anonymousPerMinute?: number
  readonly settings?: Partial<Record<SettingName, string>>
}

const ONE_PET: StockedPet = { id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 }

/** One or more instances of the service on one database, each with its own clock. */
export class ClockShop {
  /** The shop's clock, which PostgreSQL uses too. */
  now = START
  readonly #folder = mkdtempSync(join(tmpdir(), 'petstore-clock-'))
  readonly #options: ShopOptions
  #database: TestDatabase | undefined
  #stores: Store[] = []
  #instances: RunningService[] = []

  static async open(options: ShopOptions): Promise<ClockShop> {
    const shop = new ClockShop(options)
    if (options.store === 'postgres') shop.#database = await createReadyDatabase()
    await shop.#start()
    await addPets(shop.store, options.pets ?? [ONE_PET])
    return shop
  }

  private constructor(options: ShopOptions) {
    this.#options = options
  }

  get store(): Store {
    const [store] = this.#stores
    if (store === undefined) throw new Error('the shop is closed')
    return store
  }

  get databaseUrl(): string {
    return this.#database?.url ?? `sqlite:${join(this.#folder, 'petstore.db')}`
  }

  /** For files that belong to the shop. */
  get folder(): string {
    return this.#folder
  }

  address(instance: number): string {
    return `http://127.0.0.1:${this.#instances[instance]?.port}`
  }

  async #start(): Promise<void> {
    const { skews = [0], databaseClock, settings, anonymousPerMinute = 3 } = this.#options
    const url = this.databaseUrl
    const config = readConfig({ port: '0', metricsPort: 'off', ...settings }, {})
    const constants = { anonymousPerMinute, stopGraceMs: 0 }
    for (const skew of skews) {
      const store = await openStore(
        url,
        { tables: 'migrate', clock: () => this.now },
        databaseClock ? {} : { clock: () => this.now },
      )
      this.#stores.push(store)
      this.#instances.push(
        await startService(config, store, { ...constants, clock: () => this.now + skew, logOutput: QUIET }),
      )
    }
  }

  async createKey(limits: Limits, facts: Partial<ApiKey> = {}): Promise<{ id: string; secret: string }> {
    const secret = createSecret('production')
    const id = createKeyId()
    await operatorOf(this.store).addKey(
      {
        id,
        name: 'Shop',
        plan: 'enterprise',
        limits,
        permissions: PERMISSIONS,
        createdAt: this.now,
        ...facts,
      },
      toStoredSecret(secret, this.now),
      { at: this.now, actor: 'test' },
    )
    return { id, secret }
  }

  /** Lists the stock at one of the instances. */
  async list(secret: string | undefined, instance = 0): Promise<Answer> {
    const response = await fetch(`${this.address(instance)}/v1/inventory`, {
      headers: secret === undefined ? {} : { Authorization: `Bearer ${secret}` },
    })
    return new Answer(response.status, response.headers, await response.text())
  }

  /** Lists `count` times and returns the last response. */
  async listOften(secret: string | undefined, count: number): Promise<Answer> {
    for (let sent = 1; sent < count; sent++) await this.list(secret)
    return this.list(secret)
  }

  /** Sends requests until the key is banned, and returns the response to the request that caused the ban. */
  async provokeBan(secret: string, instance = 0): Promise<Answer> {
    await this.#listUntil('rate_limit_exceeded', secret, instance)
    // Rejections count from a second after the first one.
    this.now += 1_000
    return this.#listUntil('key_banned', secret, instance)
  }

  async #listUntil(code: string, secret: string, instance: number): Promise<Answer> {
    for (let sent = 0; sent < 100; sent++) {
      const answer = await this.list(secret, instance)
      if (answer.status === 429 && answer.error.code === code) return answer
    }
    throw new Error(`100 requests, and none got ${code}`)
  }

  async restart(): Promise<void> {
    await this.#stop()
    await this.#start()
  }

  async close(): Promise<void> {
    await this.#stop()
    await this.#database?.drop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #stop(): Promise<void> {
    for (const instance of this.#instances) await instance.stop()
    this.#instances = []
    this.#stores = []
  }
}

/** The `Retry-After` seconds of a response. */
export function waitOf(answer: Answer): number {
  return Number(answer.headers.get('Retry-After') ?? Number.NaN)
}

export function resetOf(answer: Answer): number {
  return Number(answer.headers.get('X-RateLimit-Reset') ?? Number.NaN)
}

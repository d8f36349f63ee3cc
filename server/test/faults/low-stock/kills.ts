import { randomFrom } from '../../../scripts/torture-task.ts'
import type { Command } from '../../../src/core/stock/command.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { stockUp } from '../../postgres/shop.ts'
import { createDatabase } from '../../support/postgres-databases.ts'
import { killPairMember } from '../kills/kill-pair-member.ts'
import { type KillOptions, waitForCommit } from '../kills/kills.ts'
import { checkFile } from '../kills/shown-stock.ts'
import { FaultyShop } from '../webhooks/faulty-shop.ts'
import { LowStockProof } from './proof.ts'
import { CATEGORY, categoryRequest, PET_IDS, ThresholdRequests } from './requests.ts'

export interface LowStockKillReport {
  readonly kills: number
  readonly changes: number
  /** Changes without a response, which may or may not have been made. */
  readonly unsure: number
  readonly events: number
  readonly crossings: number
  readonly violations: readonly string[]
}

export type LowStockKillOptions = KillOptions & { readonly movesCategory: boolean }

const CALLERS = 8
const MAX_ANSWERS = 200
/** Otherwise at any time. */
const IN_COMMIT_CHANCE = 0.7
const LONGEST_COMMIT_MS = 1
const TELL_EVERY = 20
/** The allowed statuses of a change; the store rejects impossible ones. */
const ANSWERS = [200, 201, 204, 404, 409]

/** Kills the service during changes around thresholds, and compares its later events with the model. */
export async function killAmongThresholds(options: LowStockKillOptions): Promise<LowStockKillReport> {
  const random = randomFrom(options.seed)
  const shop = await FaultyShop.closed()
  const load = await ThresholdLoad.prepare(shop.url, shop.key, random, options.movesCategory)
  const violations: string[] = []
  let kills = 0
  try {
    await shop.start()
    while (!options.isOver(kills)) {
      const loading = load.run([shop.address], () => false)
      await load.untilAnswered(1 + random() * MAX_ANSWERS)
      if (random() < IN_COMMIT_CHANCE) waitForCommit(shop.path, random() * LONGEST_COMMIT_MS)
      await shop.kill()
      await loading
      kills++
      await shop.start()
      violations.push(...(await load.proof.violations()), ...checkFile(shop.path))
      if (kills % TELL_EVERY === 0) options.say?.(`${kills} kills, ${load.proof.events} events`)
    }
  } finally {
    await shop.close()
  }
  return load.report(kills, violations)
}

/** The same with two instances on PostgreSQL, of which one is killed each time while the other continues. */
export async function killOneOfTwoAmongThresholds(options: LowStockKillOptions): Promise<LowStockKillReport> {
  const random = randomFrom(options.seed)
  const database = await createDatabase()
  const key = await stockUp(database.url)
  const load = await ThresholdLoad.prepare(database.url, key, random, options.movesCategory)
  const violations: string[] = []
  const kills = await killPairMember(database, {
    load,
    random,
    maxAnswers: MAX_ANSWERS,
    isOver: options.isOver,
    afterKill: async (killed) => {
      violations.push(...(await load.proof.violations()))
      if (killed % TELL_EVERY === 0) options.say?.(`${killed} kills, ${load.proof.events} events`)
    },
  })
  return load.report(kills, violations)
}

/** Callers that change stock, orders and thresholds of the same few pets. */
class ThresholdLoad {
  readonly proof: LowStockProof
  readonly #key: string
  readonly #random: () => number
  readonly #requests: ThresholdRequests
  readonly #surprises: string[] = []
  #answers = 0
  #unsure = 0
  #isRunning = false

  /** Starts with only the pets of the requests. */
  static async prepare(url: string, key: string, random: () => number, movesCategory: boolean) {
    const requests = new ThresholdRequests(random, movesCategory)
    const by = { keyId: 'key_a', at: Date.now() }
    const store = await openStore(url, { tables: 'migrate' })
    await store.changeStock(
      PET_IDS.map((removedPet) => ({ type: 'remove_pet' as const, ...by, petId: removedPet })),
    )
    const proof = new LowStockProof(url, await store.latestEventCursor(), movesCategory)
    await store.changeStock([categoryRequest(CATEGORY)])
    await store.changeStock(requests.first())
    await store.close()
    return new ThresholdLoad(key, random, requests, proof)
  }

  private constructor(key: string, random: () => number, requests: ThresholdRequests, proof: LowStockProof) {
    this.#key = key
    this.#random = random
    this.#requests = requests
    this.proof = proof
  }

  /** Or until no instance responds. */
  async untilAnswered(more: number): Promise<void> {
    const wanted = this.#answers + more
    while (this.#answers < wanted && this.#isRunning) await Bun.sleep(1)
  }

  /** Until `isOver`, or until no address responds. */
  async run(addresses: readonly string[], isOver: () => boolean): Promise<void> {
    const alive = [...addresses]
    const caller = async () => {
      while (!isOver() && alive.length > 0) {
        const address = alive[Math.floor(this.#random() * alive.length)] ?? ''
        const isAnswered = await this.#change(address, this.#requests.next())
        if (!isAnswered && alive.includes(address)) alive.splice(alive.indexOf(address), 1)
      }
    }
    this.#isRunning = true
    await Promise.all(Array.from({ length: CALLERS }, caller))
    this.#isRunning = false
  }

  report(kills: number, violations: readonly string[]): LowStockKillReport {
    const { events, crossings } = this.proof
    return {
      kills,
      changes: this.#answers,
      unsure: this.#unsure,
      events,
      crossings,
      violations: [...violations, ...this.proof.finish(), ...this.#surprises],
    }
  }

  async #change(address: string, request: Command): Promise<boolean> {
    const { method, path, body } = asHttp(request)
    const headers = { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    try {
      const response = await fetch(`${address}/v1${path}`, sent)
      const text = await response.text()
      this.#answers++
      if (!ANSWERS.includes(response.status)) {
        this.#surprises.push(`${method} ${path} was answered ${response.status}: ${text}`)
      }
      if (response.status === 201 && path === '/store/orders') {
        const { id, petId } = JSON.parse(text)
        this.#requests.opened({ id: BigInt(id), petId: BigInt(petId) })
      }
      return true
    } catch {
      this.#unsure++
      return false
    }
  }
}

interface HttpChange {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** The same change as an HTTP request. Holds expire by themselves. */
function asHttp(command: Command): HttpChange {
  switch (command.type) {
    case 'adjust': {
      const changes = command.changes.map((change) => ({ ...change, petId: Number(change.petId) }))
      return { method: 'POST', path: '/inventory/adjustments', body: { reason: 'counted', changes } }
    }
    case 'create_order': {
      const { order } = command
      return { method: 'POST', path: '/store/orders', body: { ...order, petId: Number(order.petId) } }
    }
    case 'cancel_order':
      return { method: 'DELETE', path: `/store/orders/${command.orderId}` }
    case 'complete_order':
      return { method: 'PATCH', path: `/store/orders/${command.orderId}`, body: { complete: true } }
    case 'update_pet':
      return { method: 'PATCH', path: `/pets/${command.petId}`, body: withNumbers(command.patch) }
    case 'remove_pet':
      return { method: 'DELETE', path: `/pets/${command.petId}` }
    case 'create_pet':
      return { method: 'POST', path: '/pets', body: withNumbers(command.pet) }
    case 'update_category':
      return { method: 'PATCH', path: `/categories/${command.categoryId}`, body: command.patch }
    case 'set_quantity':
      return { method: 'PATCH', path: `/inventory/${command.petId}`, body: { quantity: command.quantity } }
    default:
      return { method: 'PATCH', path: `/inventory/${PET_IDS[0]}`, body: { quantity: 0 } }
  }
}

function withNumbers(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}

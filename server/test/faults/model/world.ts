import type { StockedPet } from '../../../src/core/catalog/pet.ts'
import type { Permission } from '../../../src/core/keys/api-key.ts'
import { START } from '../../support/test-service.ts'
import { ModelCatalog } from './catalog.ts'
import { BARCODES } from './catalog-requests.ts'
import { ModelEvents } from './events.ts'
import { type Allowance, KeyMeter, StrangerMeter, type Verdict } from './meter.ts'
import { ModelOrders } from './orders.ts'
import type { ChangedBy, Intent, ModelAnswer } from './outcome.ts'
import type { Sender } from './steps.ts'
import { TagBook } from './tags.ts'

export const DAY = 86_400_000
export const STRANGERS_PER_MINUTE = 6
export const SUNSET = Date.UTC(2026, 10, 17)
export const IMPORT_KEY = 'petstore-import'

/** The pets of the steps; some exist from the beginning, others are added and removed. */
export const PET_IDS = [
  ...[1n, 2n, 3n, 5n, 9007199254740993n, 9223372036854775807n],
  ...[0n, -9223372036854775808n, 77n, -1n],
  // The first ids that the service assigns.
  ...[1030n, 1031n],
]

/** Enough that the list is worth compressing. */
export const FIRST_PETS: readonly StockedPet[] = [
  ...PET_IDS.slice(0, 6),
  ...Array.from({ length: 30 }, (_, index) => BigInt(1_000 + index)),
].map((id, index) => ({
  id,
  name: `Pet ${index}`,
  categoryId: BigInt(index % 3),
  status: (['available', 'pending', 'sold'] as const)[index % 3] ?? 'sold',
  quantity: index,
  ...(index === 0 || index === 6 ? { barcode: BARCODES[index === 0 ? 0 : 1] } : {}),
  // Almost low, and so by nearly any update.
  ...(index === 1 || index === 2 ? { lowStockAt: index - 1 } : {}),
}))

export type ModelPet = Omit<StockedPet, 'id'>

export interface ModelChange {
  readonly before: number
  readonly after: number
  readonly at: number
  readonly keyId: string
  readonly keyName: string
  readonly reason?: string
  readonly reference?: string
  /** Opaque: known once a response had it. */
  id?: string
}

export interface ModelSecret {
  readonly text: string
  endsAt: number
}

export interface ModelKey {
  readonly id: string
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly expiresAt: number
  readonly meter: KeyMeter
  readonly secrets: ModelSecret[]
  isRevoked: boolean
}

export interface Repeatable {
  readonly intent: Intent
  readonly sender: Sender
  readonly idempotencyKey: number | undefined
}

/** The start of the next page of a list. */
export interface NextPage {
  readonly path: string
  readonly limit: number
  readonly status: string | undefined
  /** The last entry: its index in the history, or its id. */
  readonly last: number | bigint
  /** Its sort value, if that is something else. */
  readonly value: string | number | undefined
}

/** The expected state, by the documents: a simple model of the service. */
export class ModelWorld {
  now = START
  readonly pets = new Map<bigint, ModelPet>(FIRST_PETS.map(({ id, ...pet }) => [id, pet]))
  /** Oldest first. They remain after the pet is removed. */
  readonly histories = new Map<bigint, ModelChange[]>()
  readonly orders = new ModelOrders(this)
  readonly catalog = new ModelCatalog(this)
  readonly events = new ModelEvents()
  readonly keys: ModelKey[] = []
  readonly tags = new TagBook()
  readonly nextPages = new Map<string, NextPage>()
  /** By API key and Idempotency-Key. */
  readonly answers = new Map<string, ModelAnswer>()
  /** The requests that a step can repeat: the sender, and the number of its Idempotency-Key. */
  readonly repeatable: Repeatable[] = []
  /** How often the Idempotency-Key of a number was replaced by another. */
  readonly #abandoned = new Map<number, number>()
  /** By how much the clock of each instance is ahead. */
  readonly #skews: readonly number[]
  /** Whether one process sees every move of the clock at once, for all keys. */
  readonly #hasLedger: boolean
  #strangers: StrangerMeter[] = []
  /** The secrets that each instance has found in the store: it looks them up whatever the count of their address. */
  #seen: Set<string>[] = []

  constructor(skews: readonly number[], hasLedger: boolean) {
    this.#skews = skews
    this.#hasLedger = hasLedger
    this.restart()
  }

  /** The time of one of the instances. */
  at(instance: number): number {
    return this.now + (this.#skews[instance] ?? 0)
  }

  moveClock(by: number): void {
    // An expired hold stays so even if the clock goes back.
    if (by < 0) this.orders.endHolds()
    this.now += by
    const latest = Math.max(...this.#skews.map((_, instance) => this.at(instance)))
    for (const answer of this.answers.values()) answer.mayBeGone ||= latest - answer.at >= DAY
    if (this.#hasLedger) for (const { meter } of this.keys) meter.clockWentBack(-by)
  }

  /** An Idempotency-Key for which it is certain whether a response is stored. */
  idempotencyKey(number: number, now: number): string {
    for (;;) {
      const abandoned = this.#abandoned.get(number) ?? 0
      const name = `${number}-${abandoned}`
      const answers = [...this.answers].filter(([place]) => place.endsWith(` ${name}`))
      if (!answers.some(([, { mayBeGone, at }]) => mayBeGone && now - at < DAY)) return name
      this.#abandoned.set(number, abandoned + 1)
    }
  }

  /** Keys and their counts survive; addresses and known keys do not. */
  restart(): void {
    this.#seen = this.#skews.map(() => new Set())
    this.#strangers = this.#skews.map(() => new StrangerMeter(STRANGERS_PER_MINUTE))
  }

  meetStranger(instance: number): Verdict {
    return this.#strangersAt(instance).ask(this.at(instance))
  }

  hasSeen(instance: number, secret: ModelSecret | undefined): boolean {
    return secret !== undefined && this.#seen[instance]?.has(secret.text) === true
  }

  /** Whether an instance looks a secret up in the store; if so, it records whether the store has it. */
  looksUp(instance: number, secret: ModelSecret): boolean {
    const isGone = secret.endsAt === Number.NEGATIVE_INFINITY
    const isOver = this.#strangersAt(instance).isOver(this.at(instance))
    if (isGone && isOver && !this.hasSeen(instance, secret)) return false
    if (isGone) this.#seen[instance]?.delete(secret.text)
    else this.#seen[instance]?.add(secret.text)
    return true
  }

  #strangersAt(instance: number): StrangerMeter {
    const meter = this.#strangers[instance]
    if (meter === undefined) throw new Error(`there is no instance ${instance}`)
    return meter
  }

  addKey(
    facts: Pick<ModelKey, 'id' | 'name' | 'permissions'> & { secret: string; expiresAt?: number },
    allowance: Allowance,
  ): void {
    const { secret, expiresAt = Number.POSITIVE_INFINITY, ...rest } = facts
    this.keys.push({
      ...rest,
      expiresAt,
      meter: new KeyMeter(allowance),
      secrets: [{ text: secret, endsAt: Number.POSITIVE_INFINITY }],
      isRevoked: false,
    })
  }

  historyOf(petId: bigint): ModelChange[] {
    let changes = this.histories.get(petId)
    if (changes === undefined) {
      changes = []
      this.histories.set(petId, changes)
    }
    return changes
  }

  setQuantity(petId: bigint, quantity: number, by: ChangedBy): void {
    const pet = this.pets.get(petId)
    if (pet === undefined) return
    const { at: _, id: __, name: ___, ...told } = by
    const numbers = { before: BigInt(pet.quantity), after: BigInt(quantity) }
    this.events.tell(petId, 'change', { petId, ...numbers, status: pet.status, ...told }, by)
    this.record(petId, pet.quantity, quantity, by)
    this.pets.set(petId, { ...pet, quantity })
  }

  /** An import creates its new categories by id ascending, whatever the order of its rows. */
  bringInCategories(ids: readonly bigint[]): void {
    const by = { at: this.now, id: IMPORT_KEY, name: IMPORT_KEY }
    for (const id of ids.toSorted((a, b) => (a < b ? -1 : 1))) this.catalog.requireCategory(id, by)
  }

  bringIn(petId: bigint, wanted: ModelPet): void {
    const by = { at: this.now, id: IMPORT_KEY, name: IMPORT_KEY }
    const before = this.pets.get(petId)
    // Columns that the file does not have keep their values.
    const { barcode, lowStockAt } = before ?? {}
    const kept = {
      ...(barcode === undefined ? {} : { barcode }),
      ...(lowStockAt === undefined ? {} : { lowStockAt }),
    }
    const pet = { ...wanted, ...kept }
    if (before !== undefined && before.quantity !== pet.quantity) {
      this.pets.set(petId, { ...before, status: pet.status })
      this.setQuantity(petId, pet.quantity, by)
    }
    const isOther = before === undefined || !Bun.deepEquals({ ...before, quantity: pet.quantity }, pet)
    if (isOther) this.catalog.put(petId, pet, by)
    this.catalog.tellCrossings(by)
  }

  /** By id ascending. */
  sortedPets(): readonly (readonly [bigint, ModelPet])[] {
    return [...this.pets].sort(([a], [b]) => (a < b ? -1 : 1))
  }

  /** Adds a change to the history. A pet is created from 0 and removed to 0. */
  record(petId: bigint, before: number, after: number, by: ChangedBy): void {
    const { at, id: keyId, name: keyName, ...told } = by
    this.historyOf(petId).push({ before, after, at, keyId, keyName, ...told })
  }
}

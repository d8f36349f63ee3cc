import { expect } from 'bun:test'
import type { AdjustmentChange, CommandOf, Idempotency, Outcome } from '../../src/core/stock/command.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { pet } from './plain-rows.ts'

export interface StockUnderTest {
  /** Creates an empty store each time. */
  create(): Promise<void>
  /** Opens the latest store as another process. */
  open(): Promise<Store>
}

export type KeyedAdjust = CommandOf<'adjust'> & { readonly idempotency: Idempotency<Outcome> | undefined }

export type Step = (shop: ModelShop) => Promise<void>

export const PETS = [1n, 2n, 3n, 2n ** 62n, 2n ** 62n + 1n, -5n]

/** Two processes on one store, and its expected content. */
export class ModelShop {
  readonly stores: Store[] = []
  readonly quantities = new Map<bigint, number>()
  readonly history = new Map<bigint, [before: number, after: number][]>()
  readonly #answers = new Map<string, { fingerprint: string; answer: string }>()
  readonly #database: StockUnderTest
  #cursors: string[] = []
  /** Whether part of the log was removed since the cursor. */
  readonly #isPruned = [false, false]

  constructor(database: StockUnderTest) {
    this.#database = database
  }

  async open(): Promise<void> {
    await this.#database.create()
    for (const _ of [1, 2]) this.stores.push(await this.#database.open())
    const first = PETS.slice(0, 4)
    await addPets(
      this.store(0),
      first.map((id) => pet(id, 0)),
    )
    for (const id of first) this.quantities.set(id, 0)
    for (const store of this.stores) this.#cursors.push(await store.loadStock(() => {}))
  }

  async close(): Promise<void> {
    for (const store of this.stores) await store.close()
  }

  async reopen(index: number): Promise<void> {
    await this.store(index).close()
    this.stores[index] = await this.#database.open()
  }

  store(index: number): Store {
    return this.stores[index] as Store
  }

  record(petId: bigint, quantity: number): void {
    const before = this.quantities.get(petId)
    if (before === undefined || before === quantity) return
    this.quantities.set(petId, quantity)
    this.history.set(petId, [...(this.history.get(petId) ?? []), [before, quantity]])
  }

  /** The expected outcome of an adjustment, computed independently of `decide`. */
  adjust({ changes, idempotency }: KeyedAdjust): unknown {
    const known = this.#answers.get(idempotency?.key ?? '')
    if (idempotency !== undefined && known !== undefined) {
      if (known.fingerprint !== idempotency.fingerprint) return { type: 'key_reused' }
      return { type: 'answered', answer: known.answer, isReplay: true }
    }
    const codes = changes.map((change) => this.#failureOf(change))
    const outcome = codes.every((code) => code === undefined)
      ? { type: 'done', items: changes.map((change) => this.#apply(change)) }
      : {
          type: 'refused',
          failures: changes.flatMap(({ petId: id }, index) =>
            codes[index] === undefined
              ? []
              : [{ index, petId: id, code: codes[index], ...this.#lack(id, codes[index]) }],
          ),
        }
    if (idempotency === undefined) return outcome
    const answer = told(outcome)
    if (!codes.includes('invalid_request'))
      this.#answers.set(idempotency.key, { fingerprint: idempotency.fingerprint, answer })
    return { type: 'answered', answer, isReplay: false }
  }

  #resultOf(change: AdjustmentChange): number {
    return change.delta === undefined
      ? change.quantity
      : (this.quantities.get(change.petId) ?? 0) + change.delta
  }

  #failureOf(change: AdjustmentChange): string | undefined {
    const quantity = this.quantities.get(change.petId)
    if (quantity === undefined) return 'not_found'
    if (change.expected !== undefined && change.expected !== quantity) return 'precondition_failed'
    if (this.#resultOf(change) < 0) return 'insufficient_stock'
    return this.#resultOf(change) > MAX_QUANTITY ? 'invalid_request' : undefined
  }

  #lack(petId: bigint, code: string | undefined) {
    return code === 'insufficient_stock' ? { available: this.quantities.get(petId) } : {}
  }

  #apply(change: AdjustmentChange): unknown {
    const after = this.#resultOf(change)
    this.record(change.petId, after)
    return { petId: change.petId, quantity: after, status: 'available' }
  }

  /** Adopts the store's history, which must be the end of the known one. */
  async forgetHistory(): Promise<void> {
    this.#isPruned.fill(true)
    for (const id of PETS) {
      const known = this.history.get(id) ?? []
      const left = (await historyOf(this.store(0), id)).map(
        ({ before, after }) => [before, after] as [number, number],
      )
      expect(left).toEqual(left.length === 0 ? [] : known.slice(-left.length))
      this.history.set(id, left)
    }
  }

  async check(): Promise<void> {
    const expected = [...this.quantities].sort(([one], [other]) => Number(one - other))
    for (const [index, store] of this.stores.entries()) {
      const items = await stockOf(store)
      expect(items.map(({ petId, quantity }) => [petId, quantity])).toEqual(expected)
      const changes = await store.stockChangesSince(this.#cursors[index] ?? '')
      if (changes === 'reload') {
        expect(this.#isPruned[index]).toBe(true)
        this.#cursors[index] = await store.loadStock(() => {})
        this.#isPruned[index] = false
        continue
      }
      for (const { petId, quantity } of changes.updated)
        expect(quantity).toBe(this.quantities.get(petId) as number)
      for (const petId of changes.removed) expect(this.quantities.has(petId)).toBe(false)
      this.#cursors[index] = changes.cursor
      for (const petId of PETS) {
        const found = (await historyOf(store, petId)).map(({ before, after }) => [before, after])
        expect(found).toEqual(this.history.get(petId) ?? [])
      }
      expect(await store.findDamage()).toEqual([])
    }
  }
}

/** Any outcome as a comparable text. */
export function told(outcome: unknown): string {
  return JSON.stringify(outcome, (name, part: unknown) => {
    if (name === 'message') return undefined
    if (typeof part === 'bigint') return `${part}n`
    return isRecord(part) ? sortedByName(part) : part
  })
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sortedByName(record: object): object {
  return Object.fromEntries(Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1)))
}

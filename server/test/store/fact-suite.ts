import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Adjustment, AdjustmentFilter } from '../../src/core/stock/adjustment.ts'
import type { CommandOf, OutcomeOf } from '../../src/core/stock/command.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/values/clock.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { createOrder, orderCommand, orderIn } from '../support/orders.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const NOW = 1_790_000_000_000
const PETS = [1n, 2n, 3n]
const BY = { keyId: 'key_a', at: NOW }

const move = (
  delta: number,
  more: Partial<CommandOf<'adjust'>> = {},
  petIds: readonly bigint[] = [1n],
): CommandOf<'adjust'> => ({
  type: 'adjust',
  changes: petIds.map((petId) => ({ petId, delta })),
  ...BY,
  reason: 'received',
  ...more,
})

function documentIn(outcome: OutcomeOf<'adjust'> | OutcomeOf<'reverse'> | undefined) {
  if (outcome?.type !== 'done') throw new Error(`not recorded: ${Bun.inspect(outcome)}`)
  return outcome.document
}

/** The guarantees of every adapter for adjustments and their reversals. */
export function factSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: facts`, () => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await underTest.open(() => NOW)
      other = await underTest.open(() => NOW)
      const at = NOW - 20 * DAY
      await store.changeStock([{ type: 'create_category', category: { id: 1n, name: 'Dogs' }, ...BY, at }])
      await store.changeStock(
        PETS.map((id) => ({ type: 'create_pet', pet: pet(id, 10), ...BY, at }) as const),
      )
    })
    afterEach(async () => {
      await store.close()
      await other.close()
      await underTest.discard()
    })

    const adjust = async (command: CommandOf<'adjust'>) => documentIn((await store.changeStock([command]))[0])
    async function found(id: bigint): Promise<Adjustment> {
      const adjustment = await other.findAdjustment(id)
      if (adjustment === undefined) throw new Error(`there is no adjustment ${id}`)
      return adjustment
    }
    async function reverse(id: bigint, more: Partial<CommandOf<'reverse'>> = {}) {
      const command = {
        type: 'reverse',
        reason: 'correction',
        adjustment: await found(id),
        ...BY,
        ...more,
      } as const
      const [outcome] = await store.changeStock([command])
      return outcome
    }
    async function idsOf(filter: AdjustmentFilter, limit = 100): Promise<bigint[]> {
      const ids: bigint[] = []
      let cursor: string | undefined
      do {
        const page = await store.listAdjustments(limit, cursor, filter)
        expect(page.rows.length).toBeLessThanOrEqual(limit)
        ids.push(...page.rows.map(({ id }) => id))
        cursor = page.next
      } while (cursor !== undefined)
      return ids
    }

    test('an adjustment is found with its lines, and with what was reversed of each', async () => {
      const sale = move(-3, { reason: 'sold', reference: 'R', note: 'N', occurredAt: NOW - HOUR }, PETS)
      const { id } = await adjust(sale)
      const first = documentIn(await reverse(id, { lines: [{ petId: 2n, quantity: 1 }] }))
      const second = documentIn(
        await reverse(id, { reason: 'returned', lines: [{ petId: 2n, quantity: 2 }] }),
      )
      const line = (petId: bigint, reversed: number) => ({
        petId,
        before: 10,
        after: 7,
        delta: -3,
        effect: 'applied' as const,
        reversed,
      })
      expect(await found(id)).toEqual({
        id,
        reason: 'sold',
        reference: 'R',
        note: 'N',
        occurredAt: NOW - HOUR,
        recordedAt: NOW,
        keyId: 'key_a',
        reversedBy: [first.id, second.id],
        lines: [line(1n, 0), line(2n, 3), line(3n, 0)],
      })
      expect(await found(second.id)).toMatchObject({ reverses: id, reason: 'returned', reference: 'R' })
      expect(await store.findAdjustment(id + 1n)).toBeUndefined()
      expect(await store.findAdjustment(404n)).toBeUndefined()
    })

    test('a count, also one that is superseded, is found as such, and is reversed as a whole', async () => {
      const { id } = await adjust(change(1n, 8, BY))
      const late = { ...change(1n, 5, BY), occurredAt: NOW - DAY }
      const { id: superseded } = await adjust(late)
      expect((await found(superseded)).lines).toMatchObject([{ counted: 5, effect: 'superseded', after: 8 }])
      expect(await reverse(id)).toMatchObject({ items: [{ quantity: 5 }] })
      expect((await found(id)).lines).toMatchObject([{ counted: 8, delta: -2, reversed: 1 }])
      expect(await reverse(id)).toMatchObject({ type: 'already_reversed' })
      expect(await reverse(superseded)).toMatchObject({ items: [{ quantity: 10 }] })
      expect(await store.findDamage()).toEqual([])
    })

    test('a pet that is created again has no facts from before its removal, even if they are later', async () => {
      await adjust({ ...change(1n, 50, BY), occurredAt: NOW + 4 * MINUTE })
      await adjust(move(7, { occurredAt: NOW + 4 * MINUTE }))
      await store.changeStock([
        { type: 'remove_pet', petId: 1n, ...BY },
        { type: 'create_pet', pet: pet(1n, 3), ...BY },
      ])
      await adjust(move(-1))
      const { id } = await adjust(change(1n, 9, BY))
      expect(await reverse(id)).toMatchObject({ items: [{ quantity: 2 }] })
      await adjust(move(1, { occurredAt: NOW + 2 }))
      const late = await adjust({ ...change(1n, 20, BY), occurredAt: NOW + 1 })
      expect(late.lines).toMatchObject([{ after: 21 }])
      expect(await store.findDamage()).toEqual([])
    })

    test('a count can be reversed although the clock was set back by a day', async () => {
      await adjust(change(1n, 8, BY))
      await adjust({ ...move(2), at: NOW - DAY })
      const { id } = await adjust({ ...change(1n, 5, BY), at: NOW - DAY + HOUR })
      await adjust({ ...move(3), at: NOW - DAY + 2 * HOUR })
      expect(await reverse(id, { at: NOW - DAY + 3 * HOUR })).toMatchObject({ items: [{ quantity: 13 }] })
      expect(await store.findDamage()).toEqual([])
    })

    test('movements that a count includes may exceed every quantity', async () => {
      const { id } = await adjust(change(1n, 8, BY))
      const received = move(MAX_QUANTITY, { occurredAt: NOW - 2 * DAY })
      for (let commit = 0; commit < 2; commit++) {
        await store.changeStock(Array.from({ length: 600 }, () => received))
      }
      const late = await adjust({ ...change(1n, 5, BY), occurredAt: NOW - 3 * DAY })
      expect(late.lines).toMatchObject([{ effect: 'superseded' }])
      expect(await reverse(id)).toMatchObject({ type: 'refused', failures: [{ code: 'invalid_request' }] })
      expect(await store.findDamage()).toEqual([])
    })

    test('a page of adjustments has few lines, and the next page continues', async () => {
      const ids = Array.from({ length: 1_000 }, (_, index) => BigInt(index + 100))
      await store.changeStock([
        { type: 'upsert_pets', canChangeStock: true, pets: ids.map((id) => pet(id, 0)), ...BY },
      ])
      const made: bigint[] = []
      for (let number = 0; number < 7; number++) made.unshift((await adjust(move(1, {}, ids))).id)
      const filter = { petId: 100n, reason: 'received' } as const
      for (const listed of [filter, { reason: 'received' } as const]) {
        const { rows, next } = await store.listAdjustments(7, undefined, listed)
        expect(rows.map(({ id }) => id)).toEqual(made.slice(0, 5))
        const last = await store.listAdjustments(7, next, listed)
        expect(last.rows.map(({ id, lines }) => [id, lines.length])).toEqual(
          made.slice(5).map((id) => [id, 1_000]),
        )
      }
    })

    test('adjustments are listed by each filter, the latest first, page by page', async () => {
      const order = orderIn((await store.changeStock([createOrder([3n, 2])]))[0])
      const orderId = order.id
      const at = NOW + 10
      const received = await adjust(move(5, { reference: 'PO', keyId: 'key_b', at }, [1n, 2n]))
      await store.changeStock([orderCommand('complete_order', order, { at: at + 10 })])
      const [sold = 0n] = await idsOf({ orderId })
      const back = documentIn(await reverse(sold, { reason: 'returned', at: at + 20 }))
      expect(await idsOf({ since: NOW })).toEqual([back.id, sold, received.id])
      expect(await idsOf({ since: NOW }, 1)).toEqual([back.id, sold, received.id])
      const created = (await idsOf({ until: NOW })).toReversed()
      expect(created).toHaveLength(3)
      expect(await idsOf({ since: at, until: at + 20 })).toEqual([sold, received.id])
      expect(await idsOf({ petId: 2n }, 1)).toEqual([received.id, created[1] ?? 0n])
      expect(await idsOf({ reason: 'received' })).toEqual([received.id])
      expect(await idsOf({ keyId: 'key_b' })).toEqual([received.id])
      expect(await idsOf({ reference: 'PO' })).toEqual([received.id])
      expect(await idsOf({ orderId }, 1)).toEqual([back.id, sold])
      expect(await idsOf({ orderId, petId: 3n, since: at + 20 })).toEqual([back.id])
      expect(await idsOf({ orderId, petId: 2n })).toEqual([])
    })

    test('the lines of an adjustment of 1,000 pets follow each other, beside other commits', async () => {
      const ids = Array.from({ length: 1_000 }, (_, index) => BigInt(index + 1_000))
      await addPets(
        store,
        ids.map((id) => pet(id, 0)),
      )
      const [outcomes] = await Promise.all([
        store.changeStock([move(1, {}, ids)]),
        ...Array.from({ length: 5 }, () => other.changeStock([move(1)])),
      ])
      const { lines } = await found(documentIn(outcomes[0]).id)
      expect(lines.map(({ petId }) => petId)).toEqual(ids)
    })

    test('earlier facts are read under the locks, so late counts lose no movement of another process', async () => {
      const stores = [store, other]
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => {
          const occurredAt = NOW - (index % 7) * HOUR
          const command = index % 4 === 0 ? { ...change(1n, 50, BY), occurredAt } : move(1, { occurredAt })
          return stores[index % 2]?.changeStock([command])
        }),
      )
      expect(await store.findDamage()).toEqual([])
    })

    test('what happened before the history that is left is too late, and so is the count before it', async () => {
      const { id } = await adjust(change(1n, 8, BY))
      await store.pruneHistory({ before: NOW - DAY }, 1_000)
      expect((await store.changeStock([move(1, { occurredAt: NOW - 2 * DAY })]))[0]).toMatchObject({
        type: 'too_late',
      })
      expect(await reverse(id)).toMatchObject({ type: 'too_late' })
      expect(await store.findDamage()).toEqual([])
    })

    test('a count that was pruned is not needed for movements, late or reversed', async () => {
      await adjust(move(1))
      const { id } = await adjust(move(4))
      await store.pruneHistory({ before: NOW - DAY }, 1_000)
      expect(await reverse(id)).toMatchObject({ items: [{ quantity: 11 }] })
      expect(await store.findDamage()).toEqual([])
    })
  })
}

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DEFAULT_PERMISSIONS } from '../../src/core/keys/api-key.ts'
import { ORDER_STATES } from '../../src/core/orders/order.ts'
import type { SubmittedCommand } from '../../src/core/stock/command.ts'
import { copyStore } from '../../src/core/transfer/copy.ts'
import { SKIPPED_ID_COUNT } from '../../src/store/generated-ids.ts'
import { ledgerStore, saveStatements } from '../../src/store/limits.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { auditOf, operatorOf } from '../support/operator.ts'
import { addOrders, createOrder, createOrderWith, orderCommand, orderIn } from '../support/orders.ts'
import { removePet } from '../support/remove-pet.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { bannedState } from './limit-records.ts'
import { change } from './plain-rows.ts'
import { analyze, type StoreUnderTest } from './store-under-test.ts'

const NOW = 1_790_000_000_000
const HIGHEST = 9223372036854775807n
const QUIET = { signal: new AbortController().signal, onProgress: () => {} }

/** A little of everything that a store can contain. */
const ADJUSTMENT: SubmittedCommand = {
  type: 'adjust',
  keyId: 'key_a',
  at: NOW,
  reason: 'lost',
  reference: 'note "7"',
  changes: [{ petId: 1n, delta: -1 }],
  idempotency: { key: 'once', fingerprint: 'f', answer: () => 'an answer' },
}

async function fill(store: Store): Promise<void> {
  await addPets(
    store,
    Array.from({ length: 6_000 }, (_, index) => ({
      id: BigInt(index) - 3_000n,
      name: `Pet "${index}", ключ 🐶 \\ {}`,
      categoryId: HIGHEST,
      status: (['available', 'pending', 'sold'] as const)[index % 3] ?? 'sold',
      quantity: index % 2 === 0 ? index : Number.MAX_SAFE_INTEGER,
    })),
  )
  await store.changeStock([
    change(1n, 77, { at: NOW }),
    change(1n, 78, { at: NOW + 1 }),
    change(2n, 79, { keyId: 'key_b', at: NOW + 2 }),
  ])
  await store.changeStock([ADJUSTMENT])
  await removePet(store, 2n)
  // Added again, its quantity differs from its history.
  await store.changeStock([change(3n, 80, { keyId: 'key_b', at: NOW + 3 })])
  await removePet(store, 3n)
  await addPets(store, [{ id: 3n, name: 'Back', categoryId: 1n, status: 'sold', quantity: 5 }])
  await addOrders(store, [{ id: HIGHEST, petId: -1n, quantity: 3, shipDate: NOW, complete: true }])
  const [, , cancelled] = await store.changeStock([
    createOrder([1n, 7], [4n, 1]),
    createOrderWith(
      {
        holdSeconds: 2_592_000,
        shipDate: NOW + 9,
        customer: 'Zoë "Z"',
        note: 'two\nlines',
        reference: 'cart 8',
        metadata: '{"a":"b"}',
      },
      [1n, 7],
      [4n, 1],
    ),
    createOrder([1n, 7]),
  ])
  await store.changeStock([orderCommand('cancel_order', orderIn(cancelled))])
  // Pet 3 does not have the threshold yet.
  await store.changeStock([
    { type: 'update_category', keyId: 'key_a', at: NOW, categoryId: 1n, patch: { lowStockAt: 9 } },
  ])
  const act = { at: NOW, actor: 'anna' }
  const key = { name: 'Shop', plan: 'pro', permissions: DEFAULT_PERMISSIONS, createdAt: NOW } as const
  const limits = { perMinute: 300, perDay: 10_000 }
  await operatorOf(store).addKey(
    { ...key, id: 'key_b', limits },
    { hash: 'b', hint: 'b…', createdAt: NOW },
    act,
  )
  await operatorOf(store).addKey(
    { ...key, id: 'key_a', limits, permissions: [] },
    { hash: 'a', hint: 'a…', createdAt: NOW },
    act,
  )
  await operatorOf(store).rotateKey('key_a', { hash: 'a2', hint: 'a2…', createdAt: NOW + 1 }, NOW + 9, act)
  await operatorOf(store).revokeKey('key_b', act)
}

async function everything(store: Store): Promise<unknown> {
  return {
    inventory: await stockOf(store),
    histories: await Promise.all([1n, 2n, 3n].map((petId) => historyOf(store, petId))),
    available: await store.findAvailability(1n),
    orders: await Promise.all(ORDER_STATES.map((state) => store.listOrders({ state }, 99))),
    keys: await store.listKeys(),
    found: [await store.findKey('a'), await store.findKey('a2'), await store.findKey('b')],
    acts: [await auditOf(store, 'key_a'), await auditOf(store, 'key_b')],
    unappliedThresholds: await store.unappliedThresholds(),
    damage: await store.findDamage(),
  }
}

/** The guarantees of every adapter for copying a store in either direction. */
export function contentsSuite(name: string, from: StoreUnderTest, to: StoreUnderTest): void {
  describe(`${name}: copy`, () => {
    let source: Store
    let target: Store
    beforeEach(async () => {
      source = await from.open()
      target = await to.open()
    })
    afterEach(async () => {
      await source.close()
      await target.close()
      await from.discard()
      await to.discard()
    })

    test('copies everything, and continues where the source ended', async () => {
      await fill(source)
      const banned = bannedState(NOW)
      const sourceDatabase = await from.connect()
      await sourceDatabase.commit(saveStatements(new Map([['key_a', banned]])))
      await sourceDatabase.close()
      const { counts, tag } = await copyStore(source, target, QUIET)
      expect(counts).toMatchObject({
        pets: 5_999,
        stock: 5_999,
        orders: 4,
        order_lines: 6,
        log: 6_016,
        keys: 2,
        key_secrets: 3,
        limit_windows: 1,
      })
      expect(tag).toStartWith((5_999).toString(36))
      await Promise.all([from, to].map(analyze))
      expect(await everything(target)).toEqual(await everything(source))
      const targetDatabase = await to.connect()
      expect(await ledgerStore(targetDatabase).loadLimits()).toEqual(new Map([['key_a', banned]]))
      await targetDatabase.close()
      expect(await historyOf(target, 1n)).toContainEqual(
        expect.objectContaining({ reason: 'lost', reference: 'note "7"' }),
      )
      expect(await target.changeStock([ADJUSTMENT])).toEqual([{ type: 'replayed', answer: 'an answer' }])
      await target.changeStock([change(1n, 80, { at: NOW + 5 })])
      expect((await historyOf(target, 1n)).map(({ after }) => after)).toEqual([77, 78, 77, 80])
      expect(await everything(target)).toMatchObject({ available: { quantity: 80, reserved: 14 } })
      expect(await target.changeStock([createOrder([1n, 1])])).toMatchObject([{ order: { id: 4n } }])
    })

    test('neither a copy nor a new identity assigns the id of a removed record again', async () => {
      const by = { keyId: 'key_a', at: NOW }
      const newPet = {
        type: 'create_pet',
        ...by,
        pet: { name: 'New', categoryId: 1n, status: 'sold', quantity: 1 },
      } as const
      const newCategory = { type: 'create_category' as const, ...by, category: { name: 'New' } }
      await addPets(source, [{ id: 1n, name: 'First', categoryId: 1n, status: 'sold', quantity: 5 }])
      expect(await source.changeStock([newPet, newCategory])).toMatchObject([
        { pet: { id: 2n } },
        { category: { id: 2n } },
      ])
      await removePet(source, 2n)
      await source.changeStock([{ type: 'remove_category', ...by, categoryId: 2n }])
      await copyStore(source, target, QUIET)
      expect(await target.changeStock([newPet, newCategory])).toMatchObject([
        { pet: { id: 3n } },
        { category: { id: 3n } },
      ])
      // The original of a restored dump may have assigned more ids.
      await source.renewIdentity()
      expect(await source.changeStock([newPet, newCategory])).toMatchObject([
        { pet: { id: 3n + BigInt(SKIPPED_ID_COUNT) } },
        { category: { id: 3n + BigInt(SKIPPED_ID_COUNT) } },
      ])
    })

    test('a copy of a store without history gives no id of a removed pet or of a pruned log row again', async () => {
      const by = { keyId: 'key_a', at: NOW }
      await source.changeStock([{ type: 'create_category', ...by, category: { id: 1n, name: 'All' } }])
      const pet = (id: bigint) =>
        ({ id, name: `Pet ${id}`, categoryId: 1n, status: 'sold', quantity: 5 }) as const
      await source.changeStock([1n, 2n, 3n, 4n].map((id) => ({ type: 'create_pet', ...by, pet: pet(id) })))
      await removePet(source, 4n)
      await source.pruneHistory({ keep: 0 }, 100)
      await copyStore(source, target, QUIET)
      const { id: _, ...newPet } = pet(9n)
      expect(await target.changeStock([{ type: 'create_pet', ...by, pet: newPet }])).toMatchObject([
        { pet: { id: 5n } },
      ])
      await target.changeStock([
        change(3n, 50, by),
        { type: 'update_pet', ...by, petId: 2n, patch: { name: 'Renamed' } },
      ])
      expect(await target.listHistoryPage(1n, 9, undefined)).toMatchObject({ rows: [] })
      expect(await target.listHistoryPage(2n, 9, undefined)).toMatchObject({ rows: [] })
      expect(await target.listHistoryPage(3n, 9, undefined)).toMatchObject({ rows: [{ after: 50 }] })
    })

    test('refuses a store that is not empty, and leaves it unchanged', async () => {
      await fill(source)
      await addOrders(target, [{ id: 1n, petId: 1n, quantity: 1, shipDate: 1, complete: true }])
      await expect(copyStore(source, target, QUIET)).rejects.toThrow('not empty: it has 1 rows of orders')
      expect(await target.countPets()).toBe(0)
    })

    test('if aborted, it has written nothing', async () => {
      await fill(source)
      const controller = new AbortController()
      const given = { signal: controller.signal, onProgress: () => controller.abort() }
      await expect(copyStore(source, target, given)).rejects.toThrow('abort')
      expect(Object.values(await target.countContents()).every((rows) => rows === 0)).toBe(true)
    })
  })
}

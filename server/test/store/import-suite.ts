import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { csvText } from '../../src/core/transfer/files.ts'
import {
  type ImportedFile,
  type ImportReport,
  type ImportRequest,
  KeyUsed,
} from '../../src/core/transfer/import.ts'
import { CATEGORY_ROW_KIND, ORDER_ROW_KIND, PET_ROW_KIND } from '../../src/core/transfer/rows.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { exportedRows } from '../support/exported-rows.ts'
import { importText } from '../support/import-text.ts'
import { createOrder, createOrderWith, orderCommand, orderIn } from '../support/orders.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { analyze, type StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const HEADER = 'petId,name,categoryId,status,quantity,barcode,lowStockAt'

const pet = (id: bigint, changes: Partial<StockedPet> = {}): StockedPet => ({
  id,
  name: `Pet ${id}`,
  categoryId: 1n,
  status: 'available',
  quantity: 5,
  ...changes,
})

/** The guarantees of every adapter for imports and exports. */
export function importSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: import and export`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    const imported = (
      lines: readonly string[],
      { kind = 'pets', ...options }: Partial<ImportRequest & ImportedFile> = {},
    ) => importText(store, kind, lines.join('\n'), options)
    const refusedLines = async (importing: Promise<ImportReport>) => {
      const error: unknown = await importing.catch((thrown: unknown) => thrown)
      return (error as { refused: { line: number; reason: string }[] }).refused.map(
        ({ line, reason }) => [line, reason] as const,
      )
    }
    const pets = async () => (await exportedRows(store, 'pets')).map(({ category: _, ...row }) => row)
    const exports = async () => [
      csvText(await exportedRows(store, 'categories'), CATEGORY_ROW_KIND),
      csvText(await exportedRows(store, 'pets'), PET_ROW_KIND),
      csvText(await exportedRows(store, 'orders'), ORDER_ROW_KIND),
    ]

    test('adds new pets, changes those that differ, and logs the changes', async () => {
      await addPets(store, [pet(1n, { barcode: 'A' }), pet(2n), pet(3n)])
      const lines = [
        HEADER,
        `${HIGHEST},ключ 🐶,${LOWEST},sold,0,,`,
        '2,Pet 2,1,available,6,,',
        '3,Pet 3,1,available,5,,',
        '1,Rex,1,available,5,A,3',
      ]
      expect(await imported(lines)).toEqual({
        rows: 4,
        added: 1,
        changed: 2,
        unchanged: 1,
        ignoredColumns: [],
      })
      expect(await pets()).toEqual([
        pet(1n, { name: 'Rex', barcode: 'A', lowStockAt: 3 }),
        pet(2n, { quantity: 6 }),
        pet(3n),
        { id: HIGHEST, name: 'ключ 🐶', categoryId: LOWEST, status: 'sold', quantity: 0 },
      ])
      expect(await historyOf(store, 2n)).toMatchObject([
        { before: 5, after: 6, keyId: 'petstore-import', reason: 'corrected' },
      ])
      const cursor = await store.latestEventCursor()
      expect(await imported(lines)).toMatchObject({ added: 0, changed: 0, unchanged: 4 })
      expect(await store.eventsAfter(cursor, 9)).toMatchObject({ events: [] })
    })

    test('a column that the file lacks keeps its values, and a blank barcode or threshold is removed', async () => {
      await addPets(store, [pet(1n, { barcode: 'A', lowStockAt: 2 }), pet(2n, { barcode: 'B' })])
      await imported(['petId,name,barcode', '1,Rex,', '2,Max,C'])
      expect(await pets()).toEqual([
        pet(1n, { name: 'Rex', lowStockAt: 2 }),
        pet(2n, { name: 'Max', barcode: 'C' }),
      ])
    })

    test('a row without an id changes the pet that has its barcode, or else creates a pet', async () => {
      await addPets(store, [pet(7n, { barcode: '4006381333931' })])
      const report = await imported([
        'EAN;Bestand;Name;Kategorie',
        '4006381333931;9;;',
        '99;2;New;Fish',
        ';1;Bare;fish',
      ])
      expect(report).toMatchObject({ added: 2, changed: 1 })
      expect(await pets()).toEqual([
        pet(7n, { barcode: '4006381333931', quantity: 9 }),
        { ...pet(8n, { name: 'New', barcode: '99', quantity: 2 }), categoryId: 2n },
        { ...pet(9n, { name: 'Bare', quantity: 1 }), categoryId: 2n },
      ])
      expect((await exportedRows(store, 'categories')).map((category) => category.name)).toEqual([
        'Category 1',
        'Fish',
      ])
    })

    test('pets may swap barcodes, also if they are thousands of rows apart', async () => {
      const count = 2_500
      await addPets(
        store,
        Array.from({ length: count }, (_, index) => pet(BigInt(index + 1), { barcode: `B${index + 1}` })),
      )
      const rows = Array.from({ length: count }, (_, index) => `${index + 1},B${count - index}`)
      expect(await imported(['petId,barcode', ...rows])).toMatchObject({ changed: count })
      expect((await pets()).map(({ barcode }) => barcode)).toEqual(
        Array.from({ length: count }, (_, index) => `B${count - index}`),
      )
    })

    test('each refused row is named with its reason, and nothing is changed', async () => {
      await addPets(store, [pet(1n, { barcode: 'A' }), pet(2n)])
      const before = await exports()
      const contradicting = imported([
        HEADER,
        '3,C,1,available,1,C,',
        '4,D,1,available,1,C,',
        '3,E,1,available,1,,',
      ])
      expect(await refusedLines(contradicting)).toEqual([
        [3, 'barcode C is already on line 2'],
        [4, 'pet 3 is already on line 2'],
      ])
      const missing = 'and a new pet needs a name and a categoryId'
      const refused = imported(['petId,name,categoryId,barcode', '2,Rex,,A', '3,,,', '4,Max,,B'])
      expect(await refusedLines(refused)).toEqual([
        [2, 'barcode A is already used by pet 1'],
        [3, `name and categoryId are missing: there is no pet 3, ${missing}`],
        [4, `categoryId is missing: there is no pet 4, ${missing}`],
      ])
      expect(await exports()).toEqual(before)
    })

    test('a dry run refuses and counts as the import would, and changes nothing', async () => {
      await addPets(store, [pet(1n)])
      const before = await exports()
      const lines = [HEADER, '1,Rex,1,available,6,,', '2,Max,9,sold,0,,']
      expect(await imported(lines, { dryRun: true })).toMatchObject({ added: 1, changed: 1 })
      expect(await exports()).toEqual(before)
      expect(await refusedLines(imported([HEADER, '2,,,,0,,'], { dryRun: true }))).toHaveLength(1)
      expect(await imported(lines)).toMatchObject({ added: 1, changed: 1 })
    })

    test('an import that is aborted between two steps changes nothing, and others can write', async () => {
      const rows = Array.from({ length: 3_000 }, (_, index) => `${index + 1},Pet,1,available,5,,`)
      const onStep = (phase: string, written: number) => {
        if (phase === 'writing' && written >= 2_000) throw new Error('aborted')
      }
      await expect(imported([HEADER, ...rows], { onStep })).rejects.toThrow('aborted')
      expect(await pets()).toEqual([])
      await addPets(store, [pet(1n)])
    })

    test('without the permission to change the stock, only rows that keep it are imported', async () => {
      await addPets(store, [pet(1n), pet(2n)])
      const lines = [HEADER, '1,Rex,1,available,5,,', '2,Pet 2,1,available,6,,']
      expect(await refusedLines(imported(lines, { canChangeStock: false }))).toEqual([
        [3, 'this key may not change the stock: it needs the permission "stock"'],
      ])
      expect(await imported(lines.slice(0, 2), { canChangeStock: false })).toMatchObject({ changed: 1 })
    })

    test('a count finds pets by id or barcode, and has the reason counted', async () => {
      await addPets(store, [pet(1n), pet(2n, { barcode: 'B' }), pet(3n)])
      const counted = (...lines: string[]) => imported(['petId,EAN,quantity', ...lines], { kind: 'count' })
      expect(await counted('1,,6', ',B,0', '3,,5')).toMatchObject({ added: 0, changed: 2, unchanged: 1 })
      expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([6, 0, 5])
      expect((await historyOf(store, 1n)).at(-1)).toMatchObject({ after: 6, reason: 'counted' })
      expect(await refusedLines(counted(',X,1', ',,1', '1,,1', '1,,2'))).toEqual([
        [2, 'no pet has the barcode X'],
        [3, 'petId or barcode must name the pet'],
        [5, 'pet 1 is already on line 4'],
      ])
      expect(await refusedLines(counted('404,,1', '1,,9'))).toEqual([[2, 'there is no pet 404']])
      expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([6, 0, 5])
    })

    test('categories are found by id or name, and a new threshold reaches their pets', async () => {
      await addPets(store, [pet(1n), pet(2n, { categoryId: 2n })])
      const cursor = await store.latestEventCursor()
      const report = await imported(['id,name,lowStockAt', '1,Dogs,5', ',category 2,', ',Birds,3'], {
        kind: 'categories',
      })
      expect(report).toMatchObject({ added: 1, changed: 2, unchanged: 0 })
      expect(await exportedRows(store, 'categories')).toEqual([
        { id: 1n, name: 'Dogs', lowStockAt: 5 },
        { id: 2n, name: 'category 2' },
        { id: 3n, name: 'Birds', lowStockAt: 3 },
      ])
      expect(await store.eventsAfter(cursor, 9)).toMatchObject({
        events: [
          { kind: 'category' },
          { kind: 'category' },
          { kind: 'category' },
          { kind: 'low', petId: 1n },
        ],
      })
      const taken = await refusedLines(imported(['id,name', '9,dogs'], { kind: 'categories' }))
      expect(taken).toMatchObject([[2, expect.stringContaining('category 1 is already called "Dogs"')]])
    })

    test('orders are created, completed and refused in the order of their ids', async () => {
      await addPets(store, [pet(1n)])
      const orders = (...lines: string[]) =>
        imported(['id,petId,quantity,complete,note', ...lines], { kind: 'orders' })
      expect(await orders('12,1,2,false,', '7,404,3,true,old')).toMatchObject({ added: 2, changed: 0 })
      expect(await store.findAvailability(1n)).toMatchObject({ quantity: 5, reserved: 2 })
      expect(await orders('12,1,2,true,paid', '7,404,3,true,old')).toMatchObject({ changed: 1, unchanged: 1 })
      expect(await store.findAvailability(1n)).toMatchObject({ quantity: 3, reserved: 0 })
      expect(await refusedLines(orders('14,1,2,false,', '13,1,2,false,', '12,1,2,false,'))).toEqual([
        [2, 'an open order reserves stock: petId 1 has 1 available unit, so 2 cannot be ordered'],
        [4, 'order 12 is complete and cannot be reopened'],
      ])
      const [created] = await store.changeStock([createOrder([1n, 1])])
      expect(orderIn(created).id).toBeGreaterThan(12n)
    })

    test('rows with one id are the lines of an order, wherever they stand, and replace its lines', async () => {
      await addPets(store, [pet(1n), pet(2n), pet(3n)])
      const orders = (...lines: string[]) =>
        imported(['id,petId,quantity,complete', ...lines], { kind: 'orders' })
      const reserved = async () =>
        (await store.listAvailability([1n, 2n, 3n])).map(({ reserved: units }) => units)
      expect(await orders('7,2,1,false', '8,3,5,false', '7,1,2,false')).toMatchObject({ rows: 3, added: 3 })
      expect([await store.findOrder(7n), await reserved()]).toMatchObject([
        { lines: [{ petId: 1n, quantity: 2 }, { petId: 2n }] },
        [2, 1, 5],
      ])
      expect(await orders('8,1,3,false', '7,1,2,false', '7,2,1,false')).toMatchObject({
        changed: 1,
        unchanged: 2,
      })
      expect(await reserved()).toEqual([5, 1, 0])
      expect(await refusedLines(orders('7,1,2,true', '7,3,1,true'))).toEqual([
        [
          2,
          expect.stringContaining(
            'order 7 has 2 of pet 1, 1 of pet 2; a complete order must have the same lines',
          ),
        ],
      ])
      expect(await orders('7,1,2,true', '7,2,1,true')).toMatchObject({ changed: 2 })
      expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([3, 4, 5])
    })

    test('an order whose rows contradict each other is refused, with all others', async () => {
      await addPets(store, [pet(1n), pet(2n)])
      const hundred = Array.from({ length: 101 }, (_, index) => `9,${index},1,true,Ben`)
      const rows = ['7,1,1,false,Ada', '7,2,1,false,Ben', '8,1,1,true,', '8,1,2,true,', ...hundred]
      const lines = ['id,petId,quantity,complete,customer', ...rows]
      expect(await refusedLines(imported(lines, { kind: 'orders' }))).toEqual([
        [3, 'customer of order 7 differs from line 2; all rows of an order have the same'],
        [5, 'order 8 with pet 1 is already on line 4'],
        [106, 'order 9 has more than 100 lines'],
      ])
      expect(await store.listOrders({}, 9)).toEqual([])
    })

    test('an export imported into an empty store and exported again is identical', async () => {
      await addPets(store, [
        pet(LOWEST, { name: '=1+1', barcode: '00012', lowStockAt: 0 }),
        pet(1n, { name: 'a; "b", c', status: 'sold' }),
        pet(2n),
        pet(HIGHEST, { categoryId: LOWEST, quantity: Number.MAX_SAFE_INTEGER }),
      ])
      await imported(['id,petId,quantity,complete', '9,404,1,true', '9,1,2,true'], { kind: 'orders' })
      const details = {
        customer: 'Zoë',
        note: 'a\nb',
        reference: '=1+1',
        metadata: '{"a":"b, c"}',
        shipDate: 5,
      }
      const held = { ...details, holdSeconds: 86_400 }
      const [sold, cancelled] = await store.changeStock([
        createOrderWith(details, [2n, 1], [1n, 2]),
        createOrder([2n, 1]),
        createOrderWith(held, [HIGHEST, 7], [1n, 1], [2n, 1]),
      ])
      await store.changeStock([
        orderCommand('complete_order', orderIn(sold)),
        orderCommand('cancel_order', orderIn(cancelled)),
      ])
      const rowsOfSale = (await exportedRows(store, 'orders')).filter(({ id }) => id === orderIn(sold).id)
      expect(rowsOfSale.map(({ petId }) => petId)).toEqual([1n, 2n])
      const files = await exports()
      await store.close()
      await underTest.discard()
      store = await underTest.open()
      for (const [index, kind] of (['categories', 'pets', 'orders'] as const).entries()) {
        await imported([files[index] ?? ''], { kind })
      }
      expect(await exports()).toEqual(files)
    })

    test('of imports with one idempotency key at once, one creates the pets, and the others get its answer', async () => {
      const idempotency = {
        key: 'k',
        fingerprint: 'f',
        answer: ([report]: readonly ImportReport[]) => `${report?.added} added`,
      }
      const results = await Promise.all(
        Array.from({ length: 4 }, () =>
          imported(['name,categoryId', 'Rex,1', 'Max,1'], { idempotency }).catch((error: unknown) => error),
        ),
      )
      const answer = { type: 'replayed', answer: '2 added' } as const
      expect(results.filter((result) => result instanceof KeyUsed).map((used) => used.answer)).toEqual(
        Array.from({ length: 3 }, () => answer),
      )
      expect(await pets()).toHaveLength(2)
      await expect(imported(['petId'], { idempotency })).rejects.toMatchObject({ answer })
      const other = { idempotency: { ...idempotency, fingerprint: 'other' } }
      await expect(imported(['petId'], other)).rejects.toMatchObject({ answer: { type: 'key_reused' } })
    })

    test('changes of other callers during an import are neither lost nor overwritten', async () => {
      const count = 4_000
      await addPets(store, [pet(0n), ...Array.from({ length: count }, (_, index) => pet(BigInt(index + 1)))])
      let isOver = false
      let sold = 0
      const selling = (async () => {
        while (!isOver) {
          const sale = { type: 'adjust', keyId: 'key_a', at: 1, changes: [{ petId: 0n, delta: 1 }] } as const
          const [outcome] = await store.changeStock([sale])
          expect(outcome.type).toBe('done')
          sold++
          await Bun.sleep(1)
        }
      })()
      const rows = Array.from({ length: count }, (_, index) => `${index + 1},7`)
      await imported(['petId,quantity', ...rows], { kind: 'count' })
      isOver = true
      await selling
      const [first, ...others] = (await stockOf(store)).map(({ quantity }) => quantity)
      expect(first).toBe(5 + sold)
      expect(new Set(others)).toEqual(new Set([7]))
      await analyze(underTest)
      expect(await store.findDamage()).toEqual([])
    })
  })
}

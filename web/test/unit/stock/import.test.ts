import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PetstoreClient, stringify } from '@petstore/client'
import { TestService } from '../../../../server/test/support/test-service.ts'
import { Categories } from '../../../src/staff-page/data/catalog/categories.ts'
import { LiveChanges } from '../../../src/staff-page/data/history/live-changes.ts'
import { OwnChanges } from '../../../src/staff-page/data/stock/own-request.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import {
  costWords,
  type ImportPlan,
  type KnownPet,
  planImport,
  requestsOf,
} from '../../../src/staff-page/import/import-plan.ts'
import { lineWords } from '../../../src/staff-page/import/import-preview.tsx'
import { ImportRun } from '../../../src/staff-page/import/import-run.ts'
import { type PetFile, readPetFile } from '../../../src/staff-page/import/pet-file.ts'
import { fillStock } from '../../support/desk.ts'

const HEADER = 'petId,name,categoryId,status,quantity'
const read = (text: string) => readPetFile('pets.csv', new TextEncoder().encode(text))
const latin = (text: string) =>
  readPetFile(
    'pets.csv',
    Uint8Array.from(text, (character) => character.charCodeAt(0)),
  )
const fileOf = (firstId: number, count: number) =>
  [
    HEADER,
    ...Array.from({ length: count }, (_, index) => `${firstId + index},Pet ${index},1,available,1`),
  ].join('\n')
const known = (petId: bigint, more: Partial<KnownPet> = {}): [bigint, KnownPet] => [
  petId,
  { petId, name: `Pet ${petId}`, categoryId: 1n, status: 'available', quantity: 5, ...more },
]
const petsOf = ({ batches }: ImportPlan) => batches.map((batch) => batch.map(({ pet }) => pet))
const DOGS = { id: 1n, name: 'Dogs' }
const plan = (file: PetFile, ...pets: readonly [bigint, KnownPet][]) =>
  planImport(file, { pets: new Map(pets), categories: [DOGS], mayChangeStock: true })

describe('a file', () => {
  test('may have commas or semicolons, a byte order mark, quotes and Windows line ends', () => {
    const pet = { id: 7n, name: 'Käfer; "groß"', categoryId: 1n, status: 'sold' as const, quantity: 3 }
    const excel = '\ufeffPetID;Name;CategoryId;Status;Quantity\r\n7;"Käfer; ""groß""";1;sold;3\r\n;;;;\r\n'
    expect(read(excel).lines).toEqual([{ line: 2, pet }])
    expect(read(`${HEADER}\n7,"Käfer; ""groß""",1,sold,3`).lines).toEqual([{ line: 2, pet }])
    expect(latin('petId;name;categoryId;status;quantity\n7;K\xe4fer;1;sold;3')).toMatchObject({
      isLatin: true,
      lines: [{ pet: { name: 'Käfer' } }],
    })
  })

  test('has a reason for each refused line', () => {
    const { lines, refused } = read(`${HEADER}\n1,A,1,sold,-1\n2,B,1,new,1\nx\n\n3,C,1,sold,1\n`)
    expect(lines.map(({ line }) => line)).toEqual([6])
    expect(refused.map(({ line, reason }) => [line, reason.slice(0, 20)])).toEqual([
      [2, 'quantity must be an '],
      [3, 'status must be one o'],
      [4, 'must have 5 fields, '],
    ])
  })

  test.each([
    ['', 'is empty'],
    ['hello\n', 'lacks name, status, quantity'],
    ['petId,name\n1,A\n', 'lacks status, quantity'],
    ['petId,name,categoryIdd,status,quantity\n', 'did you mean categoryId?'],
    ['PK\x03\x04', 'is a spreadsheet workbook; save it as CSV'],
    ['P\0\0', 'is not text'],
  ])('that begins with %p is refused', (text, words) => {
    expect(() => read(text)).toThrow(words)
  })
})

describe('a plan', () => {
  test('lists new pets and changed fields, and counts unchanged pets', () => {
    const file = read(
      `${HEADER},barcode,lowStockAt\n1,Pet 1,1,available,5,,\n2,Rex,9,sold,8,42,\n3,New,1,sold,2,43,4\n`,
    )
    const made = plan(file, known(1n), known(2n, { lowStockAt: 3 }), known(5n))
    expect(made).toMatchObject({ unchanged: 1, refused: [], categories: [{ id: 9n, name: 'Category 9' }] })
    expect(made.lines).toMatchObject([
      {
        line: 3,
        type: 'changed',
        name: 'Rex',
        pet: { id: 2n, name: 'Rex', categoryId: 9n, status: 'sold', barcode: '42', lowStockAt: null },
        quantity: { petId: 2n, quantity: 8, expected: 5 },
      },
      {
        line: 4,
        type: 'added',
        pet: {
          id: 3n,
          name: 'New',
          categoryId: 1n,
          status: 'sold',
          quantity: 2,
          barcode: '43',
          lowStockAt: 4,
        },
      },
    ])
    const list = { byId: new Map([[1n, DOGS]]), isKnown: true }
    expect(made.lines.map((line) => lineWords(line, list))).toEqual([
      'name to Rex, category to Category 9, status to sold, barcode to 42, no warning of its own, quantity from 5 to 8',
      'id 3, Dogs, sold, 2 in stock, barcode 43, warn at 4',
    ])
  })

  test('keeps the metadata of new pets, and changes it only if the file has other metadata', () => {
    const file = read(
      `${HEADER},metadata\n1,Pet 1,1,available,5,"{""b"":""2"",""a"":""1""}"\n2,Pet 2,1,available,5,\n3,Pet 3,1,available,5,"{""a"":""2""}"\n4,New,1,sold,0,"{""a"":""3""}"\n`,
    )
    const metadata = { a: '1', b: '2' }
    const pets = [1n, 2n, 3n].map((petId) => known(petId, { metadata }))
    const made = plan(file, ...pets)
    expect(made.unchanged).toBe(1)
    expect(made.lines.map(({ pet }) => pet.metadata)).toEqual([null, { a: '2' }, { a: '3' }])
    expect(plan(read(`${HEADER}\n1,Pet 1,1,available,5\n`), ...pets)).toMatchObject({ unchanged: 1 })
  })

  test('finds categories by name, and adds pets without an id', () => {
    const file = read(
      'sep=;\nname;category;status;quantity;petId\nRex;dogs;sold;1;\nTom;Cats;sold;2;\nTim;cats;sold;3;4\nPet 2;Dogs;sold;4;\n',
    )
    const made = plan(file, known(2n), known(4n, { name: 'Tim' }))
    expect(made).toMatchObject({ refused: [], categories: [{ id: undefined, name: 'cats' }] })
    expect(
      made.lines.map(({ line, type, pet, newCategory, sameNameAs }) => [
        line,
        type,
        pet.id,
        pet.categoryId,
        newCategory,
        sameNameAs,
      ]),
    ).toEqual([
      [3, 'added', undefined, 1n, undefined, undefined],
      [4, 'added', undefined, undefined, 'Cats', undefined],
      [5, 'changed', 4n, undefined, 'cats', undefined],
      [6, 'added', undefined, 1n, undefined, 2n],
    ])
  })

  test.each([
    [
      'a category that contradicts its id, and a barcode that a spreadsheet has shortened',
      'category,barcode\n7,A,1,sold,1,Cats,\n8,B,1,sold,1,Dogs,4.00638E+12\n',
      [
        [2, 'category 1 is "Dogs", but the row says "Cats"; '],
        [3, 'a spreadsheet has shortened the barcode to 4.006'],
      ],
    ],
    [
      'another name of a new category',
      'category\n3,Tom,8,sold,1,Cats\n4,Mia,8,sold,1,Birds\n',
      [[3, 'category 8 is "Cats", but the row says "Birds"']],
    ],
    [
      'ids and barcodes that occur twice, and a barcode that another pet keeps',
      'barcode\n1,P,1,sold,5,a\n1,P,1,sold,6,b\n2,Q,1,sold,5,a\n3,R,1,sold,5,c\n',
      [
        [3, 'petId 1 is already in line 2'],
        [4, 'barcode a is already in line 2'],
        [5, 'barcode c is already used by pet 4'],
      ],
    ],
  ] as const)('refuses %s', (_, text, expected) => {
    const { refused } = plan(read(`${HEADER},${text}`), known(1n), known(4n, { barcode: 'c' }))
    expect(refused.map(({ line }) => line)).toEqual(expected.map(([line]) => line))
    for (const [index, [, words]] of expected.entries()) expect(refused[index]?.reason).toStartWith(words)
  })

  test('adds a new category once, under the name that a line gives it', () => {
    const lines = ['1,A,9,sold,1,', '2,B,9,sold,1,Birds', '3,C,9,sold,1,', '4,D,,sold,1,birds']
    for (const order of [lines, lines.toReversed()]) {
      const made = plan(read([`${HEADER},category`, ...order].join('\n')))
      expect(made).toMatchObject({ refused: [], categories: [{ id: 9n, name: 'Birds' }] })
      expect(made.categories).toHaveLength(1)
      expect(made.lines.map(({ pet, newCategory }) => [pet.categoryId, newCategory])).toEqual(
        order.map(() => [9n, undefined]),
      )
    }
  })

  test('keeps barcodes and thresholds if the file has no such columns', () => {
    const file = read(`${HEADER}\n1,Pet 1,1,available,5\n`)
    expect(plan(file, known(1n, { barcode: '42', lowStockAt: 3 }))).toMatchObject({ unchanged: 1, lines: [] })
  })

  test('sends pets that swap their barcodes in one batch', () => {
    const file = read(`${HEADER},barcode\n1,Pet 1,1,available,5,b\n2,Pet 2,1,available,5,a\n`)
    const swap = plan(file, known(1n, { barcode: 'a' }), known(2n, { barcode: 'b' }))
    expect(swap.refused).toEqual([])
    expect(petsOf(swap)).toEqual([
      [
        { id: 1n, barcode: 'b' },
        { id: 2n, barcode: 'a' },
      ],
    ])
  })

  test('releases a barcode first if its next owner is in an earlier batch', () => {
    const lines = Array.from({ length: 1_001 }, (_, index) => `${index + 1},New name,1,available,5,${index}`)
    const file = read([`${HEADER},barcode`, ...lines].join('\n'))
    const barcodeOwners = Array.from({ length: 1_001 }, (_, index) =>
      known(BigInt(index + 1), { barcode: String(index === 1_000 ? 0 : index + 1) }),
    )
    const shifted = petsOf(plan(file, ...barcodeOwners))
    expect(shifted.map(({ length }) => length)).toEqual([1, 1_000, 1])
    expect(shifted[0]).toEqual([{ id: 1_001n, barcode: null }])
  })

  test('sends long names in batches that the service accepts', () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `${index + 1},${'ü'.repeat(200)},1,sold,5`)
    const batches = petsOf(plan(read([HEADER, ...lines].join('\n'))))
    expect(batches.flat()).toHaveLength(1_000)
    for (const pets of batches) {
      expect(Buffer.byteLength(stringify({ pets }))).toBeLessThan(256 * 1_024)
    }
  })

  test('refuses changed quantities, and new pets with a quantity, if the key may not change the stock', () => {
    const rows = ['1,Pet 1,1,available,6', '2,Two,1,available,5', '3,Three,1,sold,4', '4,Four,1,sold,0']
    const file = read(`${HEADER}\n${rows.join('\n')}\n`)
    const store = { pets: new Map([known(1n), known(2n)]), categories: [DOGS], mayChangeStock: false }
    expect(planImport(file, store)).toMatchObject({
      refused: [{ line: 2 }, { line: 4 }],
      lines: [{ line: 3 }, { line: 5 }],
    })
  })

  test('needs requests, and time if the limits of the key are low', () => {
    const lines = Array.from({ length: 1_500 }, (_, index) => `${index + 1},Pet ${index + 1},1,available,6`)
    const many = plan(
      read([HEADER, ...lines].join('\n')),
      ...lines.map((_, index) => known(BigInt(index + 1))),
    )
    expect(requestsOf(many)).toBe(2)
    expect(requestsOf(plan(read([HEADER, ...lines].join('\n'))))).toBe(2)
    const window = (limit: number, remaining: number) => ({ limit, remaining, reset: 0 })
    const withCategories = lines.map((_, index) => `${index + 1},Pet ${index + 1},${index + 2},available,6`)
    const added = plan(read([HEADER, ...withCategories].join('\n')))
    expect(requestsOf(added)).toBe(1_502)
    expect(costWords(added, { minute: window(60, 60), day: window(10_000, 1_502) })).toContain('about 25 min')
    expect(costWords(added, { minute: window(60, 60), day: window(1_000, 902) })).toContain(
      '600 more than this key may send today',
    )
    expect(costWords(many, { minute: window(60, 2), day: window(9, 9) })).toContain('less than a minute')
  })
})

describe('an import', () => {
  let service: TestService
  let client: PetstoreClient
  let writes = 0
  beforeAll(async () => {
    service = await TestService.start({ realTime: true })
    client = new PetstoreClient({
      baseUrl: `${service.address}/v1`,
      apiKey: service.key,
      onRequest: ({ method }) => {
        if (method !== 'GET') writes++
      },
    })
  })
  afterAll(() => service.stop())

  async function begin() {
    const stock = new StockModel()
    fillStock(stock, (await client.inventory.list()).items)
    const signal = new AbortController().signal
    const categories = new Categories({ client, stock, events: new LiveChanges(), signal })
    await categories.reload()
    const run = new ImportRun(
      { client, stock, own: new OwnChanges(), signal, timeOfAction: Date.now },
      categories,
    )
    const planNow = async (text: string): Promise<ImportPlan> => {
      const pets = new Map<bigint, KnownPet>()
      const found = client.inventory.search()
      for await (const { ownLowStockAt: lowStockAt, barcode, ...row } of found) {
        pets.set(row.petId, { ...row, barcode, lowStockAt })
      }
      const known = { pets, categories: categories.get().byId.values(), mayChangeStock: true }
      return planImport(read(text), known)
    }
    return { run, planNow, stock }
  }

  test('saves its plan, and a second import of the file has nothing to do', async () => {
    const text = `${HEADER},barcode,lowStockAt\n1,Rex,9,sold,8,42,\n2,Mittens,77,pending,1,43,1\n7,New,78,available,3,44,\n`
    const { run, planNow } = await begin()
    await run.start(await planNow(text), 'pets.csv')
    expect(run.get()).toMatchObject({ phase: 'done', added: 1, changed: 2, failed: [], stoppedBy: undefined })
    expect(run.get()?.total).toBe(3)
    expect(await planNow(text)).toMatchObject({ lines: [], refused: [], unchanged: 3 })
    const [change] = (await client.inventory.history(1n)).items
    expect(change).toMatchObject({ before: 4, after: 8, reason: 'corrected', reference: 'pets.csv' })
    const swapped = `${HEADER},barcode\n1,Rex,9,sold,8,43\n2,Mittens,77,pending,1,42\n`
    await run.start(await planNow(swapped), 'pets.csv')
    expect(run.get()).toMatchObject({ added: 0, changed: 2, failed: [] })
  })

  test('adds the categories that a file names, and chooses ids for new pets', async () => {
    const { run, planNow } = await begin()
    const text = 'name,category,status,quantity\nIggy,Lizards,available,3\nAda,lizards,sold,1\n'
    await run.start(await planNow(text), 'pets.csv')
    expect(run.get()).toMatchObject({ added: 2, changed: 0, failed: [] })
    const [iggy] = (await client.inventory.search({ q: 'Iggy' })).items
    const [ada] = (await client.inventory.search({ q: 'Ada' })).items
    expect(iggy?.quantity).toBe(3)
    expect(ada?.categoryId).toBe(iggy?.categoryId as bigint)
    const again = await planNow(text)
    expect(again.categories).toEqual([])
    expect(again.lines.map(({ sameNameAs }) => sameNameAs)).toEqual([iggy?.petId, ada?.petId])
  })

  test('reports a line whose quantity somebody else changed meanwhile, and keeps that quantity', async () => {
    const { run, planNow } = await begin()
    const made = await planNow(`${HEADER}\n3,Goldie,4,sold,30\n9007199254740993,Odd one,9,available,31\n`)
    await client.inventory.set(3n, { quantity: 12 })
    await run.start(made, 'pets.csv')
    expect(run.get()).toMatchObject({ changed: 1, failed: [{ line: 2, name: 'Goldie' }] })
    expect((await client.inventory.get(3n)).quantity).toBe(12)
  })

  test('of 2,500 new pets takes 3 requests, and reports its progress', async () => {
    const { run, planNow } = await begin()
    const text = fileOf(1_000, 2_500)
    const seen: number[] = []
    const unsubscribe = run.subscribe(() => seen.push(run.get()?.added ?? 0))
    const made = await planNow(text)
    writes = 0
    await run.start(made, 'pets.csv')
    unsubscribe()
    expect([requestsOf(made), writes]).toEqual([3, 3])
    expect(run.get()).toMatchObject({ added: 2_500, total: 2_500, failed: [] })
    expect([...new Set(seen)]).toEqual([0, 1_000, 2_000, 2_500])
    expect(await planNow(text)).toMatchObject({ lines: [], unchanged: 2_500 })
  })

  test('stops if somebody else has added a category with the same name meanwhile', async () => {
    const { run, planNow } = await begin()
    const text = 'name,category,status,quantity\nOlm,Newts,available,1'
    const made = await planNow(text)
    await client.categories.create({ name: 'NEWTS' })
    await run.start(made, 'pets.csv')
    expect(run.get()).toMatchObject({ added: 0, stoppedBy: 'There is such a category already.' })
  })

  test('reports the lines that the service refuses, and saves the rest of their batch', async () => {
    await client.categories.create({ id: 500n, name: 'Reptiles' })
    await client.pets.create({ id: 501n, name: 'Owner', categoryId: 1n, barcode: 'moved' })
    const { run, planNow } = await begin()
    const text = [
      `${HEADER},barcode`,
      '502,Taken,1,available,1,taken',
      '503,Kept,1,available,2,',
      // Its barcode is free only if line 5 is saved.
      '504,Follows,1,available,3,moved',
      '501,Owner,500,available,0,',
      '505,Also kept,1,available,4,505',
    ].join('\n')
    const made = await planNow(text)
    await client.pets.create({ id: 599n, name: 'Faster', categoryId: 1n, barcode: 'taken' })
    await client.categories.remove(500n)
    writes = 0
    await run.start(made, 'pets.csv')
    expect(writes).toBe(3)
    expect(run.get()).toMatchObject({ added: 2, changed: 0, stoppedBy: undefined })
    expect(run.get()?.failed.map(({ line, name, reason }) => [line, name, reason])).toEqual([
      [2, 'Taken', expect.stringContaining('barcode taken is already used by pet')],
      [5, 'Owner', 'Category 500 was removed meanwhile. Import the file again.'],
      [4, 'Follows', 'barcode moved is already used by pet 501'],
    ])
    expect((await client.inventory.get(505n)).quantity).toBe(4)
    await expect(client.pets.get(502n)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('does not change the quantity of a pet whose other fields were refused', async () => {
    await client.pets.create({ id: 701n, name: 'Refused', categoryId: 1n, quantity: 5 })
    const { run, planNow } = await begin()
    const made = await planNow(`${HEADER},barcode\n701,Refused,1,available,6,used\n`)
    await client.pets.create({ id: 702n, name: 'Faster', categoryId: 1n, barcode: 'used' })
    await run.start(made, 'pets.csv')
    expect(run.get()).toMatchObject({ changed: 0, failed: [{ line: 2, name: 'Refused' }] })
    expect((await client.inventory.get(701n)).quantity).toBe(5)
  })

  test('swaps the barcodes of two pets in different batches', async () => {
    const header = `${HEADER},barcode`
    const fileWith = (first: string, last: string) => {
      const lines = Array.from(
        { length: 1_000 },
        (_, index) => `${20_001 + index},Between ${first},1,sold,1,`,
      )
      return [header, `20000,First,1,sold,1,${first}`, ...lines, `30000,Last,1,sold,1,${last}`].join('\n')
    }
    const before = await begin()
    await before.run.start(await before.planNow(fileWith('left', 'right')), 'pets.csv')
    const { run, planNow } = await begin()
    const swap = await planNow(fileWith('right', 'left'))
    await run.start(swap, 'pets.csv')
    expect(run.get()).toMatchObject({ added: 0, changed: 1_002, failed: [] })
    expect(swap.batches).toHaveLength(3)
    expect([(await client.pets.get(20_000n)).barcode, (await client.pets.get(30_000n)).barcode]).toEqual([
      'right',
      'left',
    ])
  })

  test('does not overwrite a pet that somebody else added meanwhile, nor add a removed pet again', async () => {
    await client.pets.create({ id: 602n, name: 'Removed', categoryId: 1n })
    const { run, planNow, stock } = await begin()
    const made = await planNow(`${HEADER}\n601,Ours,1,available,9\n602,Renamed,2,available,0\n`)
    await client.pets.create({ id: 601n, name: 'Theirs', categoryId: 1n, quantity: 2 })
    await client.pets.remove(602n)
    fillStock(stock, (await client.inventory.list()).items)
    await run.start(made, 'pets.csv')
    expect(run.get()).toMatchObject({ added: 0, changed: 0, failed: [{ line: 2 }, { line: 3 }] })
    expect((await client.inventory.get(601n)).quantity).toBe(2)
    await expect(client.pets.get(602n)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('that is stopped sends no further batch, and saved batches stay saved', async () => {
    const { run, planNow } = await begin()
    const text = fileOf(10_000, 2_500)
    const made = await planNow(text)
    const unsubscribe = run.subscribe(() => {
      if ((run.get()?.added ?? 0) > 0) run.stop()
    })
    await run.start(made, 'pets.csv')
    unsubscribe()
    expect(run.get()).toMatchObject({ phase: 'done', added: 1_000, failed: [], stoppedBy: 'you stopped it' })
    const rest = await planNow(text)
    expect([rest.lines.length, rest.unchanged]).toEqual([1_500, 1_000])
  })

  test('stops if the key may not change pets', async () => {
    const { secret } = await service.createKey('enterprise', { permissions: ['stock'] })
    const { planNow } = await begin()
    const made = await planNow(`${HEADER}\n301,A,1,sold,1\n`)
    const weak = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: secret })
    const stock = new StockModel()
    const signal = new AbortController().signal
    const categories = new Categories({ client: weak, stock, events: new LiveChanges(), signal })
    const saving = { client: weak, stock, own: new OwnChanges(), signal, timeOfAction: Date.now }
    const run = new ImportRun(saving, categories)
    await run.start(made, 'pets.csv')
    expect(run.get()?.stoppedBy).toContain('This key may not change pets')
  })
})

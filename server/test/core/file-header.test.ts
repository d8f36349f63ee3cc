import { describe, expect, test } from 'bun:test'
import {
  array,
  asyncProperty,
  bigInt,
  boolean,
  assert as check,
  constant,
  constantFrom,
  integer,
  maxSafeInteger,
  nat,
  oneof,
  option,
  record,
  shuffledSubarray,
  string,
} from 'fast-check'
import { STOCK_COUNT_ROW_KIND } from '../../src/core/transfer/adjustment.ts'
import { readHeader } from '../../src/core/transfer/csv.ts'
import { IMPORT_KINDS, type ImportKindName, openRows } from '../../src/core/transfer/files.ts'
import {
  CATEGORY_ROW_KIND,
  type FieldText,
  ORDER_ROW_KIND,
  PET_ROW_KIND,
  type RowKind,
} from '../../src/core/transfer/rows.ts'

describe('A header', () => {
  test.each([
    ['petId,name,categoryId,status,quantity', 'pets', ','],
    ['petId,name,categoryId,status,quantity,barcode', 'pets', ','],
    ['id;petId;quantity;shipDate;complete', 'orders', ';'],
    ['id,petId,quantity,complete', 'orders', ','],
    ['petId\tquantity', 'count', '\t'],
    ['id,name', 'categories', ','],
    ['lowStockAt;NAME; id ', 'categories', ';'],
    ['"id"\t"name"\t"lowStockAt"', 'categories', '\t'],
  ] as const)('%j is a header of %s', (text, name, delimiter) => {
    expect(readHeader(text, 'the file', IMPORT_KINDS[name])?.delimiter).toBe(delimiter)
  })

  test.each([
    [
      'petId,name,categoryId,status,quantitiy',
      'pets',
      'quantitiy is not a column of pets; did you mean quantity?',
    ],
    [
      'petId;Name;Category_Id;Status;Quantity',
      'pets',
      'Category_Id is not a column of pets; did you mean categoryId?',
    ],
    ['pet_id,quantity', 'count', 'pet_id is not a column of a count; did you mean petId?'],
    ['petId,quantity,colour', 'count', 'colour is not a column of a count; remove it'],
    [
      ...['petId,naem', 'pets'],
      'naem is not a column of pets; did you mean name? status, quantity are missing; add them',
    ],
    ['petId,name,categoryId,status', 'pets', 'quantity is missing; add it'],
    ['petId,quantity,Quantity', 'count', 'quantity appears twice; remove one of them'],
    ['petId,quantity,', 'count', 'column 3 has no name; name it or remove it'],
    ['petId,quantity,"a b"', 'count', '"a b" is not a column of a count; remove it'],
    [
      'id,petId,quantity,shipdat,complete',
      'orders',
      'shipdat is not a column of orders; did you mean shipDate?',
    ],
    [...['id,petId,quantity,complete,status', 'orders'], 'status is not a column of orders; remove it'],
    ['id,nmae', 'categories', 'nmae is not a column of categories; did you mean name?'],
    [
      ...['petId,quantity,a1,b1,c1,d1,e1,f1,g1', 'count'],
      `${['a1', 'b1', 'c1', 'd1', 'e1'].map((name) => `${name} is not a column of a count; remove it`).join('. ')}. Further problems: 2`,
    ],
  ] as const)('%j is no header of %s', (text, kind, problem) => {
    expect(() => readHeader(text, 'the file', IMPORT_KINDS[kind])).toThrow(
      new Error(`the header of the file is wrong: ${problem}`),
    )
  })

  test.each(['a,b', 'Artikel;Menge', '', '"petId', 'petId,"name" x'])('%j names no column', (text) => {
    expect(readHeader(text, 'the file', IMPORT_KINDS.pets)).toBeUndefined()
  })

  test('of a great length is checked quickly', () => {
    expect(() => readHeader(`petId,${'quantit'.repeat(500)}`, 'the file', IMPORT_KINDS.pets)).toThrow(
      'is not a column of',
    )
  })
})

const int64 = bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const quantity = oneof(maxSafeInteger().map(Math.abs), nat())
const word = string({ unit: constantFrom('a', ' ', ',', ';', '"', "'", 'é', '🐶', '{'), maxLength: 9 })
const name = word.map((text) => `x${text}`)
const blankOr = <Value>(values: ReturnType<typeof constant<Value>>) => option(values, { nil: null })
const barcode = string({ unit: constantFrom('0', '~', ',', ';', '"'), minLength: 1, maxLength: 48 })
const further = { barcode: blankOr(barcode), lowStockAt: blankOr(quantity) }

/** For each kind: how its rows are read, and the fields of some valid rows. */
const tables = oneof(
  table(
    'pets',
    PET_ROW_KIND,
    record({ id: int64, name, categoryId: int64, quantity, ...further }).map((pet) =>
      PET_ROW_KIND.write({ ...pet, status: 'sold' }),
    ),
  ),
  table(
    'orders',
    ORDER_ROW_KIND,
    record({ id: int64, petId: int64, quantity, complete: boolean() }).map((order) =>
      ORDER_ROW_KIND.write(order),
    ),
  ),
  table(
    'categories',
    CATEGORY_ROW_KIND,
    record({ id: int64, name, lowStockAt: blankOr(quantity) }).map((category) =>
      CATEGORY_ROW_KIND.write(category),
    ),
  ),
  table(
    'count',
    STOCK_COUNT_ROW_KIND,
    record({ id: int64, quantity }).map((row) => [String(row.id), String(row.quantity)]),
  ),
)

function table<Value>(
  kindName: ImportKindName,
  rows: RowKind<Value>,
  fields: ReturnType<typeof constant<FieldText[]>>,
) {
  return array(fields, { minLength: 1, maxLength: 6 }).map((lines) => ({
    kind: IMPORT_KINDS[kindName],
    lines,
    read: (line: readonly FieldText[]): unknown => rows.read(line),
  }))
}

test('Rows with any delimiter, quotes and column order are read unchanged', async () => {
  await check(
    asyncProperty(
      tables.chain((one) => {
        const all = one.kind.columns.map((_, index) => index)
        return record({
          table: constant(one),
          order: shuffledSubarray(all, { minLength: all.length }),
          // This file omits optional columns.
          left: shuffledSubarray(all.filter((index) => one.kind.columns[index]?.isOptional)),
        })
      }),
      constantFrom(',', ';', '\t'),
      constantFrom('\n', '\r\n'),
      boolean(),
      integer({ min: 1, max: 99 }),
      async ({ table: { kind, lines, read }, order, left }, delimiter, lineEnd, isQuoted, size) => {
        const kept = order.filter((index) => !left.includes(index))
        const field = (text: string) =>
          isQuoted || /[",;\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
        const header = kept
          .map((index) => kind.columns[index]?.name ?? '')
          .map((text) => (isQuoted ? text : ` ${text.toUpperCase()} `))
        const body = lines.map((line) => kept.map((index) => field(line[index] ?? '')).join(delimiter))
        const bytes = Buffer.from(`\ufeff${[header.join(delimiter), ...body].join(lineEnd)}`)
        async function* chunks() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
        }
        const batches = await openRows(chunks(), 'the file', kind)
        const values: unknown[] = []
        for await (const batch of batches) {
          for (const row of batch) values.push('fields' in row ? read(row.fields) : row.reason)
        }
        expect(values).toStrictEqual(
          lines.map((line) =>
            read(line.map((text, index) => (left.includes(index) ? undefined : (text ?? '')))),
          ),
        )
      },
    ),
  )
})

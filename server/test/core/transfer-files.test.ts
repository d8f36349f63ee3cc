import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { array, asyncProperty, assert as check, constantFrom, integer, string } from 'fast-check'
import { ADJUSTMENT_CHANGE } from '../../src/core/stock/adjustment.ts'
import type { FileKind } from '../../src/core/transfer/csv.ts'
import { fileText, IMPORT_KINDS, openRows } from '../../src/core/transfer/files.ts'
import { type FilePet, PET_ROW_KIND, type RawRow, rowKind } from '../../src/core/transfer/rows.ts'

const HEADER = 'petId,name,categoryId,status,quantity\n'

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readAll(
  text: string | Uint8Array,
  chunkSize = 1_000,
  kind: FileKind = IMPORT_KINDS.pets,
): Promise<RawRow[]> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const rows: RawRow[] = []
  for await (const batch of await openRows(inChunks(bytes, chunkSize), 'the file', kind)) rows.push(...batch)
  return rows
}

const told = (rows: readonly RawRow[]) =>
  rows.map((row) => [row.line, 'fields' in row ? row.fields[1] : row.reason])

describe('A header', () => {
  const FIELDS = ['1', '2']
  test.each([
    ['in another order', 'quantity,petId\n2,1', FIELDS],
    ['in quotes', '"petId","quantity"\r\n1,2', FIELDS],
    ['after a byte order mark and blank lines', '\ufeff\n \npetId,quantity\n1,2', FIELDS],
    ['in any case with blanks around', ' PETID, Quantity \n1,2', FIELDS],
    ['with semicolons', 'petId;quantity\r\n1;2', FIELDS],
    ['after rows of blank fields', ';;;;\r\n; ;\r\n,,\npetId;quantity\r\n1;2', FIELDS],
    ['with tabs', 'petId\tquantity\n1\t2', FIELDS],
    ['after the delimiter for Excel', 'sep=;\r\npetId;quantity\r\n1;2', FIELDS],
    ['with semicolons in quotes', '"quantity";"petId"\n2;1', FIELDS],
  ])('%s is understood', async (_, text, fields) => {
    expect(await readAll(text, 3, IMPORT_KINDS.count)).toMatchObject([{ fields }])
  })

  test.each([
    ['nothing', '', 'is empty'],
    ['blank lines', ' \n\n', 'is empty'],
    ['another header', 'Artikel;Menge\n', 'begins with "Artikel;Menge"; expected CSV with the header petId,'],
    ['a quote that is not closed', '"petId,name\n', 'begins with'],
    [
      ...['a column too few', 'petId;name\n'],
      'the header of the file is wrong: status, quantity are missing; add them',
    ],
    ['a column twice', 'petId,petId,categoryId,status,quantity\n', 'petId appears twice'],
    ['a column too many', `${HEADER.trim()},colour\n`, 'colour is not a column of pets; remove it'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x70, 0]), 'is UTF-16; save it as UTF-8'],
    [
      'a workbook',
      new Uint8Array([0x50, 0x4b, 3, 4, 0xff]),
      'is a spreadsheet workbook, not a CSV file; save it as CSV',
    ],
  ])('is missing or wrong in %s', async (_, text, message) => {
    await expect(readAll(text)).rejects.toThrow(message)
  })
})

describe('Optional columns', () => {
  const { columns } = rowKind('pet', 'pets', ADJUSTMENT_CHANGE, { blank: 'absent' })
  const rowsOf = (text: string) => readAll(text, 5, { label: 'an adjustment', columns })

  test.each([
    ['petId,delta', '1,2', ['1', '2', undefined, undefined]],
    ['quantity,petId', '3,1', ['1', undefined, '3', undefined]],
    ['expected,quantity,delta,petId', '4,,2,1', ['1', '2', '', '4']],
  ])('are undefined, not empty, with the header %s', async (header, line, fields) => {
    expect(await rowsOf(`${header}\n${line}\n1,2,3,4,5\n`)).toEqual([
      { line: 2, fields },
      { line: 3, reason: `must have ${header.split(',').length} fields, got 5` },
    ])
  })

  test.each([
    ['delta,quantity', 'petId is missing; add it'],
    ['petId,delta,delta', 'delta appears twice; remove one of them'],
    ['petId,delta,name', 'name is not a column of an adjustment; remove it'],
  ])('do not make %s a header', async (header, problem) => {
    await expect(rowsOf(`${header}\n`)).rejects.toThrow(
      new Error(`the header of the file is wrong: ${problem}`),
    )
  })

  test('a header without a known column is refused with the expected headers', async () => {
    await expect(rowsOf('name,status\n')).rejects.toThrow(
      'the file begins with "name,status"; expected CSV with the header petId,delta,quantity,expected',
    )
  })
})

describe('CSV', () => {
  test('fields follow the header, and lines are numbered as in an editor', async () => {
    const text =
      'quantity,status,categoryId,name,petId\r\n\r\n5,sold,1,"two\nlines",7\r\n"6","sold",1,,8\n\n7,sold,1,last,9'
    expect(await readAll(text)).toEqual([
      { line: 3, fields: ['7', 'two\nlines', '1', 'sold', '5', undefined, undefined, undefined] },
      { line: 5, fields: ['8', '', '1', 'sold', '6', undefined, undefined, undefined] },
      { line: 7, fields: ['9', 'last', '1', 'sold', '7', undefined, undefined, undefined] },
    ])
  })

  test('rows of blank fields are skipped, and their lines are counted', async () => {
    const text =
      'petId;name;categoryId;status;quantity\r\n;;;;\r\n1;"a;b, c";1;sold;5\r\n;;\r\n "";\r\n"";" ";;;\r\n2;d;1;sold;6;\r\n;;;;'
    expect(told(await readAll(text, 7))).toEqual([
      [3, 'a;b, c'],
      [5, 'a field that contains a quote (") must be in quotes'],
      [7, 'must have 5 fields, got 6'],
    ])
  })

  test('a missing column differs from a blank field', async () => {
    const petOf = async (header: string, line: string) => {
      const [row] = await readAll(`${header}\n${line}\n`)
      return row !== undefined && 'fields' in row ? PET_ROW_KIND.read(row.fields) : row
    }
    const pet = { id: 1n, name: 'a', categoryId: 1n, status: 'sold', quantity: 5 } as const
    expect(await petOf(HEADER.trim(), '1,a,1,sold,5')).toStrictEqual(pet)
    expect(await petOf(`${HEADER.trim()},barcode`, '1,a,1,sold,5,')).toStrictEqual({ ...pet, barcode: null })
    expect(await petOf(`lowStockAt,${HEADER.trim()}`, '0,1,a,1,sold,5')).toStrictEqual({
      ...pet,
      lowStockAt: 0,
    })
  })

  test('a bad line costs only itself, and no later line is lost', async () => {
    const text = `${HEADER}1,a "b" c,1,sold,1
2,two,1,sold,1
3,"a"b,1,sold,1
4,four,1,sold,1
5,"not closed,1,sold,1
6,six,1,sold,1
7,"seven",1,sold,1
8,eight,1,sold
9,nine,1,sold,1,1
10,"ten
lines",1,sold,1
11,"never closed,1,sold,1
12,twelve,1,sold,1
`
    const unclosed = 'a quote (") opens a field and is not closed'
    for (const chunkSize of [1, 7, 64, 10_000]) {
      expect(told(await readAll(text, chunkSize))).toEqual([
        [2, 'a field that contains a quote (") must be in quotes'],
        [3, 'two'],
        [4, 'a quote (") inside a quoted field must be written twice ("")'],
        [5, 'four'],
        [6, unclosed],
        [7, 'six'],
        [8, 'seven'],
        [9, 'must have 5 fields, got 4'],
        [10, 'must have 5 fields, got 6'],
        [11, 'ten\nlines'],
        [13, unclosed],
        [14, 'twelve'],
      ])
    }
  })

  test('a line without an end and an unclosed quote do not fill the memory', async () => {
    const long = 'x'.repeat(3_000_000)
    const rows = await readAll(`${HEADER}1,${long},1,sold,1\n2,"${'y\n'.repeat(20_000)}`, 65_536)
    expect(told(rows.slice(0, 2))).toEqual([
      [2, 'is longer than 8192 characters'],
      [3, 'a quote (") opens a field and is not closed'],
    ])
    expect(rows).toHaveLength(20_001)
  })

  test('reads the same fields as another reader, however the file is cut into chunks', async () => {
    const field = string({ unit: constantFrom('a', ' ', ',', '"', '\n', '\r', '\r\n', 'é', '🐶') })
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    await check(
      asyncProperty(
        array(array(field, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 8 }),
        constantFrom('\n', '\r\n'),
        integer({ min: 1, max: 40 }),
        async (records, lineEnd, chunkSize) => {
          const text = HEADER + records.map((record) => record.map(quoted).join(',') + lineEnd).join('')
          const rows = await readAll(text, chunkSize)
          const oracle = parse(text, { from_line: 2, record_delimiter: ['\r\n', '\n'] }).filter((record) =>
            record.some((read) => read.trim() !== ''),
          )
          expect(rows.map((row) => ('fields' in row ? row.fields.slice(0, 5) : row.reason))).toEqual(oracle)
        },
      ),
    )
  })
})

describe('A written file', () => {
  test('is read unchanged', async () => {
    // U+FFFD stands for bytes that were not UTF-8, and is rejected.
    const name = string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter(
      (text) => !text.includes('\uFFFD'),
    )
    await check(
      asyncProperty(array(name, { minLength: 1 }), integer({ min: 1, max: 99 }), async (names, chunkSize) => {
        const pets = names.map(
          (text, index): FilePet => ({
            id: 9223372036854775807n - BigInt(index),
            name: `${index % 2 === 0 ? ' ' : '=-'}${text},"; `,
            categoryId: -1n,
            status: 'pending',
            quantity: index,
            barcode: index % 2 === 0 ? null : `",;${index}`,
            lowStockAt: index % 3 === 0 ? null : index,
            category: `${['', '=', "'=", '-', '@', "''+", "'"][index % 7]}${text}.`,
          }),
        )
        async function* batches() {
          yield pets
        }
        let written = ''
        for await (const part of fileText(batches(), PET_ROW_KIND)) written += part
        const rows = await readAll(written, chunkSize)
        expect(rows.map((row) => ('fields' in row ? PET_ROW_KIND.read(row.fields) : row.reason))).toEqual(
          pets,
        )
      }),
    )
  })
})

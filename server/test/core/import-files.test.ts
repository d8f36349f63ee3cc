import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvLine, decodeFile, readHeader, readRows } from '../../src/core/transfer/csv.ts'
import { IMPORT_KINDS, type ImportKind, matchColumns, parseMapping } from '../../src/core/transfer/files.ts'
import { headerOf, ORDER_ROW_KIND, PET_ROW_KIND, type RawRow } from '../../src/core/transfer/rows.ts'

const bytes = (text: string, encoding: BufferEncoding = 'utf8') => new Uint8Array(Buffer.from(text, encoding))
const rowsOf = (text: string): RawRow[] => [...readRows(text, readHeader(text))].flat()
const columnsOf = (kind: ImportKind, header: string, map?: string) => {
  const mapping = map === undefined ? undefined : parseMapping(map)
  const { indexes, ignored } = matchColumns(readHeader(header), IMPORT_KINDS[kind], mapping)
  const found = IMPORT_KINDS[kind].columns.flatMap(({ name }, index) =>
    indexes[index] === -1 ? [] : [`${indexes[index]} ${name}`],
  )
  return { found: found.sort(), ignored }
}

describe('the text of a file', () => {
  test('is UTF-8 with or without a byte order mark, or Windows-1252 if the caller says so', () => {
    expect(decodeFile(bytes('\ufeffKäfer'), 'utf8')).toBe('Käfer')
    expect(decodeFile(bytes('K\xe4fer \x80', 'latin1'), 'latin1')).toBe('Käfer €')
  })

  test.each([
    ['Windows-1252', bytes('a\nb\nK\xe4fer', 'latin1'), 'utf8', 'is not UTF-8 (line 3)'],
    ['UTF-8 as Windows-1252', bytes('\ufeffa'), 'latin1', 'byte order mark of UTF-8'],
    ['UTF-16', bytes('\xff\xfea\0', 'latin1'), 'utf8', 'is UTF-16'],
    ['a workbook', bytes('PK\x03\x04'), 'utf8', 'spreadsheet workbook'],
    ['binary data', bytes('a\0b'), 'utf8', 'is not text'],
  ] as const)('is refused if it is %s', (_, content, encoding, message) => {
    expect(() => decodeFile(content, encoding)).toThrow(message)
  })
})

describe('the rows of a file', () => {
  test('have the numbers of their lines, whatever precedes them', () => {
    expect(rowsOf('sep=;\r\n\r\na;b\r\n1;"x\r\ny"\r\n;\r\n2;5" nail\r\n3\r\n')).toEqual([
      { line: 4, fields: ['1', 'x\r\ny'] },
      { line: 7, fields: ['2', '5" nail'] },
      { line: 8, reason: 'must have 2 fields, got 1' },
    ])
  })

  test('with a stray quote are refused at the line of the quote', () => {
    expect(rowsOf('a,b\n1,2\n"3,4\n5,6\n')).toEqual([
      { line: 2, fields: ['1', '2'] },
      { line: 3, reason: 'a quote (") opens a field and is not closed' },
    ])
    expect(rowsOf('a,b\n"3"x,4\n')).toEqual([
      { line: 2, reason: 'a quote (") inside a quoted field must be written twice ("")' },
    ])
  })

  test('longer than a slice, and rows that cross slices, are read whole', () => {
    const long = `"${'x\n'.repeat(300_000)}"`
    const many = Array.from({ length: 60_000 }, (_, index) => `${index},"${index}, ""q"""`)
    const rows = rowsOf(['a,b', ...many, `1,${long}`, '2,end'].join('\n'))
    expect(rows).toHaveLength(60_002)
    expect(rows[59_999]).toEqual({ line: 60_001, fields: ['59999', '59999, "q"'] })
    expect(rows.at(-1)).toEqual({ line: 360_003, fields: ['2', 'end'] })
  })

  test('are read as they were written, with any text', () => {
    const note = fc.string({ unit: 'grapheme' }).map((text) => `.${text.replaceAll(/[\r\ufffd]/g, '')}`)
    const guarded = fc
      .constantFrom('', '=', "'=", '+1', '-1', '@a', "''@", '"', '\t', ',')
      .chain((start) => note.map((text) => start + text))
    fc.assert(
      fc.property(fc.array(guarded, { minLength: 1, maxLength: 9 }), (notes) => {
        const { columns } = ORDER_ROW_KIND
        const place = columns.findIndex(({ name }) => name === 'note')
        const lines = notes.map((text) =>
          csvLine(
            columns,
            columns.map((_, index) => (index === place ? text : '1')),
          ),
        )
        const file = `${headerOf(columns)}\n${lines.join('')}`
        expect(rowsOf(file).map((row) => 'fields' in row && row.fields[place])).toEqual(notes)
      }),
    )
  })
})

describe('the columns of a file', () => {
  test.each<[ImportKind, string, string[], string[]]>([
    ['pets', 'PETID, Name ,category_id,Quantity', ['0 petId', '1 name', '2 categoryId', '3 quantity'], []],
    ['pets', 'Bezeichnung;Warengruppe;Bestand;EAN', ['0 name', '1 category', '2 quantity', '3 barcode'], []],
    ['pets', 'Art.-Nr.\tProduct name\tMindestbestand', ['0 petId', '1 name', '2 lowStockAt'], []],
    ['pets', 'name,Preis,quantitiy', ['0 name'], ['"Preis"', '"quantitiy" (did you mean quantity?)']],
    ['count', 'EAN;Gezählt', ['0 barcode', '1 quantity'], []],
    [
      'orders',
      'Bestellnummer,Artikelnummer,Menge,erledigt',
      ['0 id', '1 petId', '2 quantity', '3 complete'],
      [],
    ],
  ])('of %s are found by the names %s', (kind, header, found, ignored) => {
    expect(columnsOf(kind, header)).toEqual({ found: found.sort(), ignored })
  })

  test('follow a mapping first', () => {
    const map = 'Artikelnummer:barcode, Name : category'
    expect(columnsOf('pets', 'Artikelnummer;Name;Titel', map).found).toEqual([
      '0 barcode',
      '1 category',
      '2 name',
    ])
  })
})

describe('a number in a file', () => {
  const quantityOf = (text: string, locale?: 'en' | 'de') =>
    PET_ROW_KIND.read([undefined, undefined, undefined, undefined, text], locale).quantity

  test.each<[string, 'en' | 'de' | undefined, number]>([
    [' 12 ', undefined, 12],
    ['12,0', undefined, 12],
    ['12.00', undefined, 12],
    ['1.200,0', undefined, 1_200],
    ['1,200,300', undefined, 1_200_300],
    ['1.200', 'de', 1_200],
    ['12,000', 'de', 12],
    ['1,200', 'en', 1_200],
    ['12.000', 'en', 12],
  ])('%j in the locale %s is %d', (text, locale, value) => {
    expect(quantityOf(text, locale)).toBe(value)
  })

  test.each<[string, 'en' | 'de' | undefined, string]>([
    ['1.200', undefined, 'is ambiguous'],
    ['1,200', undefined, 'is ambiguous'],
    ['12.000', undefined, 'is ambiguous'],
    ['12,5', undefined, 'quantity must be an integer'],
    ['1.200', 'en', 'quantity must be an integer'],
    ['1.20', 'de', 'quantity must be an integer'],
    ['-1', undefined, 'quantity must be an integer'],
    ['5x', undefined, 'quantity must be an integer'],
  ])('%j in the locale %s is refused', (text, locale, message) => {
    expect(() => quantityOf(text, locale)).toThrow(message)
  })

  test('is plain digits in an id, and not shortened in a barcode', () => {
    expect(() => PET_ROW_KIND.read(['1.200'])).toThrow('petId must be an integer')
    const barcode = [undefined, undefined, undefined, undefined, undefined]
    expect(() => PET_ROW_KIND.read([...barcode, '4.00638E+12'])).toThrow('shortened the barcode')
    expect(PET_ROW_KIND.read([...barcode, '0815'])).toEqual({ barcode: '0815' })
  })
})

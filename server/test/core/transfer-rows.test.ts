import { describe, expect, test } from 'bun:test'
import {
  CATEGORY_ROW_KIND,
  categoryFinder,
  type FieldText,
  importedPetRowKind,
  ORDER_ROW_KIND,
  PET_ROW_KIND,
} from '../../src/core/transfer/rows.ts'
import { reasonOf } from './bad-row.ts'

const PET = ['7', 'Biscuit', '1', 'available', '5']
const ORDER = ['1', '7', '2', '2026-09-01T10:00:00Z', 'true']

const withField = (fields: readonly FieldText[], index: number, text: FieldText) =>
  Object.assign([...fields], { [index]: text })

describe('A pet in a file', () => {
  test('is read field by field, exact for every int64 and every quantity', () => {
    expect(PET_ROW_KIND.read(PET)).toEqual({
      id: 7n,
      name: 'Biscuit',
      categoryId: 1n,
      status: 'available',
      quantity: 5,
    })
    const extreme = [
      '-9223372036854775808',
      ' "ключ",; 🐶 ',
      '9223372036854775807',
      'sold',
      '9007199254740991',
      `!~"',;${'9'.repeat(42)}`,
      '9007199254740991',
    ]
    expect(PET_ROW_KIND.write(PET_ROW_KIND.read(extreme))).toEqual(extreme)
  })

  const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits'
  const QUANTITY = 'quantity must be an integer from 0 to 9007199254740991'
  const NAME =
    'name must be 1 to 200 characters of UTF-8 text, at least one of them visible, without line ends, other control characters and characters that change the direction of text'
  const BARCODE = 'barcode must be 1 to 48 visible ASCII characters without blanks'
  const LOW = 'lowStockAt must be an integer from 0 to 9007199254740991'
  test.each([
    [0, '9223372036854775808', `petId ${INT64}, got "9223372036854775808"`],
    [0, '007', `petId ${INT64}, got "007"`],
    [0, ' 7', `petId ${INT64}, got " 7"`],
    [2, '1.0', `categoryId ${INT64}, got "1.0"`],
    [3, 'Available', 'status must be one of available, pending, sold, got "Available"'],
    [4, '5x', `${QUANTITY}, got "5x"`],
    [4, '-1', `${QUANTITY}, got "-1"`],
    [4, '9007199254740992', `${QUANTITY}, got "9007199254740992"`],
    [4, '1e3', `${QUANTITY}, got "1e3"`],
    [4, '1.000', `${QUANTITY}, got "1.000"`],
    [4, '1000,00', `${QUANTITY}, got "1000,00"`],
    [4, '1 000', `${QUANTITY}, got "1 000"`],
    [4, undefined, `${QUANTITY}, got ""`],
    [1, '', `${NAME}, got ""`],
    [1, ' \t\n', `${NAME}, got " \\t\\n"`],
    [1, 'M�ller', `${NAME}, got "M�ller"`],
    [1, 'a\0b', `${NAME}, got "a\\u0000b"`],
    [1, '\ud800', `${NAME}, got "\\ud800"`],
    [1, 'two\nlines', `${NAME}, got "two\\nlines"`],
    [1, 'tab\t', `${NAME}, got "tab\\t"`],
    [1, '\x7f.', `${NAME}, got "\x7f."`],
    [1, '.\x85', `${NAME}, got ".\x85"`],
    [5, ' 1', `${BARCODE}, got " 1"`],
    [5, 'ä', `${BARCODE}, got "ä"`],
    [5, '1\n', `${BARCODE}, got "1\\n"`],
    [5, '1'.repeat(49), `${BARCODE}, got "${'1'.repeat(40)}…"`],
    [
      5,
      '4.00638E+12',
      'a spreadsheet has shortened the barcode to 4.00638E+12; format the column as text, enter the whole barcode and save the file again',
    ],
    [6, '-1', `${LOW}, got "-1"`],
    [6, '9007199254740992', `${LOW}, got "9007199254740992"`],
    [1, 'x'.repeat(201), `${NAME}, got "${'x'.repeat(40)}…"`],
  ])('with field %i as %j is rejected with the reason', (index, text, reason) => {
    expect(reasonOf(() => PET_ROW_KIND.read(withField(PET, index, text)))).toBe(reason)
  })

  test('may have a name of any 200 characters', () => {
    const name = '🐶'.repeat(200)
    expect(PET_ROW_KIND.read(withField(PET, 1, name)).name).toBe(name)
  })
})

describe('The category of a pet in a file', () => {
  const categories = [
    { id: 1n, name: 'Dogs' },
    { id: 2n, name: 'Cats' },
    { id: 3n, name: 'cats' },
  ]
  const find = categoryFinder(categories)

  test('is found by id or by name, or is new', () => {
    expect(find({ categoryId: 1n })).toEqual({ type: 'known', id: 1n })
    expect(find({ category: ' dogs ' })).toEqual({ type: 'known', id: 1n })
    expect(find({ categoryId: 1n, category: 'DOGS' })).toEqual({ type: 'known', id: 1n })
    expect(find({ categoryId: 9n, category: 'Birds' })).toEqual({ type: 'new', id: 9n, name: 'Birds' })
    expect(find({ categoryId: null, category: 'Birds' })).toEqual({
      type: 'new',
      id: undefined,
      name: 'Birds',
    })
  })

  test('is refused if it is missing, contradictory or ambiguous', () => {
    expect(reasonOf(() => find({}))).toBe('the category is missing; fill in categoryId or category')
    expect(reasonOf(() => find({ categoryId: 1n, category: 'Cats' }))).toBe(
      'category 1 is "Dogs", but the row says "Cats"; leave categoryId empty to use the name',
    )
    expect(reasonOf(() => find({ category: 'Cats' }))).toBe(
      'several categories are called "Cats" (2, 3); fill in categoryId',
    )
  })

  test('that is new keeps the first name that a row gives it', () => {
    const findNew = categoryFinder(categories)
    expect(findNew({ categoryId: 9n })).toEqual({ type: 'new', id: 9n, name: undefined })
    const birds = { type: 'new', id: 9n, name: 'Birds' } as const
    expect(findNew({ categoryId: 9n, category: 'Birds' })).toEqual(birds)
    expect(findNew({ categoryId: 9n, category: null })).toEqual(birds)
    expect(findNew({ categoryId: 9n, category: 'birds' })).toEqual(birds)
    expect(reasonOf(() => findNew({ categoryId: 9n, category: 'Fish' }))).toBe(
      'category 9 is "Birds", but the row says "Fish"; leave categoryId empty to use the name',
    )
  })

  test('that is new does not get a used name', () => {
    const findNew = categoryFinder(categories)
    const used = (owner: number, name: string) =>
      `category ${owner} is already called "${name}"; leave categoryId empty to use it`
    expect(reasonOf(() => findNew({ categoryId: 9n, category: 'DOGS' }))).toBe(used(1, 'DOGS'))
    expect(findNew({ categoryId: 9n, category: 'Birds' })).toMatchObject({ type: 'new' })
    expect(reasonOf(() => findNew({ categoryId: 8n, category: 'birds' }))).toBe(used(9, 'birds'))
  })

  test('must exist or have an id in petstore import, and so must the pet', () => {
    const { read } = importedPetRowKind(categories)
    const row = (petId: string, categoryId: string, category: string) =>
      read([petId, 'Rex', categoryId, 'sold', '1', undefined, undefined, category])
    const rex = { id: 7n, name: 'Rex', status: 'sold', quantity: 1 } as const
    expect(row('7', '', 'Dogs')).toEqual({ ...rex, categoryId: 1n })
    expect(row('7', '9', 'Birds')).toEqual({ ...rex, categoryId: 9n, category: 'Birds' })
    expect(reasonOf(() => row('7', '', 'Birds'))).toStartWith(
      'there is no category "Birds"; fill in a categoryId',
    )
    expect(reasonOf(() => row('', '1', ''))).toStartWith('petId is missing; give each new pet an id')
  })
})

describe('An optional field', () => {
  const BOTH = [...PET, '4006381333931', '0']

  test('is absent if its column is missing, null if it is blank, and written the same way', () => {
    expect(PET_ROW_KIND.read(BOTH)).toMatchObject({ barcode: '4006381333931', lowStockAt: 0 })
    expect(PET_ROW_KIND.read([...PET, '', ''])).toMatchObject({ barcode: null, lowStockAt: null })
    expect(Object.keys(PET_ROW_KIND.read(PET))).not.toContain('barcode')
    expect(Object.keys(PET_ROW_KIND.read(PET))).not.toContain('lowStockAt')
    for (const further of [
      ['4006381333931', '0'],
      ['', undefined],
      [undefined, ''],
    ]) {
      const fields = [...PET, ...further]
      expect(PET_ROW_KIND.write(PET_ROW_KIND.read(fields))).toEqual(fields)
    }
  })
})

describe('A category in a file', () => {
  test.each([
    [['9', 'Dogs', '3'], { id: 9n, name: 'Dogs', lowStockAt: 3 }],
    [['-9223372036854775808', 'Cats', ''], { id: -9223372036854775808n, name: 'Cats', lowStockAt: null }],
    [['9', 'Fish', undefined], { id: 9n, name: 'Fish' }],
  ])('%j is read as written', (fields, category) => {
    expect(CATEGORY_ROW_KIND.read(fields)).toStrictEqual(category)
    expect(CATEGORY_ROW_KIND.write(category)).toEqual(fields)
  })

  test.each([
    [['', 'Dogs', ''], 'id must be an integer'],
    [['9', ' ', ''], 'name must be 1 to 200 characters'],
    [['9', 'Dogs', '1.5'], 'lowStockAt must be an integer from 0 to 9007199254740991, got "1.5"'],
  ])('%j is rejected with the reason', (fields, reason) => {
    expect(reasonOf(() => CATEGORY_ROW_KIND.read(fields))).toStartWith(reason)
  })
})

describe('An order in a file', () => {
  test('is read field by field, its time to the millisecond and in any zone', () => {
    const shipDate = (text: string) => ORDER_ROW_KIND.read(withField(ORDER, 3, text)).shipDate
    expect(ORDER_ROW_KIND.read(ORDER)).toEqual({
      id: 1n,
      petId: 7n,
      quantity: 2,
      shipDate: Date.UTC(2026, 8, 1, 10),
      complete: true,
    })
    expect(shipDate('2026-09-01T10:00:00.123999Z')).toBe(Date.UTC(2026, 8, 1, 10, 0, 0, 123))
    expect(shipDate('2026-09-01T12:30:00+02:30')).toBe(Date.UTC(2026, 8, 1, 10))
    expect(shipDate('2028-02-29t00:00:00z')).toBe(Date.UTC(2028, 1, 29))
  })

  test.each([
    '2026-09-01',
    '2026-09-01T10:00:00',
    '2026-09-01 10:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-09-01T24:00:00Z',
    '2026-09-01T10:60:00Z',
    '9999-12-31T23:59:59-01:00',
    'tomorrow',
  ])('with ship date %j is rejected', (text) => {
    expect(reasonOf(() => ORDER_ROW_KIND.read(withField(ORDER, 3, text)))).toStartWith(
      'shipDate must be a date and time with its zone such as 2026-09-01T10:00:00Z, got',
    )
  })

  test.each(['yes', '1', 'True', ''])('with complete %j is rejected', (text) => {
    expect(reasonOf(() => ORDER_ROW_KIND.read(withField(ORDER, 4, text)))).toBe(
      `complete must be true or false, got "${text}"`,
    )
  })
})

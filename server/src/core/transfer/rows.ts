import Type, { RemoveOptional } from 'typebox'
import { nameKey } from '../catalog/catalog-fields.ts'
import { CATEGORY, CATEGORY_UPDATE, type Category, type CategoryPatch } from '../catalog/category.ts'
import { EXPORTED_PET, PET, PET_UPSERT, type PetUpsert } from '../catalog/pet.ts'
import { ORDER_ROW, type OrderRow } from '../orders/order.ts'
import { ADJUSTMENT_ROW, type AdjustmentRow } from '../stock/adjustment.ts'
import type { ErrorCode } from '../values/errors.ts'
import { codecOf, codecsOf, type FieldCodec, type Fields, quote } from '../values/field.ts'

/** A row that cannot be read. The message is for the person who fixes the file. */
export class BadRow extends Error {
  override readonly name = 'BadRow'
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
  /** `invalid_request` if it is absent. */
  readonly code?: ErrorCode
  readonly petId?: bigint
}

/** Returns the reason if `read` throws `BadRow`. */
export function rowOrReason<Row>(line: number, read: () => Row): Row | RefusedLine {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}

/** The text of a field: undefined if the file lacks the column, '' if the column is blank. */
export type FieldText = string | undefined

/** The fields of a row in the order of the columns, or the reason why the line cannot be split into fields. */
export type RawRow = { readonly line: number; readonly fields: readonly FieldText[] } | RefusedLine

/** A column of a file. */
export type Column = Omit<FieldCodec, 'sql' | 'fromJson' | 'toJson' | 'fromSql'>

export interface RowKind<Value> {
  readonly noun: string
  readonly plural: string
  readonly columns: readonly Column[]
  /** Takes the fields in the order of the columns. Throws `BadRow` if a field is invalid. */
  readonly read: (fields: readonly FieldText[], locale?: Locale) => Value
  readonly write: (value: Value) => FieldText[]
}

/** Such as `petId,name,categoryId,status,quantity`. */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

/**
 * Builds the reader and writer of a file's rows from the fields of a record. A blank column clears a field that null clears;
 * any other optional field is absent. `columnOverrides` replace properties of a field's codec.
 */
export function rowKind<Value extends object>(
  noun: string,
  plural: string,
  fields: Fields,
  columnOverrides: Readonly<Record<string, Partial<Column>>> = {},
): RowKind<Value> {
  const codecs = codecsOf(fields)
  const columns = codecs.map((codec): Column => ({ ...codec, ...columnOverrides[codec.name] }))
  return {
    noun,
    plural,
    columns,
    read: (texts, locale) => {
      const row: Record<string, unknown> = {}
      for (const [index, column] of columns.entries()) {
        const text = texts[index]
        const isBlank = text === undefined || (text === '' && column.isOptional)
        if (!isBlank) row[codecs[index]?.name ?? ''] = readField(column, text, locale)
        else if (!column.isOptional) readField(column, '', locale)
        else if (text === '' && column.isClearable) row[codecs[index]?.name ?? ''] = null
      }
      // Every field was read with its codec.
      return row as Value
    },
    write: (value) => {
      const values: Readonly<Record<string, unknown>> = { ...(value as object) }
      return codecs.map(({ name, toText }) => {
        const field = values[name] ?? undefined
        return field === undefined ? undefined : toText(field)
      })
    },
  }
}

/** Throws a `BadRow` that names the column and the expected value. */
function readField(column: Column, text: string, locale: Locale | undefined): unknown {
  const isNumber = column.json === 'number' && column.isInt64 !== true
  const value = column.fromText(isNumber ? wholeNumber(text, locale) : text)
  if (value === undefined) {
    throw new BadRow(`${column.name} must be ${column.expected}, got ${quote(text)}`)
  }
  return value
}

/** How numbers are written in a file. */
export const LOCALES = ['en', 'de'] as const
export type Locale = (typeof LOCALES)[number]

const SEPARATORS = { en: { group: ',', decimal: '.' }, de: { group: '.', decimal: ',' } } as const
/** Such as 1,200.00 or 1200.0. */
const WHOLE_NUMBERS = {
  en: /^-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.0+)?$/,
  de: /^-?(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,0+)?$/,
} as const
const PLAIN_NUMBER = /^-?\d*$/

/**
 * A whole number in plain digits, which has grouped thousands or decimals of zero in a file. Returns other texts as they are. Throws
 * `BadRow` if the number differs between the locales and none is given, such as 1.200.
 */
function wholeNumber(text: string, locale?: Locale): string {
  const trimmed = text.trim()
  if (PLAIN_NUMBER.test(trimmed)) return trimmed
  const readings = LOCALES.filter(
    (each) => each === (locale ?? each) && WHOLE_NUMBERS[each].test(trimmed),
  ).map((each) => {
    const { group, decimal } = SEPARATORS[each]
    return trimmed.replaceAll(group, '').split(decimal, 1).join('')
  })
  const [reading = text, otherReading] = readings
  const isGrouped = /^-?\d{1,3}[.,]\d{3}$/.test(trimmed)
  if (locale === undefined && (isGrouped || (otherReading !== undefined && otherReading !== reading))) {
    throw new BadRow(
      `${quote(trimmed)} is ambiguous, because a dot and a comma mean different things in different countries; write it in plain digits, or give the locale (${LOCALES.join(' or ')})`,
    )
  }
  return reading
}

/** A pet as a file has it. A field that is absent keeps its value; null removes it. The category may be given by its name. */
export type FilePet = PetUpsert & { readonly category?: string }

const { id, name, categoryId, status, quantity, ...clearableFields } = PET_UPSERT
const barcodeCodec = codecOf('barcode', PET_UPSERT.barcode)
/** Such as 4.00638E+12 for 4006381333931. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d+)?E\+\d{2}$/i

const PET_FILE = {
  id,
  name,
  categoryId,
  status,
  quantity,
  ...clearableFields,
  category: Type.Optional(EXPORTED_PET.category),
}

const PET_COLUMN_OVERRIDES: Readonly<Record<string, Partial<Column>>> = {
  id: { name: 'petId' },
  barcode: {
    fromText: (text) => {
      if (!SHORTENED_NUMBER.test(text)) return barcodeCodec.fromText(text)
      throw new BadRow(
        `a spreadsheet has shortened the barcode to ${text}; format the column as text, enter the whole barcode and save the file again`,
      )
    },
  },
}

export const PET_ROW_KIND = rowKind<FilePet>('pet', 'pets', PET_FILE, PET_COLUMN_OVERRIDES)

/** The category of a row. A new category has an id or a name, or both. */
export type RowCategory =
  | { readonly type: 'known'; readonly id: bigint }
  | { readonly type: 'new'; readonly id: bigint | undefined; readonly name: string | undefined }

/**
 * Returns a function that finds a category by id, or by name regardless of case. A category that does not exist is new. The
 * function throws `BadRow` if a row has neither id nor name, if they contradict each other, if the name of a new category is
 * used, or if the row has only a name and several categories have that name. A new category with an id keeps the first name
 * that a row gives it.
 */
export function categoryFinder(
  categories: Iterable<Pick<Category, 'id' | 'name'>>,
): (row: Pick<FilePet, 'categoryId' | 'category'>) => RowCategory {
  const names = new Map<bigint, string>()
  const newNames = new Map<bigint, string>()
  const newIdsByName = new Map<string, bigint>()
  const idsByName = new Map<string, bigint[]>()
  for (const known of categories) {
    names.set(known.id, known.name)
    const key = nameKey(known.name)
    idsByName.set(key, [...(idsByName.get(key) ?? []), known.id])
  }
  return (row) => {
    const wantedName = row.category ?? undefined
    if (row.categoryId != null) {
      const storedName = names.get(row.categoryId)
      const name = storedName ?? newNames.get(row.categoryId) ?? wantedName
      if (name !== undefined && wantedName !== undefined && nameKey(wantedName) !== nameKey(name)) {
        throw new BadRow(
          `category ${row.categoryId} is ${quote(name)}, but the row says ${quote(wantedName)}; leave categoryId empty to use the name`,
        )
      }
      if (storedName !== undefined) return { type: 'known', id: row.categoryId }
      if (name !== undefined) {
        const [ownerId = newIdsByName.get(nameKey(name))] = idsByName.get(nameKey(name)) ?? []
        if (ownerId !== undefined && ownerId !== row.categoryId) {
          throw new BadRow(
            `category ${ownerId} is already called ${quote(name)}; leave categoryId empty to use it`,
          )
        }
        newNames.set(row.categoryId, name)
        newIdsByName.set(nameKey(name), row.categoryId)
      }
      return { type: 'new', id: row.categoryId, name }
    }
    if (wantedName === undefined) throw new BadRow('the category is missing; fill in categoryId or category')
    const [firstId, ...otherIds] = idsByName.get(nameKey(wantedName)) ?? []
    if (firstId === undefined) return { type: 'new', id: undefined, name: wantedName }
    if (otherIds.length === 0) return { type: 'known', id: firstId }
    throw new BadRow(
      `several categories are called ${quote(wantedName)} (${[firstId, ...otherIds].join(', ')}); fill in categoryId`,
    )
  }
}

/** A category as a file has it. Without an id, its name finds it. */
export type FileCategory = Pick<Category, 'name'> & CategoryPatch & { readonly id?: bigint }
const CATEGORY_FILE = {
  id: Type.Optional(CATEGORY.id),
  name: CATEGORY.name,
  lowStockAt: CATEGORY_UPDATE.lowStockAt,
}
export const CATEGORY_ROW_KIND = rowKind<FileCategory>('category', 'categories', CATEGORY_FILE)

export const ADJUSTMENT_ROW_KIND = rowKind<AdjustmentRow>(
  'adjustment line',
  'adjustment lines',
  ADJUSTMENT_ROW,
)

export const ORDER_ROW_KIND = rowKind<OrderRow>('order line', 'order lines', ORDER_ROW)

/** The counted quantity of a pet, which its id or its barcode names. */
export type FileCount = Pick<PetUpsert, 'id'> & { readonly barcode?: string; readonly quantity: number }
const COUNT_FILE = { id, quantity: RemoveOptional(quantity), barcode: PET.barcode }
export const COUNT_ROW_KIND = rowKind<FileCount>('pet', 'pets', COUNT_FILE, PET_COLUMN_OVERRIDES)

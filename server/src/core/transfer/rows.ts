import Type from 'typebox'
import { nameKey } from '../catalog/catalog-fields.ts'
import { CATEGORY, type Category, type ImportedCategory } from '../catalog/category.ts'
import { EXPORTED_PET, type ImportedPet, PET_ROW } from '../catalog/pet.ts'
import { ORDER_ROW, type OrderRow } from '../orders/order.ts'
import { codecOf, codecsOf, type FieldCodec, type Fields, quote } from '../values/field.ts'

// The import view of the page uses only the file readers of core.
export { nameKey }

/** A row that cannot be read. The message is for the person who fixes the file. */
export class BadRow extends Error {
  override readonly name = 'BadRow'
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
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

/** The text of a field: undefined if the row lacks the column, '' if the column is blank. */
export type FieldText = string | undefined

/** The fields of a row in the order of the columns, or the reason why the line cannot be split into fields. */
export type RawRow = { readonly line: number; readonly fields: readonly FieldText[] } | RefusedLine

/** Reads consecutive lines of a file. `isEnd` is true in the last call, which has no lines. */
export type ReadLines = (lines: readonly string[], isEnd: boolean) => RawRow[]

/** More than a valid row needs. Lines are cut, so that a file without line ends does not fill the memory. */
export const MAX_LINE_LENGTH = 8_192
export const TOO_LONG = `is longer than ${MAX_LINE_LENGTH} characters`

/** A column of a file. */
export type Column = Pick<FieldCodec, 'name' | 'json' | 'expected' | 'isOptional' | 'fromText' | 'toText'>

export interface RowKind<Value> {
  readonly noun: string
  readonly plural: string
  readonly columns: readonly Column[]
  /** Takes the fields in the order of the columns. Throws `BadRow` if a field is invalid. */
  readonly read: (fields: readonly FieldText[]) => Value
  readonly write: (value: Value) => FieldText[]
}

/** Such as `petId,name,categoryId,status,quantity`. */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

interface RowOptions {
  /** Column properties that replace those of the field's codec, by field name. */
  readonly columnOverrides?: Readonly<Record<string, Partial<Column>>>
  /** Whether a blank column clears an optional field (null), or means that the field is absent. */
  readonly blank: null | 'absent'
}

/** Builds the reader and writer of a file's rows from the fields of a record. */
export function rowKind<Value extends object>(
  noun: string,
  plural: string,
  fields: Fields,
  { columnOverrides = {}, blank }: RowOptions,
): RowKind<Value> {
  const codecs = codecsOf(fields)
  const columns = codecs.map((codec): Column => ({ ...codec, ...columnOverrides[codec.name] }))
  return {
    noun,
    plural,
    columns,
    read: (texts) => {
      const row: Record<string, unknown> = {}
      for (const [index, column] of columns.entries()) {
        const text = texts[index]
        const isBlank = column.isOptional && text === ''
        if (column.isOptional && (text === undefined || (isBlank && blank === 'absent'))) continue
        row[codecs[index]?.name ?? ''] = isBlank ? null : readField(column, text)
      }
      // Every field was read with its codec.
      return row as Value
    },
    write: (value) => {
      const values: Readonly<Record<string, unknown>> = { ...(value as object) }
      return codecs.map(({ name, toText }) => {
        const field = values[name]
        if (field === undefined) return blank === 'absent' ? '' : undefined
        return field === null ? '' : toText(field)
      })
    },
  }
}

/** Throws a `BadRow` that names the column and the expected value. */
function readField(column: Column, text = ''): unknown {
  const value = column.fromText(text)
  if (value === undefined) {
    throw new BadRow(`${column.name} must be ${column.expected}, got ${quote(text)}`)
  }
  return value
}

/** A pet as a file has it. A new pet may lack its id, and the category may be given by its name. */
export type FilePet = Omit<ImportedPet, 'id' | 'categoryId' | 'category'> & {
  readonly id?: bigint | null
  readonly categoryId?: bigint | null
  readonly category?: string | null
}

const { id, name, categoryId, ...otherFields } = PET_ROW
const barcodeCodec = codecOf('barcode', PET_ROW.barcode)
/** Such as 4.00638E+12 for 4006381333931. */
const SHORTENED_NUMBER = /^\d(?:[.,]\d+)?E\+\d{2}$/i

const PET_FILE = {
  id: Type.Optional(id),
  name,
  categoryId: Type.Optional(categoryId),
  ...otherFields,
  category: Type.Optional(EXPORTED_PET.category),
}

export const PET_ROW_KIND = rowKind<FilePet>('pet', 'pets', PET_FILE, {
  columnOverrides: {
    id: { name: 'petId' },
    barcode: {
      fromText: (text) => {
        if (!SHORTENED_NUMBER.test(text)) return barcodeCodec.fromText(text)
        throw new BadRow(
          `a spreadsheet has shortened the barcode to ${text}; format the column as text, enter the whole barcode and save the file again`,
        )
      },
    },
  },
  blank: null,
})

/** Whether a spreadsheet alters the barcode when it opens a CSV file: it shortens long numbers and drops leading zeros. */
export function isAlteredBySpreadsheets(text: string): boolean {
  return /^(?:\d{12,}|0\d+)$/.test(text)
}

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

/** The rows of `petstore import`. Each row must give the id of its pet, and of its category if the category is new. */
export function importedPetRowKind(
  categories: Iterable<Pick<Category, 'id' | 'name'>>,
): RowKind<ImportedPet> {
  const findCategory = categoryFinder(categories)
  return {
    ...PET_ROW_KIND,
    read: (texts) => {
      const row = PET_ROW_KIND.read(texts)
      const { id: petId, categoryId: _, category: __, ...pet } = row
      if (petId == null) {
        throw new BadRow('petId is missing; give each new pet an id, or import the file on the staff page')
      }
      const found = findCategory(row)
      if (found.id === undefined) {
        throw new BadRow(
          `there is no category ${quote(row.category ?? '')}; fill in a categoryId to create it, import the categories first, or import the file on the staff page`,
        )
      }
      const imported = { ...pet, id: petId, categoryId: found.id }
      return found.type === 'new' && found.name !== undefined
        ? { ...imported, category: found.name }
        : imported
    },
  }
}

export const CATEGORY_ROW_KIND = rowKind<ImportedCategory>('category', 'categories', CATEGORY, {
  blank: null,
})
export const ORDER_ROW_KIND = rowKind<OrderRow>('order', 'orders', ORDER_ROW, { blank: 'absent' })

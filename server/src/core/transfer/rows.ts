import { CATEGORY, type ImportedCategory } from '../catalog/category.ts'
import { type ImportedPet, PET_ROW } from '../catalog/pet.ts'
import { ORDER_ROW, type OrderRow } from '../orders/order.ts'
import { quote } from '../values/exact-json.ts'
import { codecsOf, type FieldCodec, type Fields } from '../values/field.ts'

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

/**
 * Far more than a valid row needs. Longer lines are cut, so that a file without line ends or with an unclosed quote does not
 * fill the memory.
 */
export const MAX_LINE_LENGTH = 8_192
export const TOO_LONG = `is longer than ${MAX_LINE_LENGTH} characters`

/** A column of a CSV file, or a member of the objects in a JSON Lines file. */
export type Column = Pick<FieldCodec, 'name' | 'json' | 'expected' | 'isOptional' | 'fromText' | 'toText'>

/** Reads rows of one kind. */
export interface RowReader<Value> {
  readonly noun: string
  readonly columns: readonly Column[]
  /** Takes the fields in the order of the columns. Throws `BadRow` if a field is invalid. */
  readonly read: (fields: readonly FieldText[]) => Value
}

export interface RowKind<Value> extends RowReader<Value> {
  readonly plural: string
  readonly write: (value: Value) => FieldText[]
}

/** Such as `petId,name,categoryId,status,quantity`. */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

interface RowOptions {
  /** Properties of columns that differ from the codecs of their fields, by field. */
  readonly columns?: Readonly<Record<string, Partial<Column>>>
  /** Whether a blank column clears an optional field (null), or means that the field is absent. */
  readonly blank: null | 'absent'
}

/** Builds the reader and writer of a file's rows from the fields of a record. */
export function rowKind<Value extends object>(
  noun: string,
  plural: string,
  fields: Fields,
  { columns: columnOverrides = {}, blank }: RowOptions,
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

export const PET_ROWS = rowKind<ImportedPet>('pet', 'pets', PET_ROW, {
  columns: { id: { name: 'petId' } },
  blank: null,
})
export const CATEGORY_ROWS = rowKind<ImportedCategory>('category', 'categories', CATEGORY, { blank: null })
export const ORDER_ROWS = rowKind<OrderRow>('order', 'orders', ORDER_ROW, { blank: 'absent' })

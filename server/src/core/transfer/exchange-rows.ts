import { CATEGORY, type ImportedCategory } from '../catalog/category.ts'
import { type ImportedPet, PET_ROW } from '../catalog/pet.ts'
import { ORDER_ROW, type OrderRow } from '../orders/order.ts'
import { quoted } from '../values/exact-json.ts'
import { codecsOf, type FieldCodec, type Fields } from '../values/field.ts'

/** Why a line cannot be taken; written for the one who mends the file. */
export class BadRow extends Error {
  override readonly name = 'BadRow'
}

/** What `read` makes of a line, or the reason where it throws `BadRow`. */
export function rowOrReason<Row>(line: number, read: () => Row): Row | RefusedLine {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
}

/** What a row has in one column: nothing where it is without the column, which is not the same as a blank in it. */
export type Field = string | undefined

/** One row of a file: its fields in the order of the columns, or why there are none to be had. */
export type RawRow = { readonly line: number; readonly fields: readonly Field[] } | RefusedLine

/** Makes rows out of the lines of a file as they come; `isEnd` where there will be no more. */
export type ReadLines = (lines: readonly string[], isEnd: boolean) => RawRow[]

/**
 * Far more than any good row needs. A longer line is cut, so that a file without line ends (or a quote that is
 * never closed) does not end up in memory as a whole.
 */
export const MAX_LINE_LENGTH = 8_192
export const TOO_LONG = `is longer than ${MAX_LINE_LENGTH} characters`

/** A column of a file. In CSV its values are texts, in JSON Lines they have the type of the field. */
export type Column = Pick<FieldCodec, 'name' | 'json' | 'expected' | 'isOptional' | 'fromText' | 'toText'>

/** How one kind of row is read. Its fields have the order of its columns. */
export interface RowReader<Value> {
  readonly noun: string
  readonly columns: readonly Column[]
  /** Throws `BadRow`. */
  readonly read: (fields: readonly Field[]) => Value
}

export interface RowKind<Value> extends RowReader<Value> {
  readonly plural: string
  readonly write: (value: Value) => Field[]
}

/** `petId,name,categoryId,status,quantity` */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

interface RowOptions {
  /** The names of columns that differ from those of their fields. */
  readonly names?: Readonly<Record<string, string>>
  /** What a blank in the column of an optional field means: null clears the field. */
  readonly blank: null | 'absent'
}

/** The rows of a record. */
function rowKind<Value extends object>(
  noun: string,
  plural: string,
  fields: Fields,
  { names = {}, blank }: RowOptions,
): RowKind<Value> {
  const codecs = codecsOf(fields)
  const columns = codecs.map((codec) => ({ ...codec, name: names[codec.name] ?? codec.name }))
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

export const PET_ROWS = rowKind<ImportedPet>('pet', 'pets', PET_ROW, {
  names: { id: 'petId' },
  blank: null,
})
export const CATEGORY_ROWS = rowKind<ImportedCategory>('category', 'categories', CATEGORY, { blank: null })
export const ORDER_ROWS = rowKind<OrderRow>('order', 'orders', ORDER_ROW, { blank: 'absent' })

/** Throws `BadRow` and says what was expected. */
export function readField(column: Column, text = ''): unknown {
  const value = column.fromText(text)
  if (value === undefined) {
    throw new BadRow(`${column.name} must be ${column.expected}, got ${quoted(text)}`)
  }
  return value
}

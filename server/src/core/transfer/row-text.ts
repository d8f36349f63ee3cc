import { type Column, type Field, headerOf, type RowKind } from './exchange-rows.ts'

export const FORMATS = ['csv', 'jsonl'] as const
export type Format = (typeof FORMATS)[number]

/** The text of a file with these rows: what `openRows` reads gives the same rows again, to the last character. */
export async function* textOf<Value>(
  batches: AsyncIterable<readonly Value[]>,
  kind: RowKind<Value>,
  format: Format,
): AsyncGenerator<string> {
  const { columns } = kind
  const lineOf = format === 'csv' ? csvLine(columns) : jsonLine(columns)
  if (format === 'csv') yield `${headerOf(columns)}\n`
  for await (const batch of batches) {
    let text = ''
    for (const value of batch) text += lineOf(kind.write(value))
    yield text
  }
}

function csvLine(columns: readonly Column[]): (fields: readonly Field[]) => string {
  return (fields) => `${columns.map((_, index) => csvField(fields[index] ?? '')).join(',')}\n`
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function jsonLine(columns: readonly Column[]): (fields: readonly Field[]) => string {
  const before = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}"${name}":`)
  const jsonOf = (text: string, { json, isOptional }: Column) => {
    if (isOptional && text === '') return 'null'
    return json === 'string' ? JSON.stringify(text) : text
  }
  const partOf = (column: Column, index: number, field: Field) =>
    field === undefined ? '' : before[index] + jsonOf(field, column)
  return (fields) => `${columns.map((column, index) => partOf(column, index, fields[index])).join('')}}\n`
}

import { closestName } from '../values/closest-name.ts'
import { quote } from '../values/field.ts'
import { BadFile, csvLine, type Header, readRows } from './csv.ts'
import {
  ADJUSTMENT_ROW_KIND,
  CATEGORY_ROW_KIND,
  COUNT_ROW_KIND,
  headerOf,
  ORDER_ROW_KIND,
  PET_ROW_KIND,
  type RawRow,
  type RowKind,
} from './rows.ts'

export const IMPORT_KINDS = {
  pets: PET_ROW_KIND,
  orders: ORDER_ROW_KIND,
  count: COUNT_ROW_KIND,
  categories: CATEGORY_ROW_KIND,
} as const

export type ImportKind = keyof typeof IMPORT_KINDS
/** The cast is needed because Object.keys returns strings. */
export const IMPORT_KIND_NAMES = Object.keys(IMPORT_KINDS) as ImportKind[]

/** The kinds of the files that are imported together, in this order. */
export const STORE_KINDS = ['categories', 'pets', 'orders'] as const satisfies readonly ImportKind[]

export const EXPORT_KINDS = {
  categories: CATEGORY_ROW_KIND,
  pets: PET_ROW_KIND,
  orders: ORDER_ROW_KIND,
  adjustments: ADJUSTMENT_ROW_KIND,
} as const
export type ExportKind = keyof typeof EXPORT_KINDS

/** Describes the files of an export of everything. */
export function exportReadme(): string {
  const sections = Object.entries(EXPORT_KINDS).map(([kind, { columns }]) => {
    const rows = columns.map(
      ({ name, expected, isOptional, description }) =>
        `| ${name} | ${expected}${isOptional ? ', or empty' : ''} | ${description.replaceAll('|', '\\|')} |`,
    )
    return `## ${kind}.csv\n\n| column | value | meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
  })
  return `${README}\n${sections.join('\n')}`
}

const README = `# A petstore export

All files show the store at the same moment. They are CSV (RFC 4180) in UTF-8, and the first line names the columns. A
text that begins with \`=\`, \`+\`, \`-\`, \`@\` or a tab has an apostrophe in front, so that no spreadsheet runs it as a formula.

\`petstore import all FOLDER\` imports ${STORE_KINDS.map((kind) => `${kind}.csv`).join(', ')} into another store:
all rows or none. It does not import adjustments.csv, which is for reading and for other systems. So the other store lacks
the history, which keys made and closed an order, and how many of its units were returned.
\`petstore copy\` moves a whole store, with its history, keys and webhooks.
`

/** The column of a file for each name in its header that the caller has mapped. */
export type ColumnMapping = ReadonlyMap<string, string>

/** Parses a mapping such as `Article:name,Stock:quantity`. Throws `BadFile`. */
export function parseMapping(text: string): ColumnMapping {
  const mapping = new Map<string, string>()
  for (const pair of text.split(',')) {
    const colon = pair.lastIndexOf(':')
    const name = pair.slice(0, Math.max(0, colon)).trim()
    const column = pair.slice(colon + 1).trim()
    if (name === '' || column === '') {
      throw new BadFile(`a mapping must be like Article:name,Stock:quantity, got ${quote(text)}`)
    }
    mapping.set(name, column)
  }
  return mapping
}

/** Other names of the columns, in the header of a file from a shop. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  petId: ['id', 'article number', 'item number', 'product id', 'Artikelnummer', 'Artikelnr', 'Art.-Nr.'],
  name: [
    ...['article', 'item', 'product', 'product name', 'title'],
    ...['Artikel', 'Artikelname', 'Artikelbezeichnung', 'Bezeichnung', 'Produkt', 'Titel'],
  ],
  categoryId: ['category number', 'Kategorienummer', 'Kategorie-ID', 'Warengruppennummer'],
  category: ['category name', 'group', 'product group', 'Kategorie', 'Warengruppe', 'Artikelgruppe'],
  status: ['state', 'Zustand'],
  quantity: [
    ...['stock', 'stock level', 'on hand', 'qty', 'count', 'counted', 'units'],
    ...['Menge', 'Bestand', 'Istbestand', 'Lagerbestand', 'Anzahl', 'Stück', 'Gezählt'],
  ],
  barcode: ['EAN', 'GTIN', 'UPC', 'Strichcode'],
  lowStockAt: ['minimum stock', 'reorder level', 'Mindestbestand', 'Meldebestand'],
  id: ['order id', 'order number', 'category id', 'Auftragsnummer', 'Bestellnummer', 'Kategorienummer'],
  reference: ['order reference', 'receipt', 'Beleg', 'Belegnummer', 'Referenz'],
  shipDate: ['ship date', 'shipping date', 'Lieferdatum', 'Versanddatum'],
  complete: ['completed', 'erledigt', 'abgeschlossen'],
  customer: ['customer name', 'Kunde', 'Kundenname'],
  note: ['notes', 'comment', 'Notiz', 'Bemerkung'],
}

/** Names that are equal apart from case, blanks and punctuation have the same key. */
export function columnKey(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[\s._-]/g, '')
}

export interface MatchedColumns {
  /** For each column of the kind, its index in the header; -1 if the file lacks the column. */
  readonly indexes: readonly number[]
  /** Describes each column of the file that the import ignores. */
  readonly ignored: readonly string[]
}

/** Finds the columns of a file by their names. Throws `BadFile` if the header lacks a column, or names one twice. */
export function matchColumns(
  { names }: Pick<Header, 'names'>,
  { columns, plural }: Pick<RowKind<object>, 'columns' | 'plural'>,
  mapping: ColumnMapping = new Map(),
): MatchedColumns {
  const known = columns.map(({ name }) => name)
  const wanted = new Map(Array.from(mapping, ([name, column]) => [columnKey(name), column]))
  checkMapping(names, known, plural, mapping)
  const isOwnName = (name: string, column: string) => columnKey(column) === columnKey(name)
  const mapped = new Set(wanted.values())
  const found = names.map((name) => {
    const isFree = (column: string) => !mapped.has(column)
    return (
      wanted.get(columnKey(name)) ??
      known.find((column) => isFree(column) && isOwnName(name, column)) ??
      known.find((column) => isFree(column) && OTHER_NAMES[column]?.some((other) => isOwnName(name, other)))
    )
  })
  const twice = known.find((column) => found.filter((each) => each === column).length > 1)
  if (twice !== undefined) {
    const sources = names.filter((_, index) => found[index] === twice)
    throw new BadFile(
      `the columns ${sources.map(quote).join(' and ')} both mean ${twice}; remove one of them, or map the columns`,
    )
  }
  const missing = columns.filter(({ name, isOptional }) => !isOptional && !found.includes(name))
  if (missing.length > 0 || found.every((column) => column === undefined)) {
    const lacking = missing.map(({ name }) => name).join(', ') || 'every known column'
    throw new BadFile(
      `the header ${quote(names.join())} lacks ${lacking}; name the columns as in ${headerOf(columns)}, or map them`,
    )
  }
  const unused = known.filter((column) => !found.includes(column))
  return {
    indexes: known.map((column) => found.indexOf(column)),
    ignored: names
      .filter((_, index) => found[index] === undefined)
      .map((name) => quote(name) + advice(name, unused)),
  }
}

export function checkMapping(
  names: readonly string[],
  known: readonly string[],
  plural: string,
  mapping: ColumnMapping,
): void {
  for (const [name, column] of mapping) {
    if (!known.includes(column))
      throw new BadFile(`${quote(column)} is not a column of ${plural}${advice(column, known)}`)
    if (!names.some((each) => columnKey(each) === columnKey(name))) {
      throw new BadFile(`the header has no column ${quote(name)}, which is mapped to ${column}`)
    }
  }
}

function advice(name: string, known: readonly string[]): string {
  const similar = closestName(name, known)
  return similar === undefined ? '' : ` (did you mean ${similar}?)`
}

/** Reads the rows of a file in batches. Their fields are in the order of the matched columns. */
export function* readColumns(
  text: string,
  header: Header,
  { indexes }: Pick<MatchedColumns, 'indexes'>,
): Generator<RawRow[]> {
  for (const rows of readRows(text, header)) {
    yield rows.map((row) =>
      'reason' in row ? row : { line: row.line, fields: indexes.map((index) => row.fields[index]) },
    )
  }
}

/** Writes a file with these values. An import of the file clears the fields that a value lacks. */
export async function* fileText<Value>(
  batches: AsyncIterable<readonly Value[]>,
  kind: RowKind<Value>,
): AsyncGenerator<string> {
  yield `${headerOf(kind.columns)}\n`
  for await (const batch of batches) yield linesOf(batch, kind)
}

/** Like `fileText`, for a file with few values. */
export function csvText<Value>(values: readonly Value[], kind: RowKind<Value>): string {
  return `${headerOf(kind.columns)}\n${linesOf(values, kind)}`
}

function linesOf<Value>(values: readonly Value[], { columns, write }: RowKind<Value>): string {
  let text = ''
  for (const value of values) text += csvLine(columns, write(value))
  return text
}

import {
  csvReader,
  type FileKind,
  isBeforeHeader,
  readHeader,
  rejectWorkbook,
} from '../../../../server/src/core/transfer/csv.ts'
import {
  type FilePet,
  PET_ROW_KIND,
  type RefusedLine,
  rowOrReason,
} from '../../../../server/src/core/transfer/rows.ts'

export interface FileLine {
  readonly line: number
  /** An absent field stays as it is; null removes the value. */
  readonly pet: FilePet
}

export interface PetFile {
  readonly name: string
  readonly lines: readonly FileLine[]
  readonly refused: readonly RefusedLine[]
  /** Whether the file was read as Windows-1252, because it is not UTF-8. */
  readonly isLatin: boolean
  /** Whether a cell begins with an apostrophe that is removed, as in `'=1+1`. */
  readonly hasGuards: boolean
}

export const TEMPLATE =
  'name,category,status,quantity,barcode,lowStockAt\nGoldfish (example),Fish,available,12,,3\n'

const PETS: FileKind = { label: 'pets', columns: PET_ROW_KIND.columns }

/** Reads a CSV file of pets like `petstore import`. If it is not such a file, throws an error with a message for the user. */
export function readPetFile(name: string, bytes: Uint8Array): PetFile {
  const { text, isLatin } = decode(name, bytes)
  const all = text.split('\n')
  const start = all.findIndex((line) => !isBeforeHeader(line))
  if (start === -1) throw new Error(`${name} is empty. The first line must name the columns.`)
  const header = readHeader(all[start] ?? '', name, PETS)
  if (header === undefined) {
    throw new Error(`${name} has no column names in the first line. Use the template.`)
  }
  const rows = csvReader(header.columnIndexes, header.delimiter, start + 2)(all.slice(start + 1), true)
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const row of rows) {
    const read = 'reason' in row ? row : rowOrReason(row.line, () => PET_ROW_KIND.read(row.fields))
    if ('reason' in read) refused.push(read)
    else lines.push({ line: row.line, pet: read })
  }
  return { name, lines, refused, isLatin, hasGuards: /(?:^|[,;\t"])'+[=+\-@]/m.test(text) }
}

function decode(name: string, bytes: Uint8Array): { readonly text: string; readonly isLatin: boolean } {
  rejectWorkbook(bytes, name)
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16) throw new Error(`${name} is UTF-16. Save it as CSV UTF-8.`)
  if (bytes.includes(0)) throw new Error(`${name} is not text. Save it as CSV (in Excel: CSV UTF-8).`)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isLatin: false }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), isLatin: true }
  }
}

import { csvReader, type FileKind, readHeader } from '../../../../server/src/core/transfer/csv.ts'
import {
  headerOf,
  PET_ROWS,
  type RefusedLine,
  rowOrReason,
} from '../../../../server/src/core/transfer/rows.ts'

/** A pet as the file has it. An absent field stays as it is; null removes the value. */
type FilePet = ReturnType<typeof PET_ROWS.read>

export interface FileLine {
  readonly line: number
  readonly pet: FilePet
}

export interface PetFile {
  readonly name: string
  readonly lines: readonly FileLine[]
  readonly refused: readonly RefusedLine[]
  /** Whether a line has a barcode or a threshold, or removes it. */
  readonly hasDetails: boolean
  /** Whether the file was read as Windows-1252, because it is not UTF-8. */
  readonly isLatin: boolean
}

export const PET_COLUMNS = headerOf(PET_ROWS.columns)
const PETS: FileKind<'pets'> = {
  name: 'pets',
  label: 'pets',
  columns: PET_ROWS.columns,
  header: PET_COLUMNS,
}

/** Reads a CSV file of pets like `petstore import`. If it is not such a file, throws an error with a message for the user. */
export function readPetFile(name: string, bytes: Uint8Array): PetFile {
  const { text, isLatin } = decode(name, bytes)
  const all = text.split('\n')
  const start = all.findIndex((line) => !/^[\s,;]*$/.test(line))
  if (start === -1) throw new Error(`${name} is empty. The first line must be: ${PET_COLUMNS}`)
  const header = readHeader(all[start] ?? '', name, [PETS])
  if (header === undefined) {
    throw new Error(`${name} has no column names in the first line. It must be: ${PET_COLUMNS}`)
  }
  const rows = csvReader(header.columnIndexes, header.delimiter, start + 2)(all.slice(start + 1), true)
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const row of rows) {
    if ('reason' in row) refused.push(row)
    else {
      const read = rowOrReason(row.line, () => PET_ROWS.read(row.fields))
      if ('reason' in read) refused.push(read)
      else lines.push({ line: row.line, pet: read })
    }
  }
  const hasDetails = lines.some(({ pet }) => pet.barcode !== undefined || pet.lowStockAt !== undefined)
  return { name, lines, refused, hasDetails, isLatin }
}

function decode(name: string, bytes: Uint8Array): { readonly text: string; readonly isLatin: boolean } {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (isUtf16) throw new Error(`${name} is UTF-16. Save it as CSV UTF-8.`)
  if (bytes.includes(0)) throw new Error(`${name} is not text. Save it as CSV (in Excel: CSV UTF-8).`)
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isLatin: false }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), isLatin: true }
  }
}

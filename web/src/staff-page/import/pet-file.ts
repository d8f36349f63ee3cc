import { BadFile, decodeFile, NotUtf8, readHeader } from '../../../../server/src/core/transfer/csv.ts'
import { matchColumns, readColumns } from '../../../../server/src/core/transfer/files.ts'
import {
  COMPLETE_PET_ROW_KIND,
  type CompletePet,
  type RefusedLine,
  rowOrReason,
} from '../../../../server/src/core/transfer/rows.ts'

export interface FileLine {
  readonly line: number
  /** An absent field stays as it is; null removes the value. */
  readonly pet: CompletePet
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

/** Reads a CSV file of pets like `petstore import`. If it is not such a file, throws an error with a message for the user. */
export function readPetFile(name: string, bytes: Uint8Array): PetFile {
  const { text, isLatin } = decode(bytes)
  const header = readHeader(text)
  const columns = matchColumns(header, COMPLETE_PET_ROW_KIND)
  if (columns.ignored.length > 0) {
    throw new BadFile(
      `the columns ${columns.ignored.join(', ')} are unknown; remove them or correct their names`,
    )
  }
  const lines: FileLine[] = []
  const refused: RefusedLine[] = []
  for (const row of [...readColumns(text, header, columns)].flat()) {
    const read = 'reason' in row ? row : rowOrReason(row.line, () => COMPLETE_PET_ROW_KIND.read(row.fields))
    if ('reason' in read) refused.push(read)
    else lines.push({ line: row.line, pet: read })
  }
  return { name, lines, refused, isLatin, hasGuards: /(?:^|[,;\t"])'+[=+\-@]/m.test(text) }
}

function decode(bytes: Uint8Array): { readonly text: string; readonly isLatin: boolean } {
  try {
    return { text: decodeFile(bytes, 'utf8'), isLatin: false }
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error
    return { text: decodeFile(bytes, 'latin1'), isLatin: true }
  }
}

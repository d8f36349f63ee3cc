import { MAX_LINE_LENGTH } from './exchange-rows.ts'

/** How the text of a file may be encoded. What is called Latin-1 is Windows-1252, as spreadsheets write it. */
export const ENCODINGS = ['utf8', 'latin1'] as const
export type Encoding = (typeof ENCODINGS)[number]

const MAX_CHARACTER_BYTES = 4

/** The file holds bytes that are not UTF-8; the first of them stands on `line`. */
export class NotUtf8 extends Error {
  override readonly name = 'NotUtf8'

  constructor(file: string, line: number) {
    super(`${file} is not UTF-8 (line ${line}) but probably Latin-1 (Windows-1252)`)
  }
}

/** Text as it arrives, cut into lines without their "\n"; one that is too long is one character too long, not more. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  encoding: Encoding,
): AsyncGenerator<string[], void> {
  // Drops a byte order mark.
  const decoder = new TextDecoder(encoding === 'latin1' ? 'windows-1252' : 'utf-8', { fatal: true })
  const cut = (line: string) => (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH + 1) : line)
  let rest: string | undefined
  let line = 1
  /** What may be a part of a character that goes on in the next chunk. */
  let unfinished: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    if (rest === undefined) refuseMark(chunk, file, encoding)
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch {
      if (chunk.includes(0)) throw new Error(`${file} is not text; save it as CSV (in Excel: CSV UTF-8)`)
      throw new NotUtf8(file, line + goodLines(Buffer.concat([unfinished, chunk])))
    }
    unfinished = lastCharacter(Buffer.concat([unfinished, chunk.subarray(-MAX_CHARACTER_BYTES)]))
    const lines = ((rest ?? '') + text).split('\n').map(cut)
    rest = lines.pop() ?? ''
    line += lines.length
    yield lines
  }
  try {
    rest = (rest ?? '') + decoder.decode()
  } catch {
    throw new NotUtf8(file, line)
  }
  if (rest !== '') yield [cut(rest)]
}

/** What a file begins with may say how it is encoded. */
function refuseMark(start: Uint8Array, file: string, encoding: Encoding): void {
  const bytes = Buffer.from(start.subarray(0, 3)).toString('hex')
  if (/^(?:fffe|feff)/.test(bytes)) throw new Error(`${file} is UTF-16; save it as UTF-8`)
  if (encoding === 'latin1' && bytes === 'efbbbf') {
    throw new Error(`${file} is UTF-8, not Latin-1, as its byte order mark says; read it as that`)
  }
}

/** Empty where that is ASCII, which is one byte. */
function lastCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  return bytes.subarray((bytes[start] ?? 0) < 0x80 ? bytes.length : start)
}

/** How many lines of bytes that are not UTF-8 stand before the first that is not. */
function goodLines(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let from = 0, lines = 0; ; lines++) {
    const end = bytes.indexOf(0x0a, from)
    if (end === -1) return lines
    try {
      decoder.decode(bytes.subarray(from, end))
    } catch {
      return lines
    }
    from = end + 1
  }
}

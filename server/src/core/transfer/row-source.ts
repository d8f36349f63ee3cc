import { csvReader, parseRecord } from './csv-rows.ts'
import {
  headerOf,
  MAX_LINE_LENGTH,
  ORDER_ROWS,
  PET_ROWS,
  quoted,
  type RawRow,
  type ReadLines,
} from './exchange-rows.ts'
import { jsonReader } from './json-rows.ts'

/** A file whose kind is known, and whose rows are read as they are asked for. */
export interface RowSource {
  readonly kind: 'pets' | 'orders'
  readonly batches: AsyncIterable<readonly RawRow[]>
}

const COLUMNS = { pets: PET_ROWS.columns, orders: ORDER_ROWS.columns } as const
const EXPECTED = `expected CSV with the header ${headerOf(COLUMNS.pets)} (pets) or ${headerOf(COLUMNS.orders)} (orders), or JSON Lines with these names`

/** Only orders have such names, and inside a JSON text the quotes around them would be escaped. */
const NAME_OF_ORDERS = /"(?:id|shipDate|complete)"\s*:/

/** Looks at the first line that is not blank and tells what the file holds. Throws where that is none of the known. */
export async function openRows(chunks: AsyncIterable<Uint8Array>, name: string): Promise<RowSource> {
  const lines = linesOf(chunks, name)
  let line = 1
  for (;;) {
    const { value: batch, done } = await lines.next()
    if (done === true) throw new Error(`${name} is empty; ${EXPECTED}`)
    const start = batch.findIndex((text) => text.trim() !== '')
    line += start === -1 ? batch.length : start
    if (start === -1) continue
    const [first = '', ...rest] = batch.slice(start)
    if (first.trimStart().startsWith('{')) {
      const kind = NAME_OF_ORDERS.test(first) ? 'orders' : 'pets'
      return { kind, batches: rowsOf(jsonReader(COLUMNS[kind], line), [first, ...rest], lines) }
    }
    const { kind, order } = readHeader(first, name)
    return { kind, batches: rowsOf(csvReader(order, line + 1), rest, lines) }
  }
}

/** Text as it arrives, cut into lines without their "\n"; one that is too long is one character too long, not more. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string[], void> {
  // Drops a byte order mark, and puts U+FFFD in place of what is not UTF-8.
  const decoder = new TextDecoder()
  const cut = (line: string) => (line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH + 1) : line)
  let rest: string | undefined
  for await (const chunk of chunks) {
    if (rest === undefined && /^(?:fffe|feff)/.test(Buffer.from(chunk.subarray(0, 2)).toString('hex'))) {
      throw new Error(`${name} is UTF-16; save it as UTF-8`)
    }
    const lines = ((rest ?? '') + decoder.decode(chunk, { stream: true })).split('\n').map(cut)
    rest = lines.pop() ?? ''
    yield lines
  }
  const last = (rest ?? '') + decoder.decode()
  if (last !== '') yield [cut(last)]
}

function readHeader(text: string, file: string): { kind: RowSource['kind']; order: number[] } {
  const names = parseRecord(text)
  for (const kind of ['pets', 'orders'] as const) {
    if (!Array.isArray(names)) break
    const order = COLUMNS[kind].map(({ name }) => names.indexOf(name))
    if (names.length === order.length && !order.includes(-1)) return { kind, order }
  }
  throw new Error(`${file} begins with ${quoted(text)}; ${EXPECTED}`)
}

async function* rowsOf(
  read: ReadLines,
  first: readonly string[],
  lines: AsyncIterable<readonly string[]>,
): AsyncGenerator<RawRow[]> {
  yield read(first, false)
  for await (const batch of lines) yield read(batch, false)
  yield read([], true)
}

import type { ServiceError } from './errors.ts'
import { invalidField, parseInt64 } from './field.ts'

export interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** The cursor of the next page; `undefined` on the last page. */
  readonly next: string | undefined
}

interface PagedList<Row, Position> {
  positionOf(cursor: string): Position
  /** At most `limit` rows after the position, or from the start of the list. */
  read(limit: number, after: Position | undefined): Promise<readonly Row[]>
  cursorOf(row: Row): string
}

export async function readPage<Row, Position>(
  { limit, cursor }: PageRequest,
  list: PagedList<Row, Position>,
): Promise<Page<Row>> {
  const after = cursor === undefined ? undefined : list.positionOf(cursor)
  // The additional row shows whether there is a next page.
  const found = await list.read(limit + 1, after)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const hasNextPage = found.length > limit
  return { rows, next: hasNextPage && last !== undefined ? list.cursorOf(last) : undefined }
}

export function readPageById<Row extends { readonly id: bigint }>(
  request: PageRequest,
  read: PagedList<Row, bigint>['read'],
): Promise<Page<Row>> {
  const positionOf = (cursor: string) => {
    const id = parseInt64(cursor)
    if (id === undefined) throw unknownCursor(cursor)
    return id
  }
  return readPage(request, { positionOf, read, cursorOf: ({ id }) => String(id) })
}

export function unknownCursor(cursor: string | undefined): ServiceError {
  return invalidField(
    'cursor',
    `cursor must come from the Link header of a page, got ${JSON.stringify(cursor?.slice(0, 40))}; leave it out to start with the first page`,
  )
}

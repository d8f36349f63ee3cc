import { ServiceError } from './errors.ts'
import { type HistoryEntry, noEntry } from './inventory.ts'
import type { LiveView } from './live-view.ts'
import type { Store } from './store.ts'

/** A change as callers see it. */
export interface NamedHistoryEntry extends HistoryEntry {
  /** Opaque; a later change of the same pet has another one. */
  readonly id: string
  /** The name of the key, or its id where the key is not known any more. */
  readonly keyName: string
}

export interface HistoryPage {
  readonly entries: readonly NamedHistoryEntry[]
  /** From where the next page follows; `undefined` where there is none. */
  readonly next: string | undefined
}

export interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

/** A page of the changes of one pet, newest first. */
export async function listChanges(
  store: Pick<Store, 'listHistoryPage'>,
  view: Pick<LiveView, 'find'>,
  petId: bigint,
  { limit, cursor }: PageRequest,
): Promise<HistoryPage> {
  const page = await store.listHistoryPage(petId, limit, cursor)
  if (page === 'unknown_cursor') throw unknownCursor(cursor)
  if (page.entries.length > 0 || (await view.find(petId)) !== undefined) return page
  // Behind the last page of a pet that was removed there is nothing, but there is a history.
  const first = cursor === undefined ? page : await store.listHistoryPage(petId, 1, undefined)
  if (first === 'unknown_cursor' || first.entries.length === 0) throw noEntry(petId)
  return page
}

/** A page of the changes of all pets, newest first. */
export async function listChangesOfAll(
  store: Pick<Store, 'listRecentHistory'>,
  { limit, cursor }: PageRequest,
): Promise<HistoryPage> {
  const page = await store.listRecentHistory(limit, cursor)
  if (page === 'unknown_cursor') throw unknownCursor(cursor)
  return page
}

export function unknownCursor(cursor: string | undefined): ServiceError {
  return new ServiceError(
    'invalid_request',
    `cursor must be one that the Link header of a page gave, got ${JSON.stringify(cursor?.slice(0, 40))}; leave it out to begin anew`,
  )
}

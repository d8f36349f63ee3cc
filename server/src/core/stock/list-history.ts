import { type PageRequest, unknownCursor } from '../values/page-request.ts'
import type { HistoryPage } from './history.ts'
import { noEntry } from './inventory.ts'
import type { HistoryStore } from './stock-store.ts'
import type { LiveView } from './view/live-view.ts'

/** A page of the changes of one pet, newest first. */
export async function listChanges(
  store: Pick<HistoryStore, 'listHistoryPage'>,
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
  store: Pick<HistoryStore, 'listRecentHistory'>,
  { limit, cursor }: PageRequest,
): Promise<HistoryPage> {
  const page = await store.listRecentHistory(limit, cursor)
  if (page === 'unknown_cursor') throw unknownCursor(cursor)
  return page
}

import { type PageRequest, unknownCursor } from '../values/page-request.ts'
import { type HistoryEntry, noEntry } from './inventory.ts'
import type { HistoryStore } from './stock-store.ts'
import type { LiveView } from './view/live-view.ts'

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

/** Which of the oldest rows of the log may go: those from before a time, or all but so many of the newest. */
export type PruneLimit = { readonly before: number } | { readonly keep: number }

/** A change as both stores keep it, with the name of its key. */
export interface HistoryRow {
  readonly id: bigint
  readonly pet_id: bigint
  readonly before: bigint
  readonly after: bigint
  readonly at: bigint
  readonly key_id: string
  readonly name: string | null
}

/** Above every id that a row can have: where the newest changes are asked for. */
export const HIGHEST_ID = 2n ** 63n - 1n

/** Of one row more than asked for, where there is one: it tells that there is a next page. */
export function pageOfRows(rows: readonly HistoryRow[], limit: number): HistoryPage {
  const entries = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    ...toHistoryEntry(row),
    keyName: row.name ?? row.key_id,
  }))
  return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
}

export function toHistoryEntry(row: Omit<HistoryRow, 'id' | 'name'>): HistoryEntry {
  return {
    petId: row.pet_id,
    before: Number(row.before),
    after: Number(row.after),
    at: Number(row.at),
    keyId: row.key_id,
  }
}

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

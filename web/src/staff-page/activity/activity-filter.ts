import type { ChangeFilter, Page, PetstoreClient, Reason } from '@petstore/client'
import type { HistorySource } from '../data/history/change-history.ts'
import { type Change, changeOf } from '../data/history/change-log.ts'
import type { PetEdit } from '../data/history/pet-edits.ts'
import { REASON_WORDS } from '../data/reason-words.ts'
import { fold } from '../data/stock/search-text.ts'

/** The filters as the user enters them. */
export interface ActivityFilter {
  /** A part of the name of a key. */
  readonly who: string
  readonly reason: Reason | ''
  /** Local days, such as 2026-11-16. The whole last day is included. */
  readonly from: string
  readonly to: string
  readonly petId: bigint | undefined
}

export const NO_ACTIVITY_FILTER: ActivityFilter = { who: '', reason: '', from: '', to: '', petId: undefined }

// The cast is safe: `REASON_WORDS` has every reason and nothing else.
export const REASONS = Object.keys(REASON_WORDS) as readonly Reason[]

const PAGE_SIZE = 50
/** The size of pages that are searched for a part of a name. */
const SEARCHED_PAGE_SIZE = 500
/** After this many pages without a match, the user decides whether to search further. */
const MAX_PAGES = 4

export function isFilteringActivity({ who, reason, from, to, petId }: ActivityFilter): boolean {
  return who.trim() !== '' || reason !== '' || from !== '' || to !== '' || petId !== undefined
}

/**
 * The changes that match. The service filters by whole names only, so this filters by a part of a name itself.
 * `keyNames` collects the names of all keys that occur.
 */
export function activitySource(
  client: Pick<PetstoreClient, 'inventory'>,
  live: HistorySource['live'],
  filter: ActivityFilter,
  keyNames: Map<string, string>,
): HistorySource {
  const query = queryOf(filter)
  const who = fold(filter.who.trim())
  const wholeName = [...keyNames.values()].find((name) => fold(name) === who)
  const isBy = (name: string) =>
    wholeName === undefined ? fold(name).includes(who) : fold(name) === fold(wholeName)
  const limit = who === '' || wholeName !== undefined ? PAGE_SIZE : SEARCHED_PAGE_SIZE
  return {
    live,
    fits: (change) => {
      if (!fitsQuery(change, query)) return false
      const name = keyNames.get(change.keyId)
      if (who === '') return true
      return name === undefined ? 'unknown' : isBy(name)
    },
    load: async (cursor, signal) => {
      let page: Page<Change> = { items: [], next: cursor }
      for (let count = 0; count < MAX_PAGES && page.items.length === 0; count++) {
        if (count > 0 && page.next === undefined) break
        const { items, next } = await client.inventory.changes({
          ...query,
          ...(wholeName === undefined ? {} : { who: wholeName }),
          limit,
          cursor: page.next,
          signal,
        })
        for (const { keyId, keyName } of items) keyNames.set(keyId, keyName)
        page = { items: items.filter(({ keyName }) => isBy(keyName)).map(changeOf), next }
      }
      return page
    },
  }
}

/** Whether an edit of a pet matches. Edits have no reason. */
export function fitsEdit({ petId, at }: PetEdit, who: string, filter: ActivityFilter): boolean {
  return (
    filter.reason === '' &&
    fitsQuery({ petId, at }, queryOf(filter)) &&
    fold(who).includes(fold(filter.who.trim()))
  )
}

function queryOf({ reason, from, to, petId }: ActivityFilter): ChangeFilter {
  const [since, until] = [startOf(from, 0), startOf(to, 1)]
  return {
    ...(reason === '' ? {} : { reason }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(petId === undefined ? {} : { petId }),
  }
}

function fitsQuery(
  { petId, reason, at }: Pick<Change, 'petId' | 'reason' | 'at'>,
  query: ChangeFilter,
): boolean {
  return (
    (query.petId === undefined || query.petId === petId) &&
    (query.reason === undefined || query.reason === reason) &&
    (query.since === undefined || at >= Date.parse(query.since)) &&
    (query.until === undefined || at < Date.parse(query.until))
  )
}

/** The filter in the address of the page, so that a reload and a link restore it. */
export function toAddress({ who, reason, from, to, petId }: ActivityFilter): string {
  const parts = { who: who.trim(), reason, from, to, pet: petId === undefined ? '' : String(petId) }
  return new URLSearchParams(Object.entries(parts).filter(([, value]) => value !== '')).toString()
}

export function fromAddress(query: string | undefined): ActivityFilter {
  const parts = new URLSearchParams(query ?? '')
  const day = (name: string) => {
    const text = parts.get(name) ?? ''
    return startOf(text, 0) === undefined ? '' : text
  }
  const pet = parts.get('pet') ?? ''
  return {
    who: parts.get('who') ?? '',
    reason: REASONS.find((reason) => reason === parts.get('reason')) ?? '',
    from: day('from'),
    to: day('to'),
    petId: /^-?\d{1,18}$|^-?[1-8]\d{18}$/.test(pet) ? BigInt(pet) : undefined,
  }
}

/** When a local day begins, or the day `daysAfter` it; `undefined` if the text is not a day. */
function startOf(day: string, daysAfter: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysAfter)
  return year === undefined || Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}

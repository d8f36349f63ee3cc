import type { ChangeFilter, Page, PetstoreClient } from '@petstore/client'
import type { HistorySource } from '../data/history/change-history.ts'
import { type Change, changeOf } from '../data/history/change-log.ts'

const TO_A_PAGE = 50
/** A filter may find nothing in what was looked at: so often is it looked further back before the user is asked. */
const MAX_EMPTY_PAGES = 3

/** The changes that fit, and those that fit as they happen. `keyNames` is what is known by now of whose keys they are. */
export function activitySource(
  client: Pick<PetstoreClient, 'inventory'>,
  live: HistorySource['live'],
  query: ChangeFilter,
  keyNames: Map<string, string>,
): HistorySource {
  return {
    live,
    fits: (change) => fits(change, query, keyNames),
    load: async (cursor, signal) => {
      let page: Page<Change>
      let next = cursor
      let empty = 0
      do {
        const answer = await client.inventory.changes({ ...query, limit: TO_A_PAGE, cursor: next, signal })
        for (const { keyId, keyName } of answer.items) keyNames.set(keyId, keyName)
        page = { items: answer.items.map(changeOf), next: answer.next }
        next = answer.next
      } while (page.items.length === 0 && next !== undefined && ++empty < MAX_EMPTY_PAGES)
      return page
    },
  }
}

/** `unknown` where only the service can tell: an event has the id of a key, and not its name. */
function fits(
  { petId, keyId, reason, at }: Change,
  query: ChangeFilter,
  keyNames: ReadonlyMap<string, string>,
): boolean | 'unknown' {
  const isWanted =
    (query.petId === undefined || query.petId === petId) &&
    (query.reason === undefined || query.reason === reason) &&
    (query.since === undefined || at >= Date.parse(query.since)) &&
    (query.until === undefined || at < Date.parse(query.until))
  if (!isWanted || query.who === undefined || query.who === keyId) return isWanted
  const name = keyNames.get(keyId)
  return name === undefined ? 'unknown' : name === query.who
}

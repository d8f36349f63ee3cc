import type { InventoryEvent, PetstoreClient, Reason } from '@petstore/client'
import { useMemo } from 'preact/compat'
import { type Change, changeKey, changeOf } from './history/change-log.ts'
import type { LiveChanges } from './history/live-changes.ts'
import { type RecordSource, useLiveRecords } from './live-records.ts'

/** Units that were sold or received at one time. Negative if a change was undone. */
export interface Trade {
  readonly petId: bigint
  readonly at: number
  readonly units: number
}

export interface TradeLog {
  readonly trades: readonly Trade[]
  /** The start of the time that the trades cover. */
  readonly since: number
  /** Whether the trades cover all the time that was asked for. */
  readonly isComplete: boolean
}

const DAY_MS = 86_400_000
/** The pace of sales is measured over this time. */
const PACE_DAYS = 28
/** One sale on the first day does not mean that many more follow. */
const MIN_PACE_DAYS = 7
const PAGE_SIZE = 1_000

/** The trades with this reason in the last weeks. */
export function useTrades(
  client: PetstoreClient,
  events: LiveChanges<InventoryEvent>,
  reason: Extract<Reason, 'sold' | 'received'>,
) {
  const since = useMemo(() => new Date().setHours(0, 0, 0, 0) - PACE_DAYS * DAY_MS, [])
  const source = useMemo<RecordSource<Change, InventoryEvent>>(
    () => ({
      events,
      keyOf: changeKey,
      concerns: (event) => event.type === 'change' && event.reason === reason,
      load: async (cursor, signal) => {
        const from = new Date(since).toISOString()
        const page = await client.inventory.changes({ reason, since: from, limit: PAGE_SIZE, cursor, signal })
        return { items: page.items.map(changeOf), next: page.next }
      },
    }),
    [client, events, reason, since],
  )
  const { records, failure, reload } = useLiveRecords(source)
  const log = useMemo((): TradeLog | undefined => {
    if (records === undefined) return undefined
    const { items, isComplete } = records
    return { trades: items.map(tradeOf), since: isComplete ? since : earliest(items, since), isComplete }
  }, [records, since])
  return { log, failure, reload }
}

function tradeOf({ petId, at, before, after, reason }: Change): Trade {
  return { petId, at, units: reason === 'sold' ? before - after : after - before }
}

function earliest(items: readonly { readonly at: number }[], fallback: number): number {
  return items.reduce((first, { at }) => Math.min(first, at), items[0]?.at ?? fallback)
}

/** The units that were traded at or after `from` and before `until`. */
export function unitsBetween(trades: readonly Trade[], from: number, until: number): number {
  return trades.reduce((sum, { at, units }) => (at >= from && at < until ? sum + units : sum), 0)
}

/** The units of each pet that were traded at or after `from`. */
export function unitsByPet(trades: readonly Trade[], from: number): ReadonlyMap<bigint, number> {
  const sums = new Map<bigint, number>()
  for (const { petId, at, units } of trades) {
    if (at >= from) sums.set(petId, (sums.get(petId) ?? 0) + units)
  }
  return sums
}

/** The units of each pet that are sold a day, over the last weeks or since the first sale. */
export function pacePerDay({ trades, since }: TradeLog, now: number): ReadonlyMap<bigint, number> {
  const first = Math.max(since, earliest(trades, since))
  const days = Math.min(PACE_DAYS, Math.max(MIN_PACE_DAYS, (now - first) / DAY_MS))
  const pace = new Map<bigint, number>()
  for (const [petId, units] of unitsByPet(trades, first)) {
    if (units > 0) pace.set(petId, units / days)
  }
  return pace
}

import type { PetstoreClient, Reason } from '@petstore/client'
import { useCallback, useEffect, useState } from 'react'
import { failureWords } from './failure-words.ts'
import { type Change, changeOf } from './history/change-log.ts'
import type { LiveChanges } from './history/live-changes.ts'

/** Units that were sold or received at one time. Negative if a change was undone. */
export interface Trade {
  readonly petId: bigint
  readonly at: number
  readonly units: number
}

export interface TradeLog {
  /** Newest first. */
  readonly trades: readonly Trade[]
  /** The start of the time that the trades cover. */
  readonly since: number
  /** Whether the trades cover all the time that was asked for. */
  readonly isComplete: boolean
}

export interface Trades {
  readonly log: TradeLog | undefined
  readonly failure: string | undefined
  readonly reload: () => void
}

interface Source {
  readonly client: PetstoreClient
  readonly changes: LiveChanges
}

export const DAY_MS = 86_400_000
/** The pace of sales is measured over this time. */
export const PACE_DAYS = 28
/** One sale on the first day does not mean that many more follow. */
const MIN_PACE_DAYS = 7
/** Limits the requests of one reason: with the smallest plan, a key has 60 a minute. */
const MAX_PAGES = 5
const PAGE_SIZE = 1_000

/** The trades with this reason in the last weeks: loaded once, then kept current by events. */
export function useTrades({ client, changes }: Source, reason: Extract<Reason, 'sold' | 'received'>): Trades {
  const [log, setLog] = useState<TradeLog>()
  const [failure, setFailure] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  useEffect(() => {
    const end = new AbortController()
    // Events that arrive while the list is loaded may be missing from it.
    let duringLoad: Change[] | undefined = []
    const leave = changes.subscribe((notice) => {
      if (notice.type === 'missed') reload()
      else if (notice.change.reason !== reason) return
      else if (duringLoad !== undefined) duringLoad.push(notice.change)
      else setLog((before) => before && withTrades(before, [tradeOf(notice.change)]))
    })
    loadChanges(client, reason, end.signal).then(
      ({ listed, since, isComplete }) => {
        if (end.signal.aborted) return
        const known = new Set(listed.map(identityOf))
        const added = (duringLoad ?? []).filter((change) => !known.has(identityOf(change)))
        duringLoad = undefined
        setLog(withTrades({ trades: listed.map(tradeOf), since, isComplete }, added.map(tradeOf)))
        setFailure(undefined)
      },
      (error: unknown) => {
        if (!end.signal.aborted) setFailure(failureWords(error))
      },
    )
    return () => {
      leave()
      end.abort()
    }
  }, [client, changes, reason, reload, attempt])
  return { log, failure, reload }
}

async function loadChanges(client: PetstoreClient, reason: Reason, signal: AbortSignal) {
  const since = new Date().setHours(0, 0, 0, 0) - PACE_DAYS * DAY_MS
  const listed: Change[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, next } = await client.inventory.changes({
      reason,
      since: new Date(since).toISOString(),
      limit: PAGE_SIZE,
      cursor,
      signal,
    })
    listed.push(...items.map(changeOf))
    if (next === undefined) return { listed, since, isComplete: true }
    cursor = next
  }
  return { listed, since: listed.at(-1)?.at ?? since, isComplete: false }
}

function withTrades(log: TradeLog, added: readonly Trade[]): TradeLog {
  return added.length === 0 ? log : { ...log, trades: [...added.toReversed(), ...log.trades] }
}

function tradeOf({ petId, at, before, after, reason }: Change): Trade {
  return { petId, at, units: reason === 'sold' ? before - after : after - before }
}

function identityOf({ petId, at, before, after }: Change): string {
  return `${petId} ${at} ${before} ${after}`
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
  const first = Math.max(since, trades.at(-1)?.at ?? since)
  const days = Math.min(PACE_DAYS, Math.max(MIN_PACE_DAYS, (now - first) / DAY_MS))
  const pace = new Map<bigint, number>()
  for (const [petId, units] of unitsByPet(trades, first)) {
    if (units > 0) pace.set(petId, units / days)
  }
  return pace
}

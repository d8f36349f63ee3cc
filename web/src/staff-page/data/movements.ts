import type {
  InventoryEvent,
  MovementReport,
  MovementRow,
  PetstoreClient,
  ReportGroup,
} from '@petstore/client'
import { useMemo } from 'preact/compat'
import type { LiveChanges } from './history/live-changes.ts'
import { type LiveValue, useLiveValue } from './live-value.ts'

type Client = Pick<PetstoreClient, 'reports'>

/** Whole days, as the time zone of the service divides them. */
export interface DaySpan {
  readonly days: number
  readonly last: 'today' | 'yesterday'
}

const DAY_MS = 86_400_000
/** The pace of sales is measured over this time. */
const PACE_DAYS = 28
const PACE_SPAN: DaySpan = { days: PACE_DAYS, last: 'today' }

async function readMovements(
  { reports }: Client,
  by: ReportGroup,
  { days, last }: DaySpan,
  signal: AbortSignal,
): Promise<MovementReport> {
  const today = await reports.movements({ by, signal })
  if (days === 1 && last === 'today') return today
  const until = last === 'today' ? today.until : today.since
  const daysBefore = last === 'today' ? days - 1 : days
  const since = new Date(Date.parse(today.since) - daysBefore * DAY_MS).toISOString()
  return reports.movements({ by, since, until, signal })
}

interface Session {
  readonly client: Client
  readonly feed: { readonly events: LiveChanges<InventoryEvent> }
}

/** `span` must stay the same object for the same report. */
export function useMovements(
  { client, feed }: Session,
  by: ReportGroup,
  span: DaySpan,
): LiveValue<MovementReport> {
  return useLiveValue(
    useMemo(
      () => ({
        events: feed.events,
        concerns: isMovement,
        load: (signal: AbortSignal) => readMovements(client, by, span, signal),
      }),
      [client, feed, by, span],
    ),
  )
}

function isMovement(event: InventoryEvent): boolean {
  return event.type === 'change'
}

/** The units of each pet that are sold a day. */
export type Pace = ReadonlyMap<bigint, number>

export function readPaceReport(client: Client, signal: AbortSignal): Promise<MovementReport> {
  return readMovements(client, 'pet', PACE_SPAN, signal)
}

export function usePaceReport(session: Session): LiveValue<MovementReport> {
  return useMovements(session, 'pet', PACE_SPAN)
}

export function paceOf({ rows }: Pick<MovementReport, 'rows'>): Pace {
  return new Map(
    rows.flatMap((row) =>
      row.petId === undefined || netSold(row) <= 0 ? [] : [[row.petId, netSold(row) / PACE_DAYS] as const],
    ),
  )
}

/** The units that customers kept. */
function netSold({ sold, returned }: Pick<MovementRow, 'sold' | 'returned'>): number {
  return sold - returned
}

export interface DayFigures {
  /** Such as 2026-11-19. */
  readonly day: string
  readonly sold: number
  readonly received: number
}

/** The last days of a report by day, also those without movements; today is the last. */
export function lastDays({ rows, timeZone, until }: MovementReport, count: number): readonly DayFigures[] {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  // Swedish dates are those of ISO 8601.
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone }).format(Date.parse(until) - 1)
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(Date.parse(today) - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10)
    const row = byDay.get(day)
    return { day, sold: row === undefined ? 0 : netSold(row), received: row?.received ?? 0 }
  })
}

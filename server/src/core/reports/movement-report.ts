import Type from 'typebox'
import { REASONS } from '../stock/adjustment.ts'
import type { ServiceError } from '../values/errors.ts'
import { DateTime, Int64, invalidField, MAX_QUANTITY, OneOf, type RecordOf } from '../values/field.ts'
import { type DayRange, daysIn, type TimeRange } from './days.ts'
import type { MovementSum, ReportStore } from './report-store.ts'

export const REPORT_GROUPS = ['day', 'pet', 'category', 'reason', 'key'] as const
export type ReportGroup = (typeof REPORT_GROUPS)[number]

/** A report of more days or rows would be too large for one response. */
export const MAX_REPORT_DAYS = 800
export const MAX_REPORT_ROWS = 10_000
/** Shorter than the deadline of a request. Within this time, several million log rows are summed. */
const BUDGET_MS = 8_000

const Units = (description: string) =>
  Type.Integer({ minimum: -MAX_QUANTITY, maximum: MAX_QUANTITY, description })

/**
 * The units of a report. Reversals are subtracted from what they reverse, so a figure can be negative, for example if more was
 * sent back than was received.
 */
export const MOVEMENT_FIGURES = {
  received: Units('Units received.'),
  returned: Units('Units that customers brought back, also by reversals with the reason `returned`.'),
  sold: Units('Units sold.'),
  damaged: Units('Units damaged.'),
  lost: Units('Units lost.'),
  countedUp: Units('Units that counts found in addition to those recorded. A new pet is counted.'),
  countedDown: Units('Units that counts found missing. A removed pet is counted as 0.'),
  corrected: Units('Units added, less units taken, by corrections and by adjustments without a reason.'),
  change: Units(
    'By how much the stock changed: received + returned + countedUp + corrected - sold - damaged - lost - countedDown.',
  ),
}
export type MovementFigures = RecordOf<typeof MOVEMENT_FIGURES>
type Totals = { -readonly [Name in keyof MovementFigures]: number }

/** The groups of a report. Each row has the fields of its group. */
const ROW_GROUP = {
  day: Type.Optional(Type.String({ format: 'date', description: 'With by=day: the day in the time zone.' })),
  petId: Type.Optional(Int64('With by=pet: the pet.')),
  categoryId: Type.Optional(
    Int64('With by=category: the category in which the pets are now. Absent in the row of removed pets.'),
  ),
  keyId: Type.Optional(Type.String({ description: 'With by=key: public identifier of the API key.' })),
  reason: Type.Optional(
    OneOf(REASONS, { description: 'With by=reason: the reason; `counted` has the row of all counts.' }),
  ),
  name: Type.Optional(
    Type.String({ description: 'Name of the pet, category or key; absent if it no longer exists.' }),
  ),
}
export const MOVEMENT_ROW = { ...ROW_GROUP, ...MOVEMENT_FIGURES }
export type MovementRow = RecordOf<typeof MOVEMENT_ROW>

/** The fields of the group of a row, in the order of a file. */
export const GROUP_FIELDS = {
  day: ['day'],
  pet: ['petId', 'name'],
  category: ['categoryId', 'name'],
  reason: ['reason'],
  key: ['keyId', 'name'],
} as const satisfies Readonly<Record<ReportGroup, readonly (keyof typeof ROW_GROUP)[]>>

export const REPORT_RANGE = {
  since: DateTime('From this time on, in UTC.'),
  until: DateTime('Before this time, in UTC.'),
  completeSince: Type.Optional(
    DateTime('From this time on the history is complete. Absent if nothing was removed from it.'),
  ),
}

export interface MovementReport extends RecordOf<typeof REPORT_RANGE> {
  /** Without rows in which every figure is 0, by day, id or reason. */
  readonly rows: readonly MovementRow[]
  readonly total: MovementFigures
}

export interface ReportRequest extends TimeRange {
  readonly by: ReportGroup
  /** Says where a day begins. */
  readonly timeZone: string
  readonly now: number
}

interface Group {
  readonly key: string | null
  readonly name: string | null
  readonly figures: Totals
}

/** Sums the facts of a time range by the time at which they happened, net of reversals. */
export async function reportMovements(store: ReportStore, request: ReportRequest): Promise<MovementReport> {
  const { by, since, until, now } = request
  if (since >= until) throw invalidField('until', 'until must be later than since')
  const deadline = performance.now() + BUDGET_MS
  const groups = new Map<string | null, Group>()
  const total = noMovements()
  for (const range of rangesOf(request)) {
    await store.sumMovements(range, by === 'day' || by === 'reason' ? 'none' : by, (sums) => {
      for (const sum of sums) {
        addSum(total, sum)
        addSum(groupOf(groups, range.day ?? sum.group, sum.name).figures, sum)
      }
      if (groups.size > MAX_REPORT_ROWS) throw tooLarge(`has more than ${MAX_REPORT_ROWS} rows`)
      if (performance.now() > deadline) throw tooLarge('takes too long')
    })
  }
  const rows = by === 'reason' ? rowsByReason(total) : rowsByGroup(groups, by)
  const start = await store.historyStart()
  const history = start === undefined ? {} : { completeSince: Math.min(start, now) }
  return { since, until, ...history, rows: rows.filter(hasMovement), total: withinBounds(total) }
}

/** The parts of the range that are summed one after the other: its days, or the whole range. */
function rangesOf({ by, since, until, timeZone }: ReportRequest): readonly (TimeRange & Partial<DayRange>)[] {
  if (by !== 'day') return [{ since, until }]
  const days = [...daysIn({ since, until }, timeZone).take(MAX_REPORT_DAYS + 1)]
  if (days.length > MAX_REPORT_DAYS) throw tooLarge(`has more than ${MAX_REPORT_DAYS} days`)
  return days
}

function tooLarge(problem: string): ServiceError {
  return invalidField('since', `the report ${problem}; narrow it with since and until`)
}

function noMovements(): Totals {
  return {
    received: 0,
    returned: 0,
    sold: 0,
    damaged: 0,
    lost: 0,
    countedUp: 0,
    countedDown: 0,
    corrected: 0,
    change: 0,
  }
}

function groupOf(groups: Map<string | null, Group>, key: string | null, name: string | null): Group {
  let group = groups.get(key)
  if (group === undefined) {
    group = { key, name, figures: noMovements() }
    groups.set(key, group)
  }
  return group
}

function addSum(figures: Totals, { reason, units, counted, countedUp }: MovementSum): void {
  switch (reason) {
    case 'sold':
    case 'damaged':
    case 'lost':
      figures[reason] -= units
      break
    case 'received':
    case 'returned':
      figures[reason] += units
      break
    default:
      figures.corrected += units
  }
  figures.countedUp += countedUp
  figures.countedDown += countedUp - counted
  figures.change += units + counted
}

function rowsByGroup(
  groups: ReadonlyMap<string | null, Group>,
  by: Exclude<ReportGroup, 'reason'>,
): MovementRow[] {
  return groups
    .values()
    .map(({ key, name, figures }) => ({ ...groupFields(by, key, name), ...withinBounds(figures) }))
    .toArray()
    .sort((one, other) => compareRows(one, other))
}

function groupFields(by: Exclude<ReportGroup, 'reason'>, key: string | null, name: string | null) {
  const named = name === null ? {} : { name }
  if (key === null) return named
  switch (by) {
    case 'day':
      return { day: key }
    case 'pet':
      return { petId: BigInt(key), ...named }
    case 'category':
      return { categoryId: BigInt(key), ...named }
    case 'key':
      return { keyId: key, ...named }
  }
}

/** A row without a category comes last. */
function compareRows(one: MovementRow, other: MovementRow): number {
  const first = one.petId ?? one.categoryId ?? one.day ?? one.keyId
  const second = other.petId ?? other.categoryId ?? other.day ?? other.keyId
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1
  return first < second ? -1 : 1
}

/** Each row has only the figures of its reason. */
function rowsByReason(total: Totals): MovementRow[] {
  return REASONS.map((reason) => {
    const figures = noMovements()
    const { countedUp, countedDown } = total
    if (reason === 'counted')
      Object.assign(figures, { countedUp, countedDown, change: countedUp - countedDown })
    else {
      figures[reason] = total[reason]
      const isLoss = reason === 'sold' || reason === 'damaged' || reason === 'lost'
      figures.change = isLoss ? -total[reason] : total[reason]
    }
    return { reason, ...withinBounds(figures) }
  })
}

function hasMovement(row: MovementFigures): boolean {
  return FIGURE_NAMES.some((name) => row[name] !== 0)
}

/** The cast is needed because Object.keys returns strings. */
const FIGURE_NAMES = Object.keys(MOVEMENT_FIGURES) as readonly (keyof MovementFigures)[]

/** A sum may exceed the numbers that JSON holds exactly, although no quantity does. */
function withinBounds(figures: Totals): MovementFigures {
  const bounded = { ...figures }
  for (const name of FIGURE_NAMES) {
    // Adding 0 turns -0 into 0.
    bounded[name] = Math.max(-MAX_QUANTITY, Math.min(MAX_QUANTITY, figures[name])) + 0
  }
  return bounded
}

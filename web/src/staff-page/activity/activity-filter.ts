import type { ChangeFilter, Reason } from '@petstore/client'
import { REASON_WORDS } from '../data/reason-words.ts'

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

export function isFilteringActivity({ who, reason, from, to, petId }: ActivityFilter): boolean {
  return who.trim() !== '' || reason !== '' || from !== '' || to !== '' || petId !== undefined
}

export function queryOf({ reason, from, to, petId }: ActivityFilter): ChangeFilter {
  const [since, until] = [startOf(from, 0), startOf(to, 1)]
  return {
    ...(reason === '' ? {} : { reason }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(petId === undefined ? {} : { petId }),
  }
}

interface AnyEvent {
  readonly petId: bigint
  readonly at: string
  readonly reason?: Reason
}

export function fitsQuery({ petId, reason, at }: AnyEvent, query: ChangeFilter): boolean {
  const time = Date.parse(at)
  return (
    (query.petId === undefined || query.petId === petId) &&
    (query.reason === undefined || query.reason === reason) &&
    (query.since === undefined || time >= Date.parse(query.since)) &&
    (query.until === undefined || time < Date.parse(query.until))
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

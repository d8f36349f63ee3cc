import type { ChangeFilter, Reason } from '@petstore/client'
import { REASON_WORDS } from '../data/reason-words.ts'

/** What somebody wants to see of all changes, as it is typed. */
export interface ActivityFilter {
  /** The name of a key. */
  readonly who: string
  readonly reason: Reason | ''
  /** Days of the calendar where the page is, the last one whole: 2026-11-16. */
  readonly from: string
  readonly to: string
  /** The pet that was picked. */
  readonly petId: bigint | undefined
}

export const NO_ACTIVITY_FILTER: ActivityFilter = { who: '', reason: '', from: '', to: '', petId: undefined }

export const REASONS = Object.keys(REASON_WORDS) as readonly Reason[]

export function isFilteringActivity({ who, reason, from, to, petId }: ActivityFilter): boolean {
  return who.trim() !== '' || reason !== '' || from !== '' || to !== '' || petId !== undefined
}

/** As the service is asked for it. */
export function queryOf({ who, reason, from, to, petId }: ActivityFilter): ChangeFilter {
  const [since, until] = [startOf(from, 0), startOf(to, 1)]
  return {
    ...(who.trim() === '' ? {} : { who: who.trim() }),
    ...(reason === '' ? {} : { reason }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(petId === undefined ? {} : { petId }),
  }
}

/** The same filter in the address of the page, so that a reload and a link find it again. */
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

/** When a day begins here, or the one so many days after it; `undefined` for what is no day. */
function startOf(day: string, daysAfter: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysAfter)
  return year === undefined || Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}

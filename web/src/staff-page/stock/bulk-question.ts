import type { LimitState } from '@petstore/client'
import { MAX_CHANGES } from '../data/stock/adjustment-batch.ts'
import type { BulkAction } from '../data/stock/bulk-changes.ts'

/** From so many on it is worth a question: fewer are looked at one by one, and soon undone. */
export const ASK_FROM = 100
/** What a request of 1,000 changes takes on a service that has other work too. */
const REQUEST_S = 0.3
const MINUTE_S = 60

export type BulkChange = Exclude<BulkAction, { readonly kind: 'undo' }>

export interface KeyLimits {
  readonly minute: LimitState
  readonly day: LimitState
}

/** What a change of many rows is asked with. Without limits, as while nothing can be reached, it says nothing of them. */
export function bulkQuestion(change: BulkChange, count: number, limits: KeyLimits | undefined, now: number) {
  const requests = Math.ceil(count / MAX_CHANGES)
  const cost = `${inWords(requests)} ${requests === 1 ? 'request' : 'requests'}`
  const text = [`It takes ${cost} and about ${durationWords(secondsFor(requests, limits, now))}.`]
  if (limits !== undefined) {
    const { minute, day } = limits
    text.push(
      `This key may send ${inWords(minute.limit)} a minute and ${inWords(day.limit)} a day: ${inWords(minute.remaining)} and ${inWords(day.remaining)} are left.`,
    )
    if (requests > day.remaining) {
      text.push('That is more than is left for today: the rest waits until the day of the key is over.')
    }
  }
  text.push('It can be stopped on the way, and undone.')
  return { title: titleOf(change, count), text, yes: `Change ${inWords(count)}`, no: 'Do not change them' }
}

function titleOf({ kind, amount }: BulkChange, count: number): string {
  const pets = `${inWords(count)} pets`
  if (kind === 'set') return `Set ${pets} to ${inWords(amount)}?`
  return kind === 'add' ? `Add ${inWords(amount)} to ${pets}?` : `Subtract ${inWords(amount)} from ${pets}?`
}

/** With the waiting for the next windows of the limits, as the page does it by itself. */
function secondsFor(requests: number, limits: KeyLimits | undefined, now: number): number {
  const sending = requests * REQUEST_S
  if (limits === undefined) return sending
  const { minute, day } = limits
  const untilReset = ({ reset }: LimitState) => Math.max(0, reset - now / 1_000)
  if (requests > day.remaining) return untilReset(day) + sending
  const later = requests - minute.remaining
  if (later <= 0) return sending
  const windows = Math.ceil(later / minute.limit) - 1
  const last = later - windows * minute.limit
  return Math.max(sending, untilReset(minute) + windows * MINUTE_S + last * REQUEST_S)
}

function durationWords(seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds))
  if (whole < 2 * MINUTE_S) return whole === 1 ? 'a second' : `${whole} seconds`
  const minutes = Math.ceil(seconds / MINUTE_S)
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}

import type { KeyLimits } from '@petstore/client'
import { MAX_CHANGES } from '../stock/adjustment-batch.ts'
import type { ImportPlan } from './import-plan.ts'

export interface ImportCost {
  readonly requests: number
  /** Minutes until it is done with what the key may send; 0 where it goes at once. */
  readonly minutes: number
  /** So many more than the key may send today. */
  readonly overDay: number
}

export function requestsOf({ added, changed, categories, releases }: ImportPlan): number {
  const quantities = changed.filter(({ quantity }) => quantity !== undefined).length
  const updates = changed.filter(({ update }) => Object.keys(update).length > 0).length
  const batches = Math.ceil(quantities / MAX_CHANGES)
  return categories.length + releases.length + updates + added.length + batches
}

/** What it takes of the limits of the key. */
export function costOf(plan: ImportPlan, { minute, day }: Pick<KeyLimits, 'minute' | 'day'>): ImportCost {
  const requests = requestsOf(plan)
  const waiting = Math.max(0, requests - minute.remaining)
  return {
    requests,
    minutes: Math.ceil(waiting / Math.max(1, minute.limit)),
    overDay: Math.max(0, requests - day.remaining),
  }
}

export function costWords({ requests, minutes, overDay }: ImportCost): string {
  const count = requests === 1 ? '1 request' : `${requests.toLocaleString('en')} requests`
  if (overDay > 0) {
    return `It takes ${count}, ${overDay.toLocaleString('en')} more than this key may still send today: it would wait for tomorrow. Import a part of the file, or use a key of a larger plan.`
  }
  if (minutes === 0) return `It takes ${count} of what this key may send, and less than a minute.`
  const long = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `It takes ${count}. With the limits of this key that is about ${long}; keep this page open until then.`
}

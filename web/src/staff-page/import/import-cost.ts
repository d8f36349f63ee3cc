import type { KeyLimits } from '@petstore/client'
import { MAX_CHANGES } from '../data/stock/adjustment-batch.ts'
import type { ImportPlan } from './import-plan.ts'

export interface ImportCost {
  readonly requests: number
  /** Minutes that the import takes within the limits of the key; 0 if it need not wait. */
  readonly minutes: number
  /** How many requests exceed the daily limit of the key. */
  readonly overDay: number
}

/** How much of the key's limits the import uses if no line is refused. */
export function costOf(plan: ImportPlan, { minute, day }: Pick<KeyLimits, 'minute' | 'day'>): ImportCost {
  const requests = requestsOf(plan)
  const waiting = Math.max(0, requests - minute.remaining)
  return {
    requests,
    minutes: Math.ceil(waiting / Math.max(1, minute.limit)),
    overDay: Math.max(0, requests - day.remaining),
  }
}

export function requestsOf({ changed, categories, batches }: ImportPlan): number {
  const quantities = changed.filter(({ quantity }) => quantity !== undefined).length
  return categories.length + batches.length + Math.ceil(quantities / MAX_CHANGES)
}

export function costWords({ requests, minutes, overDay }: ImportCost): string {
  const count = requests === 1 ? '1 request' : `${requests.toLocaleString('en')} requests`
  if (overDay > 0) {
    return `The import needs ${count}, ${overDay.toLocaleString('en')} more than this key may send today. Import part of the file, or use a key with a higher limit.`
  }
  if (minutes === 0) return `The import needs ${count} and takes less than a minute.`
  const duration = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `The import needs ${count} and takes about ${duration}, because of the limits of this key. Keep this page open until it is done.`
}

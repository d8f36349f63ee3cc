import type { LogRecord } from '../core/stock/stock-draft.ts'
import { categoryDetail, crossingDetail, petDetail } from './catalog-rows.ts'
import { toDetail } from './order-rows.ts'

/** What the log keeps of something beside what its columns hold. */
export function detailOf(made: LogRecord): string | null {
  if (made.kind === 'order') return toDetail(made.change, made.order)
  if (made.kind === 'pet') return petDetail(made)
  if (made.kind === 'category') return categoryDetail(made)
  return made.kind === 'low' || made.kind === 'recovered' ? crossingDetail(made) : null
}

export function petIdOf(made: LogRecord): bigint | null {
  if (made.kind === 'category') return null
  return made.kind === 'order' ? made.order.petId : made.petId
}

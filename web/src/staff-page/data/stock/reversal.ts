import {
  type AdjustmentResult,
  type ErrorDetail,
  type Input,
  isPetstoreError,
  type Reversal,
} from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import type { SaveContext } from './own-request.ts'
import type { StockModel } from './stock-model.ts'

export type ReversalOutcome =
  | { readonly type: 'done'; readonly reversal: AdjustmentResult }
  /** Nothing was changed: all or some of it was reversed before. */
  | { readonly type: 'already_reversed' }
  /** Nothing was changed, unless the response was lost. `why` says so. */
  | { readonly type: 'failed'; readonly why: string; readonly mayHaveBeenMade: boolean }

/**
 * Reverses an adjustment, or some of its units. Rejects only if the session has ended. A whole adjustment can be reversed
 * again after a lost response: it is never counted twice. Some units need the same `idempotencyKey` for that.
 */
export async function reverseAdjustment(
  { client, stock, signal }: SaveContext,
  adjustmentId: bigint,
  reversal: Input<Reversal> = {},
  idempotencyKey?: string,
): Promise<ReversalOutcome> {
  try {
    const result = await client.adjustments.reverse(adjustmentId, reversal, { signal, idempotencyKey })
    // While events arrive, they are newer than this response.
    if (stock.get().connection !== 'live') for (const item of result.items) stock.apply(item, false)
    stock.publishNow()
    return { type: 'done', reversal: result }
  } catch (error) {
    if (signal.aborted) throw error
    if (isPetstoreError(error, 'already_reversed')) return { type: 'already_reversed' }
    const mayHaveBeenMade = isPetstoreError(error) && error.mayHaveBeenMade
    return { type: 'failed', why: whyNotReversed(error, stock), mayHaveBeenMade }
  }
}

const UNKNOWN_BEFORE = 'The quantity before it is not known any more. Count the pets instead.'

function whyNotReversed(error: unknown, stock: StockModel): string {
  if (!isPetstoreError(error)) return failureWords(error)
  if (error.mayHaveBeenMade) return 'Not sure it was saved. Try again; it is never counted twice.'
  if (error.details.length === 0) return failureWords(error, { too_late: UNKNOWN_BEFORE })
  return error.details
    .map((detail) => {
      const name = detail.petId === undefined ? 'One pet' : stock.nameOf(BigInt(detail.petId))
      return `${name}: ${refusalWords(detail)}`
    })
    .join(' ')
}

function refusalWords({ code, message, available }: ErrorDetail): string {
  if (code === 'not_found') return 'it is not in the store any more.'
  if (code !== 'insufficient_stock' || available === undefined) return `${message}.`
  return `only ${Math.max(0, available).toLocaleString('en')} are left to take back.`
}

import { type ErrorDetail, isPetstoreError, type PetstoreClient, type RecordedReason } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { REASON_WORDS } from '../reason-words.ts'
import { type Batch, type Delta, newBatch, refusedOf, sendBatch } from '../stock/adjustment-batch.ts'
import type { SaveContext } from '../stock/own-request.ts'
import type { QuantityChange } from '../stock/undo-history.ts'
import { momentWords } from '../time-words.ts'
import { type Change, changeOf } from './change-log.ts'

/** The purpose and the time of an adjustment. */
export interface AdjustmentPurpose {
  readonly reason: RecordedReason
  readonly reference?: string | undefined
  /** In milliseconds since 1970. */
  readonly at: number
}

/** A compensating adjustment that is ready to send. Sending it again with the same key changes nothing more. */
export type Reversal = Batch<Delta>

export type ReversalResult =
  | { readonly type: 'done'; readonly changes: readonly QuantityChange[] }
  /** Nothing was changed: these pets do not allow it. */
  | { readonly type: 'refused'; readonly pets: readonly { readonly petId: bigint; readonly why: string }[] }
  /** The response was lost. `repeat`, given to `reverseAdjustment`, finds out, and is never counted twice. */
  | { readonly type: 'unsure'; readonly repeat: Reversal }
  /** Nothing was changed. */
  | { readonly type: 'failed'; readonly why: string }

const MAX_REFERENCE_LENGTH = 200
const PAGE_SIZE = 1_000

export function newReversal(changes: readonly QuantityChange[], purpose: AdjustmentPurpose): Reversal {
  const deltas = new Map<bigint, number>()
  for (const { petId, before, after } of changes) {
    deltas.set(petId, (deltas.get(petId) ?? 0) + before - after)
  }
  const opposite = Array.from(deltas, ([petId, delta]) => ({ petId, delta })).filter(
    ({ delta }) => delta !== 0,
  )
  return newBatch(opposite, {
    reason: 'corrected',
    reference: reversalReference(purpose),
    keepReserved: true,
  })
}

/** Reverses an adjustment: all of it or nothing. Never rejects, unless the session has ended. */
export async function reverseAdjustment(context: SaveContext, reversal: Reversal): Promise<ReversalResult> {
  try {
    return { type: 'done', changes: await sendBatch(context, reversal) }
  } catch (error) {
    if (context.signal.aborted) throw error
    if (isPetstoreError(error) && error.mayHaveBeenMade) {
      return { type: 'unsure', repeat: { ...reversal, isRepeat: true } }
    }
    const refused = refusedOf(error, reversal)
    if (refused.size === 0) return { type: 'failed', why: failureWords(error) }
    const pets = Array.from(refused, ([{ petId, delta }, part]) => ({
      petId,
      why: refusalWords(part, delta),
    }))
    return { type: 'refused', pets }
  }
}

/** All changes of the adjustment that made `change`, also those that no page has loaded. */
export async function loadAdjustment(
  client: Pick<PetstoreClient, 'inventory'>,
  change: Change,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const { at, keyId, reason } = change
  const loaded: Change[] = []
  const page = client.inventory.changes({
    who: keyId,
    reason,
    since: new Date(at).toISOString(),
    until: new Date(at + 1).toISOString(),
    limit: PAGE_SIZE,
    signal,
  })
  for await (const item of page) loaded.push(changeOf(item))
  return loaded.filter((other) => isSameAdjustment(change, other))
}

/** Whether both changes were made by one adjustment. A change without a reason was made alone. */
export function isSameAdjustment(a: Change, b: Change): boolean {
  return (
    a.reason !== undefined &&
    a.at === b.at &&
    a.keyId === b.keyId &&
    a.reason === b.reason &&
    a.reference === b.reference
  )
}

/** A compensating adjustment for these changes that was made after them; `undefined` if there is none. */
export async function findReversal(
  client: Pick<PetstoreClient, 'inventory'>,
  changes: readonly QuantityChange[],
  purpose: AdjustmentPurpose,
  signal: AbortSignal,
): Promise<Change | undefined> {
  const reversal = newReversal(changes, purpose)
  const { reference } = reversal.purpose
  const [first] = reversal.changes
  if (first === undefined) return undefined
  const later = client.inventory.changes({
    petId: first.petId,
    reason: 'corrected',
    since: new Date(purpose.at).toISOString(),
    limit: PAGE_SIZE,
    signal,
  })
  for await (const item of later) {
    if (item.reference === reference && item.after - item.before === first.delta) return changeOf(item)
  }
  return undefined
}

/** Such as `reverses PO-1043`. */
function reversalReference({ reason, reference, at }: AdjustmentPurpose): string {
  const original = reference ?? `${REASON_WORDS[reason].toLowerCase()}, ${momentWords(at)}`
  return [...`reverses ${original}`].slice(0, MAX_REFERENCE_LENGTH).join('')
}

function refusalWords({ code, message, available }: ErrorDetail, delta: number): string {
  if (code === 'not_found') return 'It is not in the store any more.'
  if (code !== 'insufficient_stock') return message
  const wanted = (-delta).toLocaleString('en')
  if (available === undefined) return `There are not ${wanted} left to take back.`
  return `Only ${Math.max(0, available).toLocaleString('en')} can be taken back, not ${wanted}.`
}

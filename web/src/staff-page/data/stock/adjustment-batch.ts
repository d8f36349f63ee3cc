import { type FailedPart, isPetstoreError, type Reason } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { type SaveContext, sendOwn } from './own-request.ts'
import type { QuantityChange } from './undo-history.ts'

/** What a change of several rows is made for, as the history tells it. */
export interface Purpose {
  readonly reason: Reason
  readonly reference?: string | undefined
}

/** A change of one row: by a difference, which is right whatever others do, or to a count over what the user saw. */
export type RowChange = { readonly petId: bigint } & (
  | { readonly delta: number }
  | { readonly quantity: number; readonly expected: number }
)

/** Changes that go out as one adjustment: all of them are made, or none. */
export interface Batch {
  readonly changes: readonly RowChange[]
  readonly purpose: Purpose
  /** Sent again with it, the changes are not made again. */
  readonly idempotencyKey: string
  readonly madeAt: number
  /** It was sent before, and no answer told what came of it. */
  readonly isRepeat: boolean
}

/** A pet that was not changed, or of which that is not known. */
export interface LeftOut {
  readonly petId: bigint
  /** `refused` by the service, for what the row itself is; `failed` for what has nothing to do with it. */
  readonly why: 'conflict' | 'gone' | 'refused' | 'failed' | 'stopped'
  readonly reason: string
  /** Where it may have been changed all the same: what tells, when it is sent again. */
  readonly unsettled?: Batch
}

export interface Stopping {
  /** Once it is aborted, nothing more is sent; its reason says why. */
  readonly begun: AbortController
  /** Ends what is on its way. */
  readonly letGo: AbortSignal
}

/** As many as an adjustment may have. */
export const MAX_CHANGES = 1_000
/** How often the rest of a batch is sent without those that others changed meanwhile. */
const MAX_ROUNDS = 5

/** The service remembers a change for a day; whoever repeats it has to come before that. */
const REPEATABLE_FOR_MS = 23 * 60 * 60 * 1_000

export const GONE = 'This pet is not in the store any more.'

export function batchesOf(changes: readonly RowChange[], purpose: Purpose): Batch[] {
  const batches: Batch[] = []
  for (let start = 0; start < changes.length; start += MAX_CHANGES) {
    batches.push(newBatch(changes.slice(start, start + MAX_CHANGES), purpose))
  }
  return batches
}

export function newBatch(changes: readonly RowChange[], purpose: Purpose): Batch {
  const idempotencyKey = crypto.getRandomValues(new Uint32Array(4)).join('-')
  return { changes, purpose, idempotencyKey, madeAt: Date.now(), isRepeat: false }
}

/** Whether the same key still keeps it from being made twice. */
export function isRemembered({ madeAt }: Pick<Batch, 'madeAt'>): boolean {
  return Date.now() - madeAt < REPEATABLE_FOR_MS
}

/**
 * Makes as many of the changes as can be made, and tells of each what came of it. The service makes all or none, and
 * names those that it cannot make: they are taken out, and the rest is sent again.
 */
export async function adjustRows(
  context: SaveContext,
  batch: Batch,
  stopping: Stopping,
): Promise<readonly (QuantityChange | LeftOut)[]> {
  const settled: (QuantityChange | LeftOut)[] = []
  let rest = batch
  for (let round = 1; ; round++) {
    try {
      return [...settled, ...(await sendBatch(context, rest, stopping.letGo))]
    } catch (error) {
      const refused = refusedOf(error, rest)
      if (refused.size === 0) return [...settled, ...unanswered(rest, stopping, error)]
      for (const [change, detail] of refused) settled.push(refusalOf(context, change, detail))
      const others = rest.changes.filter((change) => !refused.has(change))
      if (others.length === 0) return settled
      if (stopping.begun.signal.aborted) return [...settled, ...notBegun(others, stopping)]
      if (round === MAX_ROUNDS) return [...settled, ...givenUp(others)]
      rest = newBatch(others, batch.purpose)
    }
  }
}

/** What was never sent. */
export function notBegun(changes: readonly RowChange[], { begun }: Stopping): LeftOut[] {
  const reason = `It was not changed: ${begun.signal.reason}.`
  return changes.map(({ petId }) => ({ petId, why: 'stopped', reason }))
}

/** Sends it once, and gives what it changed, in the order of its changes. Throws where the service does. */
export async function sendBatch(
  context: SaveContext,
  batch: Batch,
  signal: AbortSignal,
): Promise<QuantityChange[]> {
  const { client, stock } = context
  const { changes, purpose, idempotencyKey, isRepeat } = batch
  const targets = changes.map((change) => ({
    petId: change.petId,
    quantity: 'delta' in change ? (stock.find(change.petId)?.quantity ?? 0) + change.delta : change.quantity,
  }))
  const items = await sendOwn(context, {
    targets,
    isRepeat,
    send: () => client.inventory.adjust({ ...purpose, changes }, { idempotencyKey, signal }),
  })
  return changes.map((change, index) => {
    const after = items[index]?.quantity
    if (after === undefined) throw new Error('the answer has no item for a change')
    return { petId: change.petId, before: 'delta' in change ? after - change.delta : change.expected, after }
  })
}

/** Those that the service cannot make, with what it says of each. */
export function refusedOf(error: unknown, { changes }: Batch): ReadonlyMap<RowChange, FailedPart> {
  const details = isPetstoreError(error) ? error.details : []
  return new Map(
    details.flatMap((detail) => {
      const change = changes[detail.index]
      return change === undefined ? [] : [[change, detail] as const]
    }),
  )
}

function refusalOf(
  { stock }: SaveContext,
  change: RowChange,
  { code, message }: FailedPart,
): QuantityChange | LeftOut {
  const { petId } = change
  if (code === 'not_found') return { petId, why: 'gone', reason: GONE }
  if (code === 'precondition_failed' && 'quantity' in change) {
    const theirs = stock.find(petId)?.quantity
    if (theirs === change.quantity) return { petId, before: theirs, after: theirs }
    const isKnown = theirs !== undefined && theirs !== change.expected
    const what = isKnown ? `set it to ${theirs.toLocaleString('en')}` : 'changed it'
    return { petId, why: 'conflict', reason: `Somebody else ${what} meanwhile; it was left at that.` }
  }
  if (code === 'insufficient_stock' && 'delta' in change) {
    const reason = `There were not enough to take ${(-change.delta).toLocaleString('en')}.`
    return { petId, why: 'refused', reason }
  }
  return { petId, why: 'refused', reason: `It was not changed: ${message}.` }
}

/** The service has said nothing about single changes: it is the same for all of them. */
function unanswered(batch: Batch, { begun, letGo }: Stopping, error: unknown): LeftOut[] {
  const isUnsettled = letGo.aborted || (isPetstoreError(error) && error.mayHaveBeenMade)
  // None of the others would fare better.
  if (isPetstoreError(error, 'forbidden')) begun.abort('this key may not change the stock')
  const unsettled = isUnsettled ? { unsettled: { ...batch, isRepeat: true } } : {}
  const why = letGo.aborted ? 'stopped' : 'failed'
  const what = letGo.aborted ? 'It was on its way when you stopped.' : failureWords(error)
  const reason = isUnsettled
    ? `${what} It may have been changed: trying again tells, and changes it once at most.`
    : what
  return batch.changes.map(({ petId }) => ({ petId, why, reason, ...unsettled }))
}

function givenUp(changes: readonly RowChange[]): LeftOut[] {
  const reason = 'It was not changed: others kept changing rows beside it. Try again.'
  return changes.map(({ petId }) => ({ petId, why: 'failed', reason }))
}

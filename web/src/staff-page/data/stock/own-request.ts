import type { AdjustmentResult, PetstoreClient } from '@petstore/client'
import type { StockModel } from './stock-model.ts'

export interface SaveContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly own: OwnChanges
  readonly signal: AbortSignal
  /** The time of what happens now, see `ServerClock`. */
  readonly timeOfAction: () => number
}

/** A change of this page whose event has not arrived yet. */
interface ExpectedChange {
  readonly petId: bigint
  readonly after: number
  isAnswered: boolean
}

/** Distinguishes the events of this page's changes from those of others: many users may share one key. */
export class OwnChanges {
  readonly #expected = new Set<ExpectedChange>()

  expect(petId: bigint, after: number): ExpectedChange {
    const change = { petId, after, isAnswered: false }
    this.#expected.add(change)
    return change
  }

  /** Whether the event belongs to an expected change, which is then no longer expected. */
  recognise(petId: bigint, after: number): boolean {
    for (const change of this.#expected) {
      if (change.petId === petId && change.after === after) return this.#expected.delete(change)
    }
    return false
  }

  /** The change was not made, or it has no event. */
  forget(change: ExpectedChange): void {
    this.#expected.delete(change)
  }

  /** After a reload no event of an answered change follows. */
  forgetAnswered(): void {
    for (const change of this.#expected) if (change.isAnswered) this.forget(change)
  }
}

interface OwnRequest {
  /** The quantity of each pet after the request. */
  readonly targets: readonly { readonly petId: bigint; readonly quantity: number }[]
  /** The request was sent before, and its response was lost. */
  readonly isRepeat: boolean
  /** The response has an item for each target that was not skipped. */
  readonly send: () => Promise<AdjustmentResult>
}

/** Sends changes of this page in one request, and shows the response. */
export async function sendOwn(
  { stock, own }: SaveContext,
  { targets, isRepeat, send }: OwnRequest,
): Promise<AdjustmentResult> {
  const sent = targets.map(({ petId, quantity }) => ({
    before: stock.find(petId),
    change: own.expect(petId, quantity),
  }))
  try {
    const result = await send()
    const isLive = stock.get().connection === 'live'
    const items = new Map(result.items.map((item) => [item.petId, item]))
    for (const { before, change } of sent) {
      const item = items.get(change.petId)
      change.isAnswered = true
      if (item?.quantity !== change.after) own.forget(change)
      if (item === undefined) continue
      // If the row was replaced, an event of this change or a later one has arrived. A repeated response may be old.
      const isNews = !isRepeat && stock.find(item.petId) === before
      if (isNews || !isLive) stock.apply(item, false)
    }
    return result
  } catch (error) {
    for (const { change } of sent) own.forget(change)
    throw error
  }
}

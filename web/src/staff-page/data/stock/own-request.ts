import type { InventoryItem, PetstoreClient } from '@petstore/client'
import type { OwnChanges } from './own-changes.ts'
import type { StockModel } from './stock-model.ts'

export interface SaveContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly own: OwnChanges
  readonly signal: AbortSignal
}

/** What a change of this page is to lead to. */
export interface Target {
  readonly petId: bigint
  readonly quantity: number
}

export interface OwnRequest<Answer extends readonly InventoryItem[]> {
  readonly targets: readonly Target[]
  /** It was sent before, and its answer was lost. */
  readonly isRepeat: boolean
  /** Its answer has an item for each target, in their order. */
  readonly send: () => Promise<Answer>
}

/** Sends changes of this page in one request, and shows what the service answers. */
export async function sendOwn<Answer extends readonly InventoryItem[]>(
  { stock, own }: SaveContext,
  { targets, isRepeat, send }: OwnRequest<Answer>,
): Promise<Answer> {
  const sent = targets.map(({ petId, quantity }) => ({
    before: stock.find(petId),
    change: own.expect(petId, quantity),
  }))
  try {
    const items = await send()
    const isLive = stock.get().connection === 'live'
    for (const [index, { before, change }] of sent.entries()) {
      const item = items[index]
      if (item === undefined) throw new Error('the answer has no item for a change')
      change.isAnswered = true
      if (item.quantity !== change.after) own.forget(change)
      // Where the row is another one by now, events told of this change, or of later ones. The answer to what was
      // sent before may be as old as that, too.
      const isNews = !isRepeat && stock.find(item.petId) === before
      if (isNews || !isLive) stock.apply(item, false)
    }
    return items
  } catch (error) {
    for (const { change } of sent) own.forget(change)
    throw error
  }
}

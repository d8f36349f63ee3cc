import { entryTag, type InventoryItem, isPetstoreError, type PetstoreClient } from '@petstore/client'
import type { OwnChanges } from './own-changes.ts'
import type { StockModel } from './stock-model.ts'

/** What somebody saw when they decided on a change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly item: InventoryItem }
  /** Somebody was faster; nothing was changed. */
  | { readonly kind: 'conflict'; readonly theirs: EntryState }

export interface SaveContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly own: OwnChanges
  readonly signal: AbortSignal
}

export interface Save {
  readonly petId: bigint
  readonly quantity: number
  readonly seen: EntryState
  readonly signal?: AbortSignal
}

/** Sets a quantity only if the entry still is what the user saw. Throws where the service does. */
export async function saveIfUnchanged(context: SaveContext, save: Save): Promise<SaveOutcome> {
  const { client, stock } = context
  const { petId, quantity, seen, signal = context.signal } = save
  try {
    return { kind: 'saved', item: await write(context, save, entryTag(seen)) }
  } catch (error) {
    if (!isPetstoreError(error, 'precondition_failed')) throw error
  }
  let current = await client.getInventoryItem(petId, { signal })
  // Changed and changed back, or tags of another form: it is what the user saw, so its own tag will do.
  if (isSameState(current, seen)) {
    try {
      return { kind: 'saved', item: await write(context, save, current.etag) }
    } catch (error) {
      if (!isPetstoreError(error, 'precondition_failed')) throw error
    }
    current = await client.getInventoryItem(petId, { signal })
  }
  // An earlier attempt that seemed to fail may have been made; whoever made it, there is nothing left to save.
  const isThere = current.quantity === quantity
  // While events come they tell it, in order. This answer may be older than the last of them.
  if (stock.get().connection !== 'live') stock.apply(current, !isThere)
  if (isThere) return { kind: 'saved', item: current }
  return { kind: 'conflict', theirs: { quantity: current.quantity, status: current.status } }
}

async function write(
  context: SaveContext,
  { petId, quantity, signal = context.signal }: Save,
  ifMatch: string,
): Promise<InventoryItem> {
  return sendOwn(context, petId, quantity, () =>
    context.client.updateInventory(petId, { quantity }, { ifMatch, signal }),
  )
}

/** Sends a change of this page, which is to lead to this quantity, and shows what the service answers. */
export async function sendOwn(
  { stock, own }: SaveContext,
  petId: bigint,
  quantity: number,
  send: () => Promise<InventoryItem>,
): Promise<InventoryItem> {
  const before = stock.find(petId)
  const change = own.expect(petId, quantity)
  try {
    const item = await send()
    change.isAnswered = true
    if (item.quantity !== quantity) own.forget(change)
    // Where the row is another one by now, events told of this change, or of later ones.
    if (stock.find(petId) === before || stock.get().connection !== 'live') stock.apply(item, false)
    return item
  } catch (error) {
    own.forget(change)
    throw error
  }
}

export function isSameState(one: EntryState, other: EntryState): boolean {
  return one.quantity === other.quantity && one.status === other.status
}

import { entryTag, type InventoryItem, isPetstoreError } from '@petstore/client'
import { type SaveContext, sendOwn } from './own-request.ts'

/** What somebody saw when they decided on a change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly item: InventoryItem }
  /** Somebody was faster; nothing was changed. */
  | { readonly kind: 'conflict'; readonly theirs: EntryState }

export interface Save {
  readonly petId: bigint
  readonly quantity: number
  readonly seen: EntryState
  /** Of an earlier attempt whose answer was lost: with it, the change is not made twice. */
  readonly idempotencyKey?: string | undefined
}

/** Sets a quantity only if the entry still is what the user saw. Throws where the service does. */
export async function saveIfUnchanged(context: SaveContext, save: Save): Promise<SaveOutcome> {
  const { client, stock, signal } = context
  const { petId, quantity, seen } = save
  try {
    return { kind: 'saved', item: await write(context, save, entryTag(seen)) }
  } catch (error) {
    if (!isPetstoreError(error, 'precondition_failed')) throw error
  }
  let current = await client.inventory.get(petId, { signal })
  // Changed and changed back, or tags of another form: it is what the user saw, so its own tag will do. The key of
  // the first attempt would be answered with its 412 again.
  if (isSameState(current, seen)) {
    try {
      const again = { petId, quantity, seen }
      return { kind: 'saved', item: await write(context, again, current.etag) }
    } catch (error) {
      if (!isPetstoreError(error, 'precondition_failed')) throw error
    }
    current = await client.inventory.get(petId, { signal })
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
  { petId, quantity, idempotencyKey }: Save,
  ifMatch: string,
): Promise<InventoryItem> {
  const { client, signal } = context
  const [item] = await sendOwn(context, {
    targets: [{ petId, quantity }],
    isRepeat: idempotencyKey !== undefined,
    send: async (): Promise<[InventoryItem]> => [
      await client.inventory.set(petId, { quantity }, { ifMatch, idempotencyKey, signal }),
    ],
  })
  return item
}

export function isSameState(one: EntryState, other: EntryState): boolean {
  return one.quantity === other.quantity && one.status === other.status
}

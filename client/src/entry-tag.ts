import type { InventoryItem } from './contract-types.ts'

/**
 * The tag of an entry in this state, for who has it from the list or an event, which carry no tags: to change just
 * that state without reading the entry first. A service whose tags are of another form answers 412, so nothing is
 * lost: then read the entry and use its own.
 */
export function entryTag({ quantity, status }: Pick<InventoryItem, 'quantity' | 'status'>): string {
  return `"${quantity}-${status}"`
}

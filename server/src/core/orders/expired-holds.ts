import { SYSTEM_KEY_ID } from '../stock/change-origin.ts'
import { type Command, type CommandOf, MAX_CHANGES } from '../stock/command.ts'
import { isExpired, MAX_LINES_PER_ORDER, petIdsOfLines } from './order.ts'
import type { OrderPets } from './order-store.ts'
import type { LockedOrders } from './orders-draft.ts'

/** How many holds fit into one release, however many lines they have. */
export const MAX_HOLDS_PER_RELEASE = MAX_CHANGES / MAX_LINES_PER_ORDER

/** The command that releases these holds, unless they were completed, extended or released meanwhile. */
export function releaseOf(holds: readonly OrderPets[], at: number): CommandOf<'release_holds'> {
  return {
    type: 'release_holds',
    orderIds: holds.map(({ orderId }) => orderId),
    petIds: holds.flatMap(({ petIds }) => petIds),
    keyId: SYSTEM_KEY_ID,
    at,
  }
}

/** The pets of the orders that are expired holds. */
export function petsOfExpiredHolds({ orders, now }: Pick<LockedOrders, 'orders' | 'now'>): bigint[] {
  return orders
    .values()
    .filter((order) => isExpired(order, now))
    .flatMap(({ lines }) => petIdsOfLines(lines))
    .toArray()
}

/** Whether expired holds of the pets have to be released before the commands are decided. */
export function needsReleasedHolds(commands: readonly Command[]): boolean {
  return commands.some(({ type }) => type !== 'release_holds')
}

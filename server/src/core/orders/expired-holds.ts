import { SYSTEM_KEY_ID } from '../stock/change-origin.ts'
import { type Command, type CommandOf, MAX_CHANGES } from '../stock/command.ts'
import { petIdsOf } from '../stock/command-table.ts'
import { isExpired, petIdsOfLines } from './order.ts'
import type { OrderPets } from './order-store.ts'
import type { LockedOrders } from './orders-draft.ts'

/** How many holds are read for one release. */
export const MAX_HOLDS_PER_RELEASE = 200

/** The command that releases as many of these holds as fit into a commit, unless they were completed, extended or released meanwhile. */
export function releaseOf(holds: readonly OrderPets[], at: number): CommandOf<'release_holds'> {
  const orderIds: bigint[] = []
  const allPets: bigint[] = []
  for (const { orderId, petIds } of holds) {
    if (allPets.length + petIds.length > MAX_CHANGES) break
    orderIds.push(orderId)
    allPets.push(...petIds)
  }
  return { type: 'release_holds', orderIds, petIds: allPets, keyId: SYSTEM_KEY_ID, at }
}

/** The pets of the orders that are expired holds. */
export function petsOfExpiredHolds({ orders, now }: Pick<LockedOrders, 'orders' | 'now'>): bigint[] {
  return orders
    .values()
    .filter((order) => isExpired(order, now))
    .flatMap(({ lines }) => petIdsOfLines(lines))
    .toArray()
}

/** The pets whose expired holds have to be released before the commands are decided: all but those that only releases name. */
export function petsToFree(commands: readonly Command[], petIds: ReadonlySet<bigint>): ReadonlySet<bigint> {
  const others = commands.filter(({ type }) => type !== 'release_holds')
  if (others.length === commands.length) return petIds
  if (others.length === 0) return new Set()
  const releases = commands.filter(({ type }) => type === 'release_holds')
  return petIds.difference(new Set(petIdsOf(releases)).difference(new Set(petIdsOf(others))))
}

import { type Operation, Router } from './operation.ts'
import { adjustInventory } from './operations/adjust-inventory.ts'
import { cancelOrder } from './operations/cancel-order.ts'
import { createOrder } from './operations/create-order.ts'
import { getAvailability } from './operations/get-availability.ts'
import { getInventoryItem } from './operations/get-inventory-item.ts'
import { getLimits } from './operations/get-limits.ts'
import { getOrder } from './operations/get-order.ts'
import { getPet } from './operations/get-pet.ts'
import { inventoryEvents } from './operations/inventory-events.ts'
import { listCatalog } from './operations/list-catalog.ts'
import { listInventory } from './operations/list-inventory.ts'
import { listInventoryHistory } from './operations/list-inventory-history.ts'
import { listOrders } from './operations/list-orders.ts'
import { listPets } from './operations/list-pets.ts'
import { listRecentChanges } from './operations/list-recent-changes.ts'
import { updateInventory } from './operations/update-inventory.ts'
import { updateOrder } from './operations/update-order.ts'

/** The version segment that every base address ends in. */
const BASE_PATH = '/v1'

/** Everything the interface offers, in the order of the contract. */
export const OPERATIONS: readonly Operation[] = [
  ...[listInventory, inventoryEvents, getInventoryItem, updateInventory, adjustInventory],
  ...[getAvailability, listInventoryHistory, listRecentChanges, listPets, getPet, listCatalog],
  ...[listOrders, createOrder, getOrder, updateOrder, cancelOrder, getLimits],
]

export const ROUTER = new Router(BASE_PATH, OPERATIONS)

import { type Operation, Router } from './operation.ts'
import { adjustInventory } from './operations/adjust-inventory.ts'
import { cancelOrder } from './operations/cancel-order.ts'
import { createCategory } from './operations/create-category.ts'
import { createOrder } from './operations/create-order.ts'
import { createPet } from './operations/create-pet.ts'
import { createWebhook } from './operations/create-webhook.ts'
import { getAvailability } from './operations/get-availability.ts'
import { getInventoryItem } from './operations/get-inventory-item.ts'
import { getLimits } from './operations/get-limits.ts'
import { getOrder } from './operations/get-order.ts'
import { getPet } from './operations/get-pet.ts'
import { getWebhook } from './operations/get-webhook.ts'
import { inventoryEvents } from './operations/inventory-events.ts'
import { listCatalog } from './operations/list-catalog.ts'
import { listCategories } from './operations/list-categories.ts'
import { listInventory } from './operations/list-inventory.ts'
import { listInventoryHistory } from './operations/list-inventory-history.ts'
import { listOrders } from './operations/list-orders.ts'
import { listPets } from './operations/list-pets.ts'
import { listRecentChanges } from './operations/list-recent-changes.ts'
import { listWebhookDeliveries } from './operations/list-webhook-deliveries.ts'
import { listWebhooks } from './operations/list-webhooks.ts'
import { removeCategory } from './operations/remove-category.ts'
import { removePet } from './operations/remove-pet.ts'
import { removeWebhook } from './operations/remove-webhook.ts'
import { rotateWebhookSecret } from './operations/rotate-webhook-secret.ts'
import { searchInventory } from './operations/search-inventory.ts'
import { testWebhook } from './operations/test-webhook.ts'
import { updateCategory } from './operations/update-category.ts'
import { updateInventory } from './operations/update-inventory.ts'
import { updateOrder } from './operations/update-order.ts'
import { updatePet } from './operations/update-pet.ts'
import { updateWebhook } from './operations/update-webhook.ts'

/** The version segment that every base address ends in. */
const BASE_PATH = '/v1'

/** Everything the interface offers, in the order of the contract. */
export const OPERATIONS: readonly Operation[] = [
  ...[listInventory, inventoryEvents, getInventoryItem, updateInventory, adjustInventory],
  ...[getAvailability, listInventoryHistory, listRecentChanges, searchInventory],
  ...[listPets, createPet, getPet, updatePet, removePet, listCatalog],
  ...[listCategories, createCategory, updateCategory, removeCategory],
  ...[listOrders, createOrder, getOrder, updateOrder, cancelOrder],
  ...[listWebhooks, createWebhook, getWebhook, updateWebhook, removeWebhook],
  ...[listWebhookDeliveries, rotateWebhookSecret, testWebhook, getLimits],
]

export const ROUTER = new Router(BASE_PATH, OPERATIONS)

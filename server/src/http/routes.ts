import { adjustInventory, getAdjustment, listAdjustments, reverseAdjustment } from './adjustments.ts'
import { createCategory, listCategories, removeCategory, updateCategory } from './categories.ts'
import { inventoryEvents, listEvents } from './events.ts'
import { listInventoryHistory, listPetEdits, listRecentChanges } from './history.ts'
import { importFile } from './imports.ts'
import {
  getAvailability,
  getInventoryItem,
  listAvailability,
  listInventory,
  updateInventory,
} from './inventory.ts'
import {
  createKey,
  createPairingCode,
  getKey,
  listKeyAudit,
  listKeyNames,
  listKeys,
  pairKey,
  revokeKey,
  rotateKey,
  updateKey,
} from './keys.ts'
import { getLimits } from './limits.ts'
import type { Operation } from './operation.ts'
import { cancelOrder, createOrder, getOrder, listOrders, updateOrder } from './orders.ts'
import { createPet, getCatalogPet, getPet, listCatalog, removePet, updatePet, upsertPets } from './pets.ts'
import { getMovementReport } from './reports.ts'
import { searchInventory } from './search.ts'
import {
  createWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  removeWebhook,
  replayWebhook,
  rotateWebhookSecret,
  takeOverWebhook,
  testWebhook,
  updateWebhook,
} from './webhooks.ts'

/** Every operation of the API by its id, in the order of the contract. */
const OPERATIONS_BY_ID = {
  listInventory,
  inventoryEvents,
  listEvents,
  getInventoryItem,
  updateInventory,
  adjustInventory,
  listAdjustments,
  getAdjustment,
  reverseAdjustment,
  listAvailability,
  getAvailability,
  listInventoryHistory,
  listRecentChanges,
  searchInventory,
  createPet,
  upsertPets,
  getPet,
  updatePet,
  removePet,
  listCatalog,
  listPetEdits,
  getCatalogPet,
  listCategories,
  createCategory,
  updateCategory,
  removeCategory,
  importFile,
  listOrders,
  createOrder,
  getOrder,
  updateOrder,
  cancelOrder,
  getMovementReport,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  removeWebhook,
  listWebhookDeliveries,
  rotateWebhookSecret,
  replayWebhook,
  takeOverWebhook,
  testWebhook,
  listKeys,
  listKeyNames,
  createKey,
  getKey,
  listKeyAudit,
  updateKey,
  revokeKey,
  rotateKey,
  createPairingCode,
  pairKey,
  getLimits,
}

export const OPERATIONS: readonly Operation[] = Object.entries(OPERATIONS_BY_ID).map(
  ([operationId, operation]) => ({ ...operation, operationId }),
)

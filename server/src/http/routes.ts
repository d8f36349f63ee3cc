import { adjustInventory } from './adjustments.ts'
import { createCategory, listCategories, removeCategory, updateCategory } from './categories.ts'
import { inventoryEvents } from './events.ts'
import { listInventoryHistory, listRecentChanges } from './history.ts'
import { getAvailability, getInventoryItem, listInventory, updateInventory } from './inventory.ts'
import {
  createKey,
  createPairingCode,
  getKey,
  listKeyNames,
  listKeys,
  pairKey,
  revokeKey,
  rotateKey,
  updateKey,
} from './keys.ts'
import { getLimits } from './limits.ts'
import type { Operation, PathSegments } from './operation.ts'
import { cancelOrder, createOrder, createOrders, getOrder, listOrders, updateOrder } from './orders.ts'
import {
  createPet,
  getCatalogPet,
  getPet,
  listCatalog,
  listPets,
  removePet,
  updatePet,
  upsertPets,
} from './pets.ts'
import type { Route } from './request-context.ts'
import { searchInventory } from './search.ts'
import {
  createWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  redeliverWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './webhooks.ts'

const BASE_PATH = '/v1'

/** Every operation of the API, in the order of the contract. */
export const OPERATIONS: readonly Operation[] = [
  listInventory,
  inventoryEvents,
  getInventoryItem,
  updateInventory,
  adjustInventory,
  getAvailability,
  listInventoryHistory,
  listRecentChanges,
  searchInventory,
  listPets,
  createPet,
  upsertPets,
  getPet,
  updatePet,
  removePet,
  listCatalog,
  getCatalogPet,
  listCategories,
  createCategory,
  updateCategory,
  removeCategory,
  listOrders,
  createOrder,
  createOrders,
  getOrder,
  updateOrder,
  cancelOrder,
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  removeWebhook,
  listWebhookDeliveries,
  rotateWebhookSecret,
  redeliverWebhook,
  testWebhook,
  listKeys,
  listKeyNames,
  createKey,
  getKey,
  updateKey,
  revokeKey,
  rotateKey,
  createPairingCode,
  pairKey,
  getLimits,
]

type OperationsByMethod = ReadonlyMap<string, Operation>

const NOT_FOUND: Route = { type: 'not_found' }
const NO_SEGMENTS: PathSegments = {}

class Router {
  /** Paths without parameters, which take precedence over patterns. */
  readonly #fixedPaths = new Map<string, OperationsByMethod>()
  readonly #patterns: { readonly pattern: RegExp; readonly byMethod: OperationsByMethod }[] = []

  constructor(operations: readonly Operation[]) {
    for (const [path, group] of Map.groupBy(operations, (operation) => BASE_PATH + operation.path)) {
      const byMethod = new Map<string, Operation>()
      for (const operation of group) {
        byMethod.set(operation.method, operation)
        if (operation.method === 'GET') byMethod.set('HEAD', operation)
      }
      const pattern = path.replaceAll(/\{([^}]+)\}/g, '(?<$1>[^/]*)')
      if (pattern === path) this.#fixedPaths.set(path, byMethod)
      else this.#patterns.push({ pattern: new RegExp(`^${pattern}$`), byMethod })
    }
  }

  /** `path` includes the base path. */
  match(method: string, path: string): Route {
    const exact = this.#fixedPaths.get(path)
    if (exact !== undefined) return matchMethod(exact, method, NO_SEGMENTS)
    for (const { pattern, byMethod } of this.#patterns) {
      const segments = pattern.exec(path)?.groups
      if (segments === undefined) continue
      return matchMethod(byMethod, method, path.includes('%') ? decodeSegments(segments) : segments)
    }
    return NOT_FOUND
  }
}

function matchMethod(byMethod: OperationsByMethod, method: string, segments: PathSegments): Route {
  const operation = byMethod.get(method)
  return operation === undefined
    ? { type: 'method_not_allowed', allowed: [...byMethod.keys()] }
    : { type: 'operation', operation, segments }
}

/** If the percent-encoding is invalid, the segments stay encoded. No parameter accepts a `%`, so the request then gets 400. */
function decodeSegments(segments: PathSegments): PathSegments {
  try {
    return Object.fromEntries(
      Object.entries(segments).map(([name, segment]) => [name, decodeURIComponent(segment)]),
    )
  } catch {
    return segments
  }
}

export const ROUTER = new Router(OPERATIONS)

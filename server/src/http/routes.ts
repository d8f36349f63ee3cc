import type { Operation, PathSegments } from './operation.ts'
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
import type { Route } from './request-context.ts'

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
  getPet,
  updatePet,
  removePet,
  listCatalog,
  listCategories,
  createCategory,
  updateCategory,
  removeCategory,
  listOrders,
  createOrder,
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
  testWebhook,
  getLimits,
]

type OperationsByMethod = ReadonlyMap<string, Operation>

const NOT_FOUND: Route = { type: 'not_found' }
const NO_SEGMENTS: PathSegments = {}

class Router {
  /** Paths without parameters need no pattern and take precedence. */
  readonly #byPath = new Map<string, OperationsByMethod>()
  readonly #withParams: { readonly pattern: RegExp; readonly byMethod: OperationsByMethod }[] = []

  constructor(operations: readonly Operation[]) {
    for (const [path, offered] of Map.groupBy(operations, (operation) => BASE_PATH + operation.path)) {
      const byMethod = new Map<string, Operation>()
      for (const operation of offered) {
        byMethod.set(operation.method, operation)
        if (operation.method === 'GET') byMethod.set('HEAD', operation)
      }
      const pattern = path.replaceAll(/\{([^}]+)\}/g, '(?<$1>[^/]*)')
      if (pattern === path) this.#byPath.set(path, byMethod)
      else this.#withParams.push({ pattern: new RegExp(`^${pattern}$`), byMethod })
    }
  }

  /** `path` is the whole path, including the base path. */
  match(method: string, path: string): Route {
    const exact = this.#byPath.get(path)
    if (exact !== undefined) return matchMethod(exact, method, NO_SEGMENTS)
    for (const { pattern, byMethod } of this.#withParams) {
      const segments = pattern.exec(path)?.groups
      if (segments === undefined) continue
      return matchMethod(byMethod, method, path.includes('%') ? decoded(segments) : segments)
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

/** A segment that is not valid percent-encoding stays as it is: no parameter accepts a `%`. */
function decoded(segments: PathSegments): PathSegments {
  try {
    return Object.fromEntries(
      Object.entries(segments).map(([name, segment]) => [name, decodeURIComponent(segment)]),
    )
  } catch {
    return segments
  }
}

export const ROUTER = new Router(OPERATIONS)

import type { Operation } from './operation.ts'
import { getInventoryItem } from './operations/get-inventory-item.ts'
import { getLimits } from './operations/get-limits.ts'
import { getPet } from './operations/get-pet.ts'
import { inventoryEvents } from './operations/inventory-events.ts'
import { listCatalog } from './operations/list-catalog.ts'
import { listInventory } from './operations/list-inventory.ts'
import { listInventoryHistory } from './operations/list-inventory-history.ts'
import { listOrders } from './operations/list-orders.ts'
import { listPets } from './operations/list-pets.ts'
import { listRecentChanges } from './operations/list-recent-changes.ts'
import { updateInventory } from './operations/update-inventory.ts'

/** The version segment that every base address ends in. */
export const BASE_PATH = '/v1'

/** Everything the interface offers, in the order of the contract. */
export const OPERATIONS: readonly Operation[] = [
  ...[listInventory, inventoryEvents, getInventoryItem, updateInventory, listInventoryHistory],
  ...[listRecentChanges, listPets, getPet, listCatalog, listOrders, getLimits],
]

export type Match =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, string>> }
  /** The methods that the path offers instead; `undefined` where there is no such path. */
  | { readonly allowed: readonly string[] | undefined }

interface Route {
  /** Base path included. */
  readonly path: string
  /** Matches the whole path of an address; a group for each parameter. */
  readonly pattern: RegExp
  readonly names: readonly string[]
  /** By method, HEAD beside GET. */
  readonly byMethod: ReadonlyMap<string, Operation>
}

const UNKNOWN_PATH: Match = { allowed: undefined }
const NO_PARAMS: Readonly<Record<string, string>> = {}
const ROUTES: readonly Route[] = [...Map.groupBy(OPERATIONS, ({ path }) => path)].map(toRoute)
/** Paths without parameters are found without trying patterns, and win over those with. */
const ROUTE_BY_PATH = new Map(
  ROUTES.filter(({ names }) => names.length === 0).map((route) => [route.path, route]),
)
const ROUTES_WITH_PARAMS = ROUTES.filter(({ names }) => names.length > 0)

/** `path` is the whole path of the address, base path included. */
export function matchRoute(method: string, path: string): Match {
  const exact = ROUTE_BY_PATH.get(path)
  if (exact !== undefined) return matchMethod(exact, method, NO_PARAMS)
  for (const route of ROUTES_WITH_PARAMS) {
    const values = route.pattern.exec(path)
    if (values === null) continue
    const params: Record<string, string> = {}
    for (const [index, name] of route.names.entries()) params[name] = decoded(values[index + 1] ?? '')
    return matchMethod(route, method, params)
  }
  return UNKNOWN_PATH
}

function matchMethod(route: Route, method: string, params: Readonly<Record<string, string>>): Match {
  const operation = route.byMethod.get(method)
  return operation === undefined ? { allowed: [...route.byMethod.keys()] } : { operation, params }
}

function toRoute([path, operations]: [string, Operation[]]): Route {
  const byMethod = new Map<string, Operation>()
  for (const operation of operations) {
    byMethod.set(operation.method, operation)
    if (operation.method === 'GET') byMethod.set('HEAD', operation)
  }
  return {
    path: BASE_PATH + path,
    pattern: new RegExp(`^${BASE_PATH}${path.replace(/\{[^}]+\}/g, '([^/]*)')}$`),
    names: [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? ''),
    byMethod,
  }
}

/** A segment that is not valid percent-encoding stays as it is: no parameter of ours accepts a `%`. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

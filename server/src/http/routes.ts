import type { Operation } from './operation.ts'
import { getPet } from './operations/get-pet.ts'
import { listInventory } from './operations/list-inventory.ts'
import { listOrders } from './operations/list-orders.ts'
import { updateInventory } from './operations/update-inventory.ts'

/** The version segment that every base address ends in. */
export const BASE_PATH = '/v1'

/** Everything the interface offers, in the order of the contract. */
export const OPERATIONS: readonly Operation[] = [listInventory, updateInventory, getPet, listOrders]

export type Match =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not for this method. */
  | { readonly allowed: readonly string[] }
  | 'unknown_path'

/** `path` is the whole path of the address, base path included. */
export function matchRoute(method: string, path: string): Match {
  const relative = path.startsWith(`${BASE_PATH}/`) ? path.slice(BASE_PATH.length) : undefined
  if (relative === undefined) return 'unknown_path'
  const segments = relative.split('/')
  const allowed = new Set<string>()
  for (const operation of OPERATIONS) {
    const params = matchPath(operation.path.split('/'), segments)
    if (params === undefined) continue
    if (answersTo(operation).includes(method)) return { operation, params }
    for (const offered of answersTo(operation)) allowed.add(offered)
  }
  return allowed.size > 0 ? { allowed: [...allowed] } : 'unknown_path'
}

/** HEAD is offered wherever GET is. */
function answersTo(operation: Operation): readonly string[] {
  return operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]
}

function matchPath(
  template: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (template.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, part] of template.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith('{')) params[part.slice(1, -1)] = decoded(segment)
    else if (part !== segment) return undefined
  }
  return params
}

/** A segment that is not valid percent-encoding stays as it is: no parameter of ours accepts a `%`. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

import type { Load, StoreOptions } from './cases.ts'
import type { Dataset } from './dataset.ts'
import type { ServerProcess } from './processes.ts'

export const LIST_PATH = '/v1/inventory'
export const ORDERS_PATH = '/v1/store/orders'

/** Ours is compared with the peers. nginx is the ceiling: how fast the machine can send the same bytes. */
export interface Target {
  readonly name: string
  readonly label: string
  readonly kind: 'ours' | 'peer' | 'ceiling'
  readonly database: StoreOptions['database']
  readonly loads: readonly Load['kind'][]
  start(dataset: Dataset, store: StoreOptions): Promise<RunningTarget>
}

export interface Secrets {
  readonly unlimited: string
  /** Well-formed, but not a key of this store. */
  readonly unknown: string
}

export interface RunningTarget {
  readonly instances: readonly ServerProcess[]
  readonly secrets: Secrets
}

export function firstUrl({ instances }: RunningTarget): string {
  const [first] = instances
  if (first === undefined) throw new Error('the target has no instance')
  return first.url
}

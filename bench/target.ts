import type { Load } from './cases.ts'
import type { Dataset } from './dataset.ts'
import type { ServerProcess } from './processes.ts'

/** Ours is compared with the peers. Ceilings show how fast the machine can send the same bytes. */
export type TargetKind = 'ours' | 'peer' | 'ceiling'

/** Only targets of the same section are compared: embedded database, PostgreSQL, several instances on PostgreSQL. */
export type Section = 'embedded' | 'postgres' | 'instances'

export const LIST_PATH = '/v1/inventory'
export const SEARCH_PATH = '/v1/inventory/search'
export const ORDERS_PATH = '/v1/store/orders'

export interface Target {
  readonly name: string
  readonly label: string
  readonly kind: TargetKind
  readonly section: Section
  readonly loads: readonly Load['kind'][]
  start(dataset: Dataset): Promise<RunningTarget>
}

export interface Secrets {
  readonly unlimited: string
  /** Well-formed, but not a key of this store. */
  readonly unknown: string
}

export interface RunningTarget extends ServerProcess {
  readonly secrets: Secrets
}

/** A target that several instances can serve together from one database. */
export interface SharedTarget extends Target {
  /** The table with the columns pet_id, quantity, reserved and status. */
  readonly stockTable: string
  /** Fills an empty database. */
  prepare(dataset: Dataset, database: string): Promise<Secrets>
  startInstance(logName: string, database: string, place: InstancePlace): Promise<ServerProcess>
}

export interface InstancePlace {
  readonly folder: string
  readonly cores?: string
  /** A command that starts the instance, such as one that simulates another disk. */
  readonly launcher?: readonly string[]
}

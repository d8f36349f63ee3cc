import type { Dataset } from './dataset.ts'
import type { ServerProcess } from './processes.ts'

/** Ours is compared with the peers; ceilings only show what the machine gives for the same bytes. */
export type TargetKind = 'ours' | 'peer' | 'ceiling'

/**
 * Only targets of one section are compared: those with their data in the process, those on PostgreSQL, and several
 * instances of those.
 */
export type Section = 'embedded' | 'postgres' | 'instances'

/** Where all who take orders take them. */
export const ORDERS_PATH = '/v1/store/orders'

/** Where all who can be searched are. */
export const SEARCH_PATH = '/v1/inventory/search'

export interface Target {
  readonly name: string
  readonly label: string
  readonly kind: TargetKind
  readonly section: Section
  readonly listPath: string
  /** json-server indents its JSON: there the content is compared, elsewhere every byte. */
  readonly listEquals: 'bytes' | 'content'
  readonly takesUpdates: boolean
  /** Those that have them change several pets in one transaction, all or none. */
  readonly takesAdjustments: boolean
  /** Those that have them check and reserve in one transaction. */
  readonly takesOrders: boolean
  /** Those that can find pets by words of their names, by category, and those that run low, by an index. */
  readonly takesSearches: boolean
  readonly checksKeys: boolean
  start(dataset: Dataset): Promise<RunningTarget>
}

export interface Secrets {
  readonly unlimited: string
  readonly free: string
}

export interface RunningTarget extends ServerProcess {
  readonly secrets: Secrets
}

/** One that several instances can serve together, on one database. */
export interface SharedTarget extends Target {
  /** Where its stock is: a table with the columns pet_id, quantity and status. */
  readonly stockTable: string
  /** Fills an empty database. */
  prepare(dataset: Dataset, database: string): Promise<Secrets>
  /** One more instance. `name` is for its log. */
  startInstance(name: string, database: string, where: InstancePlace): Promise<ServerProcess>
}

export interface InstancePlace {
  readonly folder: string
  readonly cores?: string
  /** A command that starts it, such as one that gives it another disk. */
  readonly through?: readonly string[]
}

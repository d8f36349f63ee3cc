import type { Dataset } from './dataset.ts'
import type { ServerProcess } from './processes.ts'

/** Ours is compared with the peers; ceilings only show what the machine gives for the same bytes. */
export type TargetKind = 'ours' | 'peer' | 'ceiling'

/** Only targets of one section are compared with each other: those with their data in the process, and on PostgreSQL. */
export type Section = 'embedded' | 'postgres'

export interface Target {
  readonly name: string
  readonly label: string
  readonly kind: TargetKind
  readonly section: Section
  readonly listPath: string
  /** json-server indents its JSON: there the content is compared, elsewhere every byte. */
  readonly listEquals: 'bytes' | 'content'
  readonly takesUpdates: boolean
  readonly checksKeys: boolean
  start(dataset: Dataset): Promise<RunningTarget>
}

export interface RunningTarget extends ServerProcess {
  readonly secrets: { readonly unlimited: string; readonly free: string }
}

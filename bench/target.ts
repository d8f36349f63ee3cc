import type { Dataset } from './dataset.ts'
import type { ServerProcess } from './processes.ts'

/** Ours is compared with the peers; ceilings only show what the machine gives for the same bytes. */
export type TargetKind = 'ours' | 'peer' | 'ceiling'

export interface Target {
  readonly name: string
  readonly label: string
  readonly kind: TargetKind
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

/** A quantity that changed: kept in the log, in the same commit as the change it records. */
export interface HistoryEntry {
  /** Opaque; a later change of the same pet has another one. */
  readonly id: string
  readonly petId: bigint
  readonly before: number
  readonly after: number
  readonly at: number
  readonly keyId: string
  /** The name of the key, or its id where the key is not known any more. */
  readonly keyName: string
  /** What it was made for, where that was told. */
  readonly reason?: string
  readonly reference?: string
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[]
  /** From where the next page follows; `undefined` where there is none. */
  readonly next: string | undefined
}

/** Which changes are wanted: all that is given must hold. */
export interface HistoryFilter {
  readonly petId?: bigint | undefined
  /** The name of the key that made it, or its id. */
  readonly who?: string | undefined
  readonly reason?: string | undefined
  /** From this time on. */
  readonly since?: number | undefined
  /** Before this time. */
  readonly until?: number | undefined
}

/** What of the log may go: what was recorded before this time, or all but so many of the newest rows. */
export type PruneLimit = { readonly before: number } | { readonly keep: number }

/** A pet that is no more. */
export type Removal = Pick<HistoryEntry, 'petId' | 'at' | 'keyId' | 'keyName'>

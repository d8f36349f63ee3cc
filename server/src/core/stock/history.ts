/** A change of a quantity. It is written to the log in the same commit as the change. */
export interface HistoryEntry {
  /** Opaque. Unique among the changes of the pet. */
  readonly id: string
  readonly petId: bigint
  readonly before: number
  readonly after: number
  readonly at: number
  readonly keyId: string
  /** The name of the key, or its id if the key is no longer known. */
  readonly keyName: string
  /** Why the change was made, if the caller gave a reason. */
  readonly reason?: string
  readonly reference?: string
}

export interface HistoryPage {
  readonly entries: readonly HistoryEntry[]
  /** The cursor of the next page; `undefined` if this is the last page. */
  readonly next: string | undefined
}

/** Selects changes that match all given fields. */
export interface HistoryFilter {
  readonly petId?: bigint | undefined
  /** The name or the id of the key that made the change. */
  readonly who?: string | undefined
  readonly reason?: string | undefined
  /** From this time on. */
  readonly since?: number | undefined
  /** Before this time. */
  readonly until?: number | undefined
}

/** Which log rows may be removed: rows from before a time, or all but a number of the newest rows. */
export type PruneLimit = { readonly before: number } | { readonly keep: number }

/** The removal of a pet. */
export type Removal = Pick<HistoryEntry, 'petId' | 'at' | 'keyId' | 'keyName'>

import type { Page } from '@petstore/client'
import { useMemo } from 'preact/compat'
import { type ListSnapshot, type ListSource, type LiveList, useLiveList } from '../live-list.ts'
import { type Change, changeKey } from './change-log.ts'
import type { LiveChanges } from './live-changes.ts'

export interface HistorySource {
  /** Loads a page; the newest without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Change>>
  readonly live: LiveChanges
  /** Only changes of this pet; all pets by default. */
  readonly petId?: bigint
}

export type ChangeHistory = LiveList<Change, Change>
export type HistorySnapshot = ListSnapshot<Change>

/** The changes, newest first. */
export function changeListSource({ load, live, petId }: HistorySource): ListSource<Change, Change> {
  return {
    load,
    keyOf: changeKey,
    isLog: true,
    events: live,
    concerns: (change) => petId === undefined || change.petId === petId,
  }
}

/** A history for as long as the component is mounted. `source` must stay the same object for the same history. */
export function useChangeHistory(source: HistorySource): ChangeHistory {
  return useLiveList(useMemo(() => changeListSource(source), [source]))
}

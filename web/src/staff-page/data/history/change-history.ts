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

/** The changes, newest first. The names of new keys are looked up together. */
export function changeListSource({ load, live, petId }: HistorySource): ListSource<Change, Change> {
  const keyNames = new Map<string, string>()
  return {
    keyOf: changeKey,
    isLog: true,
    events: live,
    load: async (cursor, signal) => {
      const page = await load(cursor, signal)
      for (const { keyId, keyName } of page.items) if (keyName !== undefined) keyNames.set(keyId, keyName)
      return page
    },
    effectOf: (change, { find }) => {
      if ((petId !== undefined && change.petId !== petId) || find(changeKey(change)) !== undefined) {
        return undefined
      }
      const keyName = change.keyName ?? keyNames.get(change.keyId)
      return { type: 'put', row: { ...change, keyName }, isIncomplete: keyName === undefined }
    },
  }
}

/** A history for as long as the component is mounted. `source` must stay the same object for the same history. */
export function useChangeHistory(source: HistorySource): ChangeHistory {
  return useLiveList(useMemo(() => changeListSource(source), [source]))
}

import { useMemo } from 'preact/compat'
import type { LiveChanges } from './history/live-changes.ts'
import { type ListSource, useLiveList } from './live-list.ts'

interface ValueSource<Value, Event> extends Pick<ListSource<Value, Event>, 'concerns'> {
  readonly events: LiveChanges<Event>
  readonly load: (signal: AbortSignal) => Promise<Value>
}

export interface LiveValue<Value> {
  readonly value: Value | undefined
  readonly failure: string | undefined
  readonly reload: () => void
}

/** The value may take several requests, and a key of the smallest plan has 60 a minute. */
const RELOAD_EVERY_MS = 15_000

/** A value that is loaded again after events. `source` must stay the same object for the same value. */
export function useLiveValue<Value, Event>(source: ValueSource<Value, Event>): LiveValue<Value> {
  const list = useLiveList(
    useMemo(
      (): ListSource<Value, Event> => ({
        ...source,
        reloadEveryMs: RELOAD_EVERY_MS,
        keyOf: () => '',
        load: async (_, signal) => ({ items: [await source.load(signal)] }),
      }),
      [source],
    ),
  )
  const { rows, failure } = list.get()
  return { value: rows[0], failure, reload: () => void list.reload() }
}

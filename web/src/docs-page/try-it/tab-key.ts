import { useSyncExternalStore } from 'react'
import { keepDocsKey, onForgottenElsewhere, storedDocsKey } from '../../shared/key-storage.ts'

const listeners = new Set<() => void>()

/** The key that tries are sent with; what is typed is kept for this tab alone, never in an address. */
export function useTabKey(): readonly [string, (key: string) => void] {
  return [useSyncExternalStore(subscribe, storedDocsKey), setTabKey]
}

function setTabKey(key: string): void {
  keepDocsKey(key.trim())
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  const stopHearing = onForgottenElsewhere(listener)
  return () => {
    listeners.delete(listener)
    stopHearing()
  }
}

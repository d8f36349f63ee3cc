import { useSyncExternalStore } from 'react'
import { storedKey } from '../../stock-page/session/key-storage.ts'

/** As the staff page has it: who is signed in there, in this tab, need not enter the key again. */
const STORED_AS = 'petstore.api-key'

const listeners = new Set<() => void>()
let current: string | undefined

/** The key that tries are sent with; kept for this tab alone, never in an address. */
export function useTabKey(): readonly [string, (key: string) => void] {
  return [useSyncExternalStore(subscribe, tabKey), setTabKey]
}

function tabKey(): string {
  current ??= storedKey() ?? ''
  return current
}

function setTabKey(key: string): void {
  current = key.trim()
  if (current === '') sessionStorage.removeItem(STORED_AS)
  else sessionStorage.setItem(STORED_AS, current)
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

import { useSyncExternalStore } from 'preact/compat'

/** A value that is read from the browser's storage; current even if another tab or component changes it. */
export function useStoredValue<Value>(read: () => Value): Value {
  return useSyncExternalStore(onStorageChange, read)
}

/** Call it after a change: the browser notifies only other tabs. */
export function announceStorageChange(): void {
  dispatchEvent(new StorageEvent('storage'))
}

function onStorageChange(listener: () => void): () => void {
  addEventListener('storage', listener)
  return () => removeEventListener('storage', listener)
}

import type { KeptWork } from './kept-work.ts'

/** Calls back when another tab has written some of this work, until the signal ends. */
export function onWorkElsewhere(kept: KeptWork, listener: () => void, signal: AbortSignal): void {
  const hear = ({ key }: StorageEvent) => {
    if (kept.isIn(key)) listener()
  }
  addEventListener('storage', hear, { signal })
}

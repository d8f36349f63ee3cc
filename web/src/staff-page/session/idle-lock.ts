import { useEffect } from 'preact/compat'

export const LOCK_MINUTES = [1, 5, 15, 30] as const
type LockMinutes = (typeof LOCK_MINUTES)[number]
const DEFAULT_MINUTES: LockMinutes = 5

const MINUTES_ITEM = 'petstore.lock-after-minutes'
/** When somebody last used any tab: a tab that is idle must not lock a tab that is in use. */
const USED_ITEM = 'petstore.used-at'
const CHECK_EVERY_MS = 1_000
const USES = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const

export function lockMinutes(): LockMinutes {
  const stored = Number(localStorage.getItem(MINUTES_ITEM))
  return LOCK_MINUTES.find((minutes) => minutes === stored) ?? DEFAULT_MINUTES
}

export function setLockMinutes(minutes: LockMinutes): void {
  localStorage.setItem(MINUTES_ITEM, String(minutes))
}

/** Calls `onIdle` once nobody has used the page for the chosen time. */
export function useIdleLock(isOn: boolean, onIdle: () => void): void {
  useEffect(() => {
    if (!isOn) return
    const recordUse = () => localStorage.setItem(USED_ITEM, String(Date.now()))
    const idleMs = () => Date.now() - Number(localStorage.getItem(USED_ITEM))
    const check = () => {
      if (idleMs() >= lockMinutes() * 60_000) onIdle()
    }
    /** Checks first: the touch that wakes up a device must not keep it unlocked. */
    const onUse = () => {
      check()
      if (idleMs() >= CHECK_EVERY_MS) recordUse()
    }
    recordUse()
    const timer = setInterval(check, CHECK_EVERY_MS)
    // Timers stand still while a device sleeps.
    document.addEventListener('visibilitychange', check)
    for (const use of USES) addEventListener(use, onUse, { capture: true, passive: true })
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', check)
      for (const use of USES) removeEventListener(use, onUse, { capture: true })
    }
  }, [isOn, onIdle])
}

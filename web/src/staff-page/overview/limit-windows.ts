import type { LimitState } from '@petstore/client'

/** Both windows of a key, as GET /limits returns them. */
interface LimitWindows {
  readonly minute: LimitState
  readonly day: LimitState
}

/**
 * Applies the limit headers of a response. They describe only the tighter window, usually the minute; requests of the
 * minute count for the day as well.
 */
export function withAnswer<Windows extends LimitWindows>(windows: Windows, seen: LimitState): Windows {
  const { minute, day } = windows
  if (seen.limit === day.limit && seen.reset === day.reset)
    return { ...windows, day: lower(day, seen.remaining) }
  if (seen.limit !== minute.limit || seen.reset < minute.reset) return windows
  const isSameWindow = seen.reset === minute.reset
  const used = (isSameWindow ? minute.remaining : minute.limit) - seen.remaining
  if (isSameWindow && used <= 0) return windows
  return { ...windows, minute: seen, day: lower(day, day.remaining - used) }
}

/** The windows at this time. A window that has ended is full again. */
export function windowsAt({ minute, day }: LimitWindows, now: number): LimitWindows {
  return { minute: atTime(minute, now), day: atTime(day, now) }
}

function atTime(window: LimitState, now: number): LimitState {
  return window.reset * 1000 > now ? window : { ...window, remaining: window.limit }
}

/** Responses may overtake each other: within a window, the lower figure is the later one. */
function lower(window: LimitState, remaining: number): LimitState {
  return { ...window, remaining: Math.max(0, Math.min(window.remaining, remaining)) }
}

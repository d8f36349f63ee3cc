import type { LimitState } from '@petstore/client'

/** Both windows of a key, as GET /limits tells them. */
export interface LimitWindows {
  readonly minute: LimitState
  readonly day: LimitState
}

/**
 * With what an answer to any other request told. That is the tighter window alone, the minute's as a rule; what was
 * used of it was used of the day as well.
 */
export function withAnswer(windows: LimitWindows, seen: LimitState): LimitWindows {
  const { minute, day } = windows
  if (seen.limit === day.limit && seen.reset === day.reset)
    return { ...windows, day: lower(day, seen.remaining) }
  if (seen.limit !== minute.limit) return windows
  if (seen.reset < minute.reset) return windows
  const isSameWindow = seen.reset === minute.reset
  const used = (isSameWindow ? minute.remaining : minute.limit) - seen.remaining
  if (isSameWindow && used <= 0) return windows
  return { minute: seen, day: lower(day, day.remaining - used) }
}

/** As it stands at this time: a window that is over is full again until the next request begins another. */
export function windowsAt({ minute, day }: LimitWindows, now: number): LimitWindows {
  return { minute: atTime(minute, now), day: atTime(day, now) }
}

function atTime(window: LimitState, now: number): LimitState {
  return window.reset * 1000 > now ? window : { ...window, remaining: window.limit }
}

/** Answers may overtake each other: within a window, the lower figure is the later one. */
function lower(window: LimitState, remaining: number): LimitState {
  return { ...window, remaining: Math.max(0, Math.min(window.remaining, remaining)) }
}

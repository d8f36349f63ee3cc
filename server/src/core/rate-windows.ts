import { DAY, MINUTE, SECOND } from './clock.ts'
import type { Limits } from './plans.ts'

/** Requests counted since `startedAt`, which is a whole second, so that its end can be told exactly. */
export interface Window {
  startedAt: number
  used: number
  rejected: number
}

export interface Ban {
  readonly beganAt: number
  readonly endsAt: number
}

/** What one key has used. `admit` changes it in place. */
export interface LimitState {
  readonly minute: Window
  readonly day: Window
  /** The latest ban, kept after its end: a new one soon after lasts twice as long. */
  ban?: Ban
}

/** What the headers of an answer tell. `resetAt` is in milliseconds, on a whole second. */
export interface Standing {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

export type Refusal = 'rate_limit_exceeded' | 'key_banned'

export interface Admission extends Standing {
  readonly refused?: Refusal
  /** This very request brought the ban. */
  readonly beginsBan?: true
}

export const FIRST_BAN = 5 * MINUTE
export const LONGEST_BAN = 60 * MINUTE

export function freshWindow(): Window {
  return { startedAt: 0, used: 0, rejected: 0 }
}

export function freshState(): LimitState {
  return { minute: freshWindow(), day: freshWindow() }
}

/**
 * Decides on one request at time `now`, and counts it. A refused request uses up nothing, but so many
 * refusals within one window as the plan allows requests in a minute bring a ban.
 */
export function admit(state: LimitState, limits: Limits, now: number): Admission {
  const minute = current(state.minute, MINUTE, now)
  const day = current(state.day, DAY, now)
  const ban = currentBan(state, now)
  if (ban !== undefined) return banned(ban, limits)

  // The day first: where both are used up, it is the one that keeps the caller out for longer.
  if (day.used >= limits.perDay) return reject(state, day, DAY, limits.perDay, limits, now)
  if (minute.used >= limits.perMinute) return reject(state, minute, MINUTE, limits.perMinute, limits, now)

  count(minute, now)
  count(day, now)
  return tighter(minute, day, limits)
}

function reject(
  state: LimitState,
  window: Window,
  length: number,
  limit: number,
  limits: Limits,
  now: number,
): Admission {
  window.rejected++
  if (window.rejected >= limits.perMinute) {
    window.rejected = 0
    state.ban = nextBan(state.ban, now)
    return { ...banned(state.ban, limits), beginsBan: true }
  }
  return { limit, remaining: 0, resetAt: window.startedAt + length, refused: 'rate_limit_exceeded' }
}

function banned(ban: Ban, limits: Limits): Admission {
  return { limit: limits.perMinute, remaining: 0, resetAt: ban.endsAt, refused: 'key_banned' }
}

/** Of two windows with as many requests left, the day's binds for longer. */
function tighter(minute: Window, day: Window, limits: Limits): Standing {
  const leftInMinute = Math.max(0, limits.perMinute - minute.used)
  const leftInDay = Math.max(0, limits.perDay - day.used)
  return leftInDay <= leftInMinute
    ? { limit: limits.perDay, remaining: leftInDay, resetAt: day.startedAt + DAY }
    : { limit: limits.perMinute, remaining: leftInMinute, resetAt: minute.startedAt + MINUTE }
}

/** The window as it is at `now`: emptied once its time is over. */
export function current(window: Window, length: number, now: number): Window {
  if (now >= window.startedAt + length) {
    window.used = 0
    window.rejected = 0
  } else if (now < window.startedAt) {
    // The clock went back: keep the count, but lock nobody out for longer than one window from now.
    window.startedAt = wholeSecond(now)
  }
  return window
}

/** Counts one request; the first one starts the window. */
export function count(window: Window, now: number): void {
  if (window.used === 0) window.startedAt = wholeSecond(now)
  window.used++
}

function currentBan(state: LimitState, now: number): Ban | undefined {
  const ban = state.ban
  if (ban === undefined || now >= ban.endsAt) return undefined
  if (now >= ban.beganAt) return ban
  state.ban = { beganAt: wholeSecond(now), endsAt: wholeSecond(now) + (ban.endsAt - ban.beganAt) }
  return state.ban
}

function nextBan(last: Ban | undefined, now: number): Ban {
  const forgotten = last === undefined || now >= last.endsAt + DAY
  const length = forgotten ? FIRST_BAN : Math.min((last.endsAt - last.beganAt) * 2, LONGEST_BAN)
  return { beganAt: wholeSecond(now), endsAt: wholeSecond(now) + length }
}

/** Down, so that a window never ends later than its length from now. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND) * SECOND
}

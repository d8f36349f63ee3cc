import type { Limits } from '../keys/plans.ts'
import { DAY, MINUTE, SECOND } from '../values/clock.ts'

/** Requests counted since `startedAt`, which is a whole second, so that its end can be told exactly. */
export interface Window {
  startedAt: number
  used: number
  rejected: number
}

export interface Ban {
  /** The key's bans are numbered from 1: their times can be moved, where the clock is. */
  readonly number: number
  readonly beganAt: number
  readonly endsAt: number
}

/** What one key has used. `admit` changes it in place. */
export interface LimitState {
  readonly minute: Window
  readonly day: Window
  /** When its latest request came: a clock that shows less has been set back. */
  lastUsedAt: number
  /** How many bans it has had, lifted ones too. */
  bans: number
  /** The latest ban, kept after its end: a new one soon after lasts twice as long. */
  ban?: Ban
}

/** What the headers of an answer tell. `resetAt` is in milliseconds, on a whole second. */
export interface WindowStatus {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** Both windows of a key, where the headers tell of the tighter one alone. */
export interface KeyWindows {
  readonly minute: WindowStatus
  readonly day: WindowStatus
}

export type Refusal = 'rate_limit_exceeded' | 'key_banned'

export interface Admission extends WindowStatus {
  /** When it was decided, by the clock that `resetAt` is told by. */
  readonly at: number
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
  return { minute: freshWindow(), day: freshWindow(), lastUsedAt: 0, bans: 0 }
}

/**
 * Decides on one request at time `now`, and counts it. A refused request uses up nothing, but so many
 * refusals within one window as the plan allows requests in a minute bring a ban.
 */
export function admit(state: LimitState, limits: Limits, now: number): Admission {
  followClock(state, state.lastUsedAt, now)
  // A clock that trembles by less than a second stands still.
  const at = Math.max(now, state.lastUsedAt)
  state.lastUsedAt = at
  return { ...decide(state, limits, at), at }
}

/**
 * Where the clock was set back, from `before` to `now`, what a key used is moved with it: as much is left of its
 * windows and of its ban as was left before. Without that, a ban would last until the clock has caught up.
 */
export function followClock(state: LimitState, before: number, now: number): void {
  const back = Math.floor((before - now) / SECOND) * SECOND
  if (back <= 0) return
  state.minute.startedAt -= back
  state.day.startedAt -= back
  state.lastUsedAt -= back
  if (state.ban !== undefined) {
    const { number, beganAt, endsAt } = state.ban
    state.ban = { number, beganAt: beganAt - back, endsAt: endsAt - back }
  }
}

/** Looks without counting or changing anything. */
export function windowsOf(state: LimitState, limits: Limits, now: number): KeyWindows {
  const at = Math.max(now, state.lastUsedAt)
  return {
    minute: statusOf(current({ ...state.minute }, MINUTE, at), MINUTE, limits.perMinute),
    day: statusOf(current({ ...state.day }, DAY, at), DAY, limits.perDay),
  }
}

type Decision = Omit<Admission, 'at'>

function decide(state: LimitState, limits: Limits, now: number): Decision {
  const minute = current(state.minute, MINUTE, now)
  const day = current(state.day, DAY, now)
  if (state.ban !== undefined && now < state.ban.endsAt) return banned(state.ban, limits)

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
): Decision {
  window.rejected++
  if (window.rejected >= limits.perMinute) {
    window.rejected = 0
    state.bans++
    state.ban = { number: state.bans, ...nextBan(state.ban, now) }
    return { ...banned(state.ban, limits), beginsBan: true }
  }
  return { limit, remaining: 0, resetAt: window.startedAt + length, refused: 'rate_limit_exceeded' }
}

function banned(ban: Ban, limits: Limits): Decision {
  return { limit: limits.perMinute, remaining: 0, resetAt: ban.endsAt, refused: 'key_banned' }
}

type Counted = Pick<Window, 'startedAt' | 'used'>

/** Of two windows with as many requests left, the day's binds for longer. */
export function tighter(minute: Counted, day: Counted, limits: Limits): WindowStatus {
  const ofMinute = statusOf(minute, MINUTE, limits.perMinute)
  const ofDay = statusOf(day, DAY, limits.perDay)
  return ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute
}

function statusOf({ startedAt, used }: Counted, length: number, limit: number): WindowStatus {
  return { limit, remaining: Math.max(0, limit - used), resetAt: startedAt + length }
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

function nextBan(last: Ban | undefined, now: number): Omit<Ban, 'number'> {
  const forgotten = last === undefined || now >= last.endsAt + DAY
  const length = forgotten ? FIRST_BAN : Math.min((last.endsAt - last.beganAt) * 2, LONGEST_BAN)
  return { beganAt: wholeSecond(now), endsAt: wholeSecond(now) + length }
}

/** Down, so that a window never ends later than its length from now. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND) * SECOND
}

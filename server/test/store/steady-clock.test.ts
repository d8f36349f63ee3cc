import { beforeEach, expect, test } from 'bun:test'
import { DAY, MINUTE, SECOND } from '../../src/core/values/clock.ts'
import { SteadyClock } from '../../src/store/steady-clock.ts'

const START = Date.UTC(2026, 10, 19, 12)
const HOUR = 60 * MINUTE

let monotonic: number
let sleptMs: number
let wall: number
let clock: SteadyClock
const machine = {
  monotonic: () => monotonic,
  sinceBoot: () => Math.floor((5_000_000 + monotonic + sleptMs) / SECOND) * SECOND,
}
beforeEach(() => {
  monotonic = 1_000
  sleptMs = 0
  wall = START
  clock = new SteadyClock(wall, undefined, machine)
})

function pass(ms: number): void {
  monotonic += ms
  wall += ms
}
function sleep(ms: number): void {
  sleptMs += ms
  wall += ms
}
const follow = () => clock.followTime(wall) - START

test('follows small steps, and every step back', () => {
  pass(10 * SECOND)
  wall += 30 * SECOND
  expect([follow(), clock.ignoredJumpMs]).toEqual([40 * SECOND, 0])
  wall -= 2 * DAY
  expect([follow(), clock.ignoredJumpMs]).toEqual([40 * SECOND - 2 * DAY, 0])
})

test('ignores a jump forward until the clock is set right again', () => {
  pass(MINUTE)
  follow()
  wall += 25 * HOUR
  expect([follow(), clock.ignoredJumpMs]).toEqual([MINUTE, 25 * HOUR])
  pass(MINUTE)
  expect(follow()).toBe(2 * MINUTE)
  wall -= 25 * HOUR
  expect([follow(), clock.ignoredJumpMs]).toEqual([2 * MINUTE, 0])
})

test('follows a jump that lasts for an hour', () => {
  wall += 25 * HOUR
  expect(follow()).toBe(0)
  pass(HOUR - 1)
  expect(follow()).toBe(HOUR - 1)
  pass(1)
  expect([follow(), clock.ignoredJumpMs]).toEqual([26 * HOUR, 0])
})

test('follows a machine that slept, also during a jump', () => {
  sleep(8 * HOUR)
  expect([follow(), clock.ignoredJumpMs]).toEqual([8 * HOUR, 0])
  wall += 25 * HOUR
  expect(follow()).toBe(8 * HOUR)
  sleep(2 * HOUR)
  expect(follow()).toBe(10 * HOUR)
  wall -= 25 * HOUR
  expect(follow()).toBe(10 * HOUR)
})

test('a process that starts during a jump ignores it if an earlier process saved the offset', () => {
  const saved = clock.bootOffset
  wall += 25 * HOUR
  pass(10 * MINUTE)
  clock = new SteadyClock(wall, saved, machine)
  expect(clock.ignoredJumpMs).toBe(25 * HOUR)
  expect(follow()).toBe(10 * MINUTE)
  expect([clock.isCredible(wall), clock.isCredible(wall - 25 * HOUR)]).toEqual([false, true])
  clock = new SteadyClock(wall, undefined, machine)
  expect(follow()).toBe(25 * HOUR + 10 * MINUTE)
})

import { afterEach, expect, setSystemTime, test } from 'bun:test'
import fc from 'fast-check'
import { ServerClock } from '../../src/staff-page/data/server-clock.ts'

afterEach(() => {
  setSystemTime()
})

const HERE = Date.UTC(2026, 10, 16, 12)

/** The header as the service writes it: whole seconds, none of them rounded up. */
const dateAt = (ms: number) => new Date(ms).toUTCString()

test('before the service has told, it is this machine’s own time', () => {
  setSystemTime(HERE)
  const clock = new ServerClock()
  clock.note(null, HERE)
  clock.note('soon', HERE)
  expect(clock.now()).toBe(HERE)
})

test('however far the clocks are apart, it is off by less than a second and half the way', () => {
  const answers = fc.array(fc.record({ wait: fc.nat(5_000), there: fc.nat(400), back: fc.nat(400) }), {
    minLength: 1,
  })
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), answers, (ahead, each) => {
      const clock = new ServerClock()
      let now = HERE
      for (const { wait, there, back } of each) {
        const sentAt = now + wait
        now = sentAt + there + back
        clock.note(dateAt(sentAt + there + ahead), sentAt, now)
      }
      setSystemTime(now)
      expect(Math.abs(clock.now() - (now + ahead))).toBeLessThanOrEqual(500 + 400)
    }),
  )
})

test('many answers tell more than one: the seconds turn at different moments', () => {
  const clock = new ServerClock()
  const ahead = 3_600_250
  for (let at = HERE; at < HERE + 10_000; at += 130) {
    clock.note(dateAt(at + ahead), at, at + 10)
    setSystemTime(at)
    if (at > HERE + 5_000) expect(Math.abs(clock.now() - (at + ahead))).toBeLessThan(100)
  }
})

test('a clock that was set is believed from the next answer on', () => {
  const clock = new ServerClock()
  clock.note(dateAt(HERE), HERE, HERE)
  clock.note(dateAt(HERE + 3_600_000), HERE + 1_000, HERE + 1_000)
  setSystemTime(HERE + 1_000)
  expect(clock.now()).toBe(HERE + 3_600_500)
})

test('an action happens at the time of the device, unless its clock contradicts the service', () => {
  setSystemTime(HERE + 200)
  const clock = new ServerClock()
  clock.note(dateAt(HERE), HERE, HERE + 100)
  expect(clock.timeOfAction()).toBe(HERE + 200)
  clock.note(dateAt(HERE + 3_600_000), HERE + 100, HERE + 200)
  expect(clock.timeOfAction()).toBeGreaterThan(HERE + 3_599_000)
})

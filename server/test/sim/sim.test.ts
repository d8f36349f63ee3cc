import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { createFixture, type Fixture } from './fixture.ts'
import { simulate } from './simulation.ts'

setDefaultTimeout(120_000)

/** `SIM_SEED=7 bun test server/test/sim` runs another seed. */
const SEEDS = Bun.env.SIM_SEED === undefined ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] : [Number(Bun.env.SIM_SEED)]
const CRASHES = 10

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.remove())

test.each(SEEDS)(
  'nothing that anybody was answered or shown is lost or undone in ten crashes; repeat with SIM_SEED=%i bun test server/test/sim',
  (seed) => {
    const { violations, counts } = simulate(fixture, seed, CRASHES)
    expect(violations).toEqual([])
    // Without these, the test would prove little.
    expect(Math.min(counts.operations ?? 0, counts.events ?? 0, counts.deliveries ?? 0)).toBeGreaterThan(100)
  },
)

type FalsifyEvent = (event: StockEvent) => readonly StockEvent[]

test.each<[string, StockEvent['kind'], FalsifyEvent]>([
  ['without a change', 'change', () => []],
  ['with another quantity', 'change', (event) => [{ ...event, after: 987_654 } as StockEvent]],
  ['with a change that happened twice', 'change', (event) => [event, event]],
  ['without an order', 'order', () => []],
  ['with an order of more units', 'order', (event) => [withMoreUnits(event)]],
  ['without a crossing', 'low', () => []],
  ['without a new name', 'pet', () => []],
])('a log %s is reported', (_, kind, falsify) => {
  const { violations } = simulate(fixture, 1, 1, (events) => {
    const last = events.findLastIndex((event) => event.kind === kind)
    return events.flatMap((event, index) => (index === last ? falsify(event) : [event]))
  })
  expect(violations).not.toEqual([])
})

function withMoreUnits(event: StockEvent): StockEvent {
  if (event.kind !== 'order') return event
  return { ...event, lines: event.lines.map((line) => ({ ...line, quantity: 99 })) }
}

test('one seed gives one run', () => {
  const [first, second] = [1, 1].map((seed) => simulate(fixture, seed, 3).log.join('\n'))
  expect(second).toBe(first ?? '')
})

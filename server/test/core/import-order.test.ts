import { describe, expect, test } from 'bun:test'
import type { FileOrder, Order } from '../../src/core/orders/order.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import { planOrders } from '../../src/core/transfer/import-plan.ts'
import { entryWith } from '../store/plain-rows.ts'
import { linesOf, orderWith, type Units } from '../support/orders.ts'

const BY = { keyId: 'importer', at: 7 }
const NOW = 99
const DEFAULT: readonly Units[] = [
  [1n, 2],
  [2n, 1],
]
const inFile = (fields: Partial<FileOrder> = {}, ...units: readonly Units[]): FileOrder => ({
  id: 5n,
  complete: false,
  lines: linesOf(units.length === 0 ? DEFAULT : units),
  ...fields,
})
const known = (fields: Partial<Order> = {}) => orderWith({ id: 5n, createdAt: 3, ...fields }, ...DEFAULT)

/** For two pets with ten units each, of which other orders reserve three. */
function imported(order: FileOrder, existing?: Order, quantity = 10) {
  const reserved = (index: number) =>
    3 + (existing?.state === 'open' ? (existing.lines[index]?.quantity ?? 0) : 0)
  const entries = [1n, 2n].map(
    (petId, index) => [petId, entryWith(quantity, { reserved: reserved(index) })] as const,
  )
  const command: Command = { type: 'import_order', order, ...BY }
  const {
    results,
    records,
    orders,
    entries: changed,
  } = decide([command], new Map(entries), {
    orders: {
      now: NOW,
      petIds: new Set([1n, 2n, 9n]),
      newIds: [],
      orders: new Map(existing === undefined ? [] : [[existing.id, existing]]),
    },
  })
  return {
    outcome: results[0],
    logged: records.map((row) =>
      row.kind === 'change' ? [row.before, row.after] : row.kind === 'order' && row.change,
    ),
    order: orders?.added[0] ?? orders?.changed[0] ?? existing,
    reserved: [1n, 2n].map((petId) => changed.get(petId)?.entry?.reserved),
  }
}

const NONE = [undefined, undefined] as const

describe('an order in a file', () => {
  test.each<
    [string, FileOrder, Order | undefined, unknown[], Partial<Order>, readonly (number | undefined)[]]
  >([
    [
      'a new open order reserves units',
      inFile(),
      undefined,
      ['created'],
      { state: 'open', createdAt: NOW },
      [5, 4],
    ],
    ['as many as available', inFile({}, [1n, 7]), undefined, ['created'], {}, [10, undefined]],
    [
      'a new complete order takes nothing',
      inFile({ complete: true }),
      undefined,
      ['completed'],
      { state: 'complete' },
      NONE,
    ],
    ['also for a removed pet', inFile({ complete: true }, [9n, 1]), undefined, ['completed'], {}, NONE],
    [
      'a new order keeps its times',
      inFile({ complete: true, createdAt: 1, expiresAt: 8, closedAt: 4 }),
      undefined,
      ['completed'],
      { createdAt: 1, expiresAt: 8, closedAt: 4, createdBy: 'importer', closedBy: 'importer' },
      NONE,
    ],
    [
      'a hold that has ended is expired',
      inFile({ expiresAt: 9 }),
      undefined,
      ['expired'],
      { state: 'expired', closedAt: 9 },
      NONE,
    ],
    [
      'a completed order is sold',
      inFile({ complete: true }),
      known(),
      [[10, 8], [10, 9], 'completed'],
      { state: 'complete' },
      [3, 3],
    ],
    ['another ship date', inFile({ shipDate: 8 }), known(), ['changed'], { shipDate: 8 }, [5, 4]],
    [
      'another ship date of a complete order',
      inFile({ complete: true, shipDate: 8 }),
      known({ state: 'complete' }),
      ['changed'],
      { shipDate: 8, state: 'complete' },
      NONE,
    ],
    [
      'other lines',
      inFile({}, [1n, 7]),
      known(),
      ['changed'],
      { lines: [{ petId: 1n, quantity: 7, returned: 0 }], createdAt: 3 },
      [10, 3],
    ],
    [
      'another end of the hold',
      inFile({ expiresAt: 800 }),
      known({ expiresAt: 500 }),
      ['changed'],
      { expiresAt: 800 },
      [5, 4],
    ],
    ['the same again', inFile(), known(), [], {}, NONE],
  ])('%s', (_, order, existing, logged, result, reserved) => {
    const outcome = imported(order, existing)
    expect(outcome.outcome?.type).toBe('done')
    expect<unknown[]>(outcome.logged).toEqual(logged)
    expect(outcome.order).toMatchObject(result)
    expect<unknown>(outcome.reserved).toEqual(reserved)
  })

  test('a detail that the file lacks is cleared', () => {
    const details = {
      shipDate: 400,
      customer: 'Anna',
      note: 'x',
      reference: 'R',
      metadata: '{}',
      expiresAt: 500,
    }
    expect(imported(inFile(), known(details)).order).toEqual(known())
  })

  test.each<[string, FileOrder, Order | undefined, string]>([
    [
      'one more than available',
      inFile({}, [1n, 8]),
      undefined,
      'petId 1 has 7 available units, so 8 cannot be ordered',
    ],
    ['an increase above the available units', inFile({}, [1n, 10]), known(), 'so 8 more cannot be ordered'],
    ['an unknown pet', inFile({}, [1n, 1], [9n, 1]), undefined, 'petId 9'],
    ['none at all', inFile({}, [1n, 1], [2n, 0]), undefined, 'at least 1, got 0'],
    ['reopening a complete order', inFile(), known({ state: 'complete' }), 'cannot be reopened'],
    [
      'other lines of a complete order',
      inFile({ complete: true }, [1n, 2]),
      known({ state: 'complete' }),
      'order 5 has 2 of pet 1, 1 of pet 2; a complete order must have the same lines, got 2 of pet 1',
    ],
    ['completing with other lines', inFile({ complete: true }, [1n, 2]), known(), 'must have the same lines'],
    ['a cancelled order', inFile(), known({ state: 'cancelled' }), 'order 5 is already cancelled'],
    [
      'an expired order',
      inFile({ complete: true }),
      known({ state: 'expired' }),
      'order 5 is already expired',
    ],
  ])('%s is rejected, and nothing changes', (_, order, existing, reason) => {
    const outcome = imported(order, existing)
    expect(outcome.outcome).toEqual({ type: 'invalid_order', reason: expect.stringContaining(reason) })
    expect(outcome).toMatchObject({ logged: [], reserved: NONE })
  })

  test('completing an order with too little stock is rejected', () => {
    const { outcome, logged } = imported(inFile({ complete: true }), known(), 1)
    const reason = 'the quantity of petId 1 is 1, so 2 cannot be taken away'
    expect(outcome).toEqual({ type: 'invalid_order', reason })
    expect(logged).toEqual([])
  })
})

test('the orders of a file are compared in steps, between which other work has its turn', async () => {
  const rows = Array.from({ length: 3_000 }, (_, index) => ({
    line: index + 2,
    value: { id: BigInt(index), petId: 1n, quantity: 1, complete: true },
  }))
  let steps = 0
  let turns = 0
  const planning = planOrders(rows, undefined, {
    canChangeStock: false,
    origin: BY,
    onStep: () => {
      setImmediate(() => turns++)
      steps++
    },
  })
  expect((await planning).total).toBe(3_000)
  expect([steps, turns]).toEqual([3, 3])
})

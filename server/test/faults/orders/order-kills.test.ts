import { expect, setDefaultTimeout, test } from 'bun:test'
import { killAmongOrders, killOneOfTwoAmongOrders, type OrderKillReport } from './order-kills.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_116

function expectProof({ load, proof, violations }: OrderKillReport): void {
  expect(violations).toEqual([])
  // Without these the test would prove little.
  const { orders, refused, completed, cancelled } = load.counts
  expect(Math.min(orders, refused, completed, cancelled)).toBeGreaterThan(0)
  expect(proof.events).toBeGreaterThan(10)
}

test('killed (kill -9) while callers order, complete and cancel: acknowledged changes are kept, and nothing is sold twice', async () => {
  expectProof(await killAmongOrders({ seed: SEED, isOver: (kills) => kills >= 4 }))
})

test('the same with one of two instances on PostgreSQL killed while the other continues', async () => {
  expectProof(await killOneOfTwoAmongOrders({ seed: SEED, isOver: (kills) => kills >= 2 }))
})

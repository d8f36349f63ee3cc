import { expect, test } from 'bun:test'
import { changeOf } from '../../src/staff-page/data/history/change-log.ts'
import {
  findReversal,
  loadAdjustment,
  newReversal,
  reverseAdjustment,
} from '../../src/staff-page/data/history/reverse.ts'
import { type Desk, useService } from '../support/desk.ts'
import { petsNumbered } from '../support/pets.ts'

const { inStock, openDesk } = useService({ pets: petsNumbered(4) })

const { signal } = new AbortController()

/** Receives 5 of each pet, and returns the changes as the history has them. */
async function receive(desk: Desk, reference: string, petIds: readonly bigint[]) {
  const { client } = desk.saving
  await client.inventory.receive(
    petIds.map((petId) => ({ petId, quantity: 5 })),
    { reference },
  )
  const { items } = await client.inventory.changes({ limit: 1 })
  const [newest] = items
  if (newest === undefined) throw new Error('the history has no change')
  const changes = await loadAdjustment(client, changeOf(newest), signal)
  return { changes, purpose: { reason: 'received', reference, at: Date.parse(newest.at) } as const }
}

test('a whole delivery is reversed by one adjustment that refers to it', async () => {
  const desk = openDesk().open(4)
  const { changes, purpose } = await receive(desk, 'PO-1', [1n, 2n])
  expect(changes.map(({ petId }) => petId).sort()).toEqual([1n, 2n])
  expect(await findReversal(desk.saving.client, changes, purpose, signal)).toBeUndefined()
  const result = await reverseAdjustment(desk.saving, newReversal(changes, purpose))
  expect(result).toMatchObject({ type: 'done', changes: [{ after: 10 }, { after: 10 }] })
  expect([await inStock(1n), await inStock(2n)]).toEqual([10, 10])
  const found = await findReversal(desk.saving.client, changes, purpose, signal)
  expect(found).toMatchObject({ reason: 'corrected', reference: 'reverses PO-1' })
})

test('what is no longer possible is refused as a whole, with the reason of each pet', async () => {
  const desk = openDesk().open(4)
  const { changes, purpose } = await receive(desk, 'PO-2', [1n, 2n, 3n, 4n])
  await desk.saving.client.inventory.set(1n, { quantity: 3 })
  await desk.saving.client.orders.create({ petId: 2n, quantity: 12 })
  await desk.saving.client.pets.remove(4n)
  const { type, ...more } = await reverseAdjustment(desk.saving, newReversal(changes, purpose))
  expect(type).toBe('refused')
  expect('pets' in more && [...more.pets].sort((a, b) => Number(a.petId - b.petId))).toEqual([
    { petId: 1n, why: 'Only 3 can be taken back, not 5.' },
    { petId: 2n, why: 'Only 3 can be taken back, not 5.' },
    { petId: 4n, why: 'It is not in the store any more.' },
  ])
  expect([await inStock(2n), await inStock(3n)]).toEqual([15, 15])
})

test('a reversal whose response was lost is never counted twice', async () => {
  const desk = openDesk().open(3)
  const { changes, purpose } = await receive(desk, 'PO-3', [3n])
  const before = await inStock(3n)
  desk.beforeAnswer = () => {
    throw new TypeError('connection lost')
  }
  const lost = await reverseAdjustment(desk.saving, newReversal(changes, purpose))
  if (lost.type !== 'unsure') throw new Error(`expected an unsure result, got ${lost.type}`)
  desk.beforeAnswer = () => {}
  expect(await reverseAdjustment(desk.saving, lost.repeat)).toMatchObject({ type: 'done' })
  expect(await inStock(3n)).toBe(before - 5)
})

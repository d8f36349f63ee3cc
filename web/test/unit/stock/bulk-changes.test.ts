import { expect, test } from 'bun:test'
import type { BulkAction } from '../../../src/staff-page/data/stock/bulk-changes.ts'
import { breakOff, type Desk, idsFrom, useService } from '../../support/desk.ts'
import { petsNumbered } from '../../support/pets.ts'

const PETS = 2_500

const { service, inStock, openDesk: open } = useService({ pets: petsNumbered(PETS) })
const openDesk = (key?: string) => open(key).open(PETS)
const stockOf = (petIds: readonly bigint[]) => Promise.all(petIds.map(inStock))
const setTo = async (petIds: readonly bigint[], quantity: number) => {
  for (const petId of petIds) await service().setQuantity(petId, JSON.stringify({ quantity }))
}
const sizes = ({ sent }: Desk) => sent.map(({ body }) => JSON.parse(body).changes.length)
const outcomeOf = (desk: Desk) => {
  const progress = desk.bulk.get()
  if (progress?.phase !== 'done') throw new Error('the change of several rows is not done')
  const { total, changed, unchanged, leftOut } = progress
  return { total, changed, unchanged, leftOut: leftOut.length }
}
const change = (kind: 'set' | 'add' | 'subtract', amount: number): BulkAction => ({
  kind,
  amount,
  purpose: { reason: 'counted', reference: 'shelf 4' },
})

test('2,500 pets are changed by three requests and back by three, and the history tells what for', async () => {
  const desk = openDesk()
  await desk.bulk.run(change('subtract', 3), idsFrom(1, PETS))
  expect(outcomeOf(desk)).toEqual({ total: PETS, changed: PETS, unchanged: 0, leftOut: 0 })
  expect(sizes(desk)).toEqual([1_000, 1_000, 500])
  expect(await stockOf([1n, 1_000n, 1_001n, 2_500n])).toEqual([7, 7, 7, 7])
  await desk.undo.undoLast(desk.saving)
  expect(desk.sent.slice(3).map(({ body }) => body)).toEqual(['{}', '{}', '{}'])
  expect(await stockOf([1n, 1_000n, 1_001n, 2_500n])).toEqual([10, 10, 10, 10])
  expect(desk.undo.get()).toEqual([])
  const { json } = await service().call('GET', '/inventory/2500/history')
  expect(json).toMatchObject([
    { before: 7, after: 10, reason: 'correction', reference: 'shelf 4' },
    { before: 10, after: 7, reason: 'counted', reference: 'shelf 4' },
    { before: 0 },
  ])
})

test('rows that others changed or removed are left alone, and all others are changed', async () => {
  const desk = openDesk()
  await setTo([3n, 600n, 1_100n], 33)
  for (const petId of [5n, 1_101n])
    await service().store.changeStock([{ type: 'remove_pet', petId, keyId: 'petstore', at: 0 }])
  desk.stock.remove(6n)
  desk.stock.apply({ petId: 8n, quantity: 50, status: 'available' }, false)
  await desk.bulk.run(change('set', 50), idsFrom(1, 1_200))
  expect(outcomeOf(desk)).toEqual({ total: 1_200, changed: 1_193, unchanged: 1, leftOut: 6 })
  expect(sizes(desk)).toEqual([1_000, 198])
  const reasons = new Map(desk.bulk.get()?.leftOut.map(({ petId, reason }) => [petId, reason]))
  expect([...reasons.keys()].sort((one, other) => Number(one - other))).toEqual([
    ...[3n, 5n, 6n, 600n, 1_100n, 1_101n],
  ])
  expect(reasons.get(600n)).toBe('Somebody else changed it meanwhile; it was left at that.')
  expect(reasons.get(1_101n)).toBe('This pet is not in the store any more.')
  expect(await stockOf([1n, 3n, 600n, 1_100n, 1_200n])).toEqual([50, 33, 33, 33, 50])
})

test('units that are not there are not taken, and the rest is', async () => {
  const desk = openDesk()
  const petIds = idsFrom(1_300, 1_304)
  await setTo([1_301n], 2)
  await desk.bulk.run(change('subtract', 4), petIds)
  expect(outcomeOf(desk)).toEqual({ total: 5, changed: 4, unchanged: 0, leftOut: 1 })
  expect(desk.bulk.get()?.leftOut[0]?.reason).toBe('There were not enough to take 4.')
  expect(await stockOf(petIds)).toEqual([6, 2, 6, 6, 6])
  // The service refuses all changes of a request that goes beyond the highest quantity.
  await desk.bulk.run(change('add', Number.MAX_SAFE_INTEGER - 5), [1_300n, 1_301n])
  expect(outcomeOf(desk)).toEqual({ total: 2, changed: 0, unchanged: 0, leftOut: 2 })
  expect(desk.bulk.get()?.leftOut[1]?.reason).toBe('It was not changed, because others were refused.')
  const sent = desk.sent.length
  await desk.bulk.run(change('add', 0), petIds)
  expect(outcomeOf(desk)).toEqual({ total: 5, changed: 0, unchanged: 5, leftOut: 0 })
  expect(desk.sent).toHaveLength(sent)
})

test('a lost response or a key that may not change the stock ends the change', async () => {
  const desk = openDesk()
  desk.beforeAnswer = breakOff
  await desk.bulk.run(change('add', 5), idsFrom(1_305, 2_500))
  expect(outcomeOf(desk)).toEqual({ total: 1_196, changed: 0, unchanged: 0, leftOut: 1_196 })
  const { leftOut = [] } = desk.bulk.get() ?? {}
  expect(leftOut[0]?.reason).toContain('It may have been changed')
  expect(leftOut.at(-1)?.reason).toBe('It was not changed, because an earlier request failed.')
  expect(await stockOf([1_500n, 2_400n])).toEqual([15, 10])

  const { secret } = await service().createKey('enterprise', { permissions: ['orders'] })
  const other = openDesk(secret)
  await other.bulk.run(change('set', 1), idsFrom(1, PETS))
  expect(other.sent).toHaveLength(1)
  expect(outcomeOf(other)).toEqual({ total: PETS, changed: 0, unchanged: 0, leftOut: PETS })
})

test('a change of several is undone as one, and stays to be undone where that fails', async () => {
  const desk = openDesk()
  await desk.bulk.run(change('subtract', 3), [1_210n, 1_211n])
  const { step } = desk.bulk.get() ?? {}
  expect(step?.changes).toHaveLength(2)
  desk.beforeAnswer = breakOff
  expect(await desk.undo.undoLast(desk.saving)).toMatchObject({ outcome: { type: 'failed' } })
  expect(desk.undo.get().at(-1)).toBe(step)
  desk.beforeAnswer = () => {}
  // The first attempt was made although its answer was lost, and is not made twice.
  expect(await desk.undo.undoLast(desk.saving)).toMatchObject({ outcome: { type: 'already_reversed' } })
  expect(desk.undo.get()).toEqual([])
  expect(await stockOf([1_210n, 1_211n])).toEqual([10, 10])
})

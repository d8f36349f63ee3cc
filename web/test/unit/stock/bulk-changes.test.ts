import { expect, test } from 'bun:test'
import {
  type BulkAction,
  type BulkProgress,
  retryable,
} from '../../../src/staff-page/data/stock/bulk-changes.ts'
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
const keys = ({ sent }: Desk) => sent.map(({ idempotencyKey }) => idempotencyKey)
const summaryOf = ({ leftOut, ...counts }: BulkProgress) => {
  const left: Record<string, number> = {}
  for (const { why } of leftOut) left[why] = (left[why] ?? 0) + 1
  return { total: counts.total, changed: counts.changed, unchanged: counts.unchanged, left }
}
const outcomeOf = (desk: Desk) => {
  const progress = desk.bulk.get()
  if (progress?.phase !== 'done') throw new Error('the change of several rows is not done')
  return summaryOf(progress)
}
const change = (kind: 'set' | 'add' | 'subtract', amount: number): BulkAction => ({
  kind,
  amount,
  purpose: { reason: 'counted', reference: 'shelf 4' },
})

test('2,500 pets are changed by three requests and back by three, and the history tells what for', async () => {
  const desk = openDesk()
  await desk.bulk.run(change('subtract', 3), idsFrom(1, PETS))
  expect(outcomeOf(desk)).toEqual({ total: PETS, changed: PETS, unchanged: 0, left: {} })
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

test('of rows some of which cannot be set, all others are, and each is counted once', async () => {
  const desk = openDesk()
  const petIds = idsFrom(1, 1_200)
  await setTo([3n, 600n, 1_100n], 33)
  await setTo([4n], 50)
  for (const petId of [5n, 1_101n])
    await service().store.changeStock([{ type: 'remove_pet', petId, keyId: 'petstore', at: 0 }])
  desk.stock.remove(6n)
  // The page has heard of one of these by now; 4 has what is asked for, and the page knows of 8 that it has.
  desk.beforeAnswer = () => {
    desk.stock.apply({ petId: 3n, quantity: 33, status: 'available' }, true)
    desk.stock.apply({ petId: 4n, quantity: 50, status: 'available' }, true)
  }
  desk.stock.apply({ petId: 8n, quantity: 50, status: 'available' }, false)
  await desk.bulk.run(change('set', 50), petIds)
  expect(outcomeOf(desk)).toEqual({
    total: 1_200,
    changed: 1_192,
    unchanged: 2,
    left: { conflict: 3, gone: 3 },
  })
  // 1,198 go out, in two requests, each of them once more without those that were refused.
  expect(sizes(desk)).toEqual([1_000, 996, 198, 196])
  expect(new Set(keys(desk)).size).toBe(4)
  const reasons = new Map(desk.bulk.get()?.leftOut.map(({ petId, reason }) => [petId, reason]))
  expect(reasons.get(3n)).toBe('Somebody else set it to 33 meanwhile; it was left at that.')
  expect(reasons.get(600n)).toBe('Somebody else changed it meanwhile; it was left at that.')
  expect(reasons.get(1_101n)).toBe('This pet is not in the store any more.')
  expect(await stockOf([1n, 3n, 4n, 600n, 1_100n, 1_200n])).toEqual([50, 33, 50, 33, 33, 50])

  // What is gone is not tried again; what others changed is, over what the page has heard of since.
  for (const petId of [600n, 1_100n]) {
    desk.stock.apply({ petId, quantity: 33, status: 'available' }, true)
  }
  await desk.bulk.retry()
  expect(outcomeOf(desk)).toEqual({ total: 6, changed: 3, unchanged: 0, left: { gone: 3 } })
  expect(sizes(desk).slice(4)).toEqual([3])
  expect(await stockOf([3n, 600n, 1_100n])).toEqual([50, 50, 50])
})

test('what is not there in such numbers is refused, and the rest is taken', async () => {
  const desk = openDesk()
  const petIds = idsFrom(1_300, 1_304)
  await setTo([1_301n], 2)
  await desk.bulk.run(change('subtract', 4), petIds)
  expect(outcomeOf(desk)).toEqual({ total: 5, changed: 4, unchanged: 0, left: { refused: 1 } })
  expect(desk.bulk.get()?.leftOut[0]?.reason).toBe('There were not enough to take 4.')
  expect(await stockOf(petIds)).toEqual([6, 2, 6, 6, 6])
  await desk.bulk.run(change('add', Number.MAX_SAFE_INTEGER - 6), [1_300n, 1_302n])
  await desk.bulk.run(change('add', 1), [1_300n, 1_301n])
  expect(outcomeOf(desk)).toEqual({ total: 2, changed: 1, unchanged: 0, left: { refused: 1 } })
  const sent = desk.sent.length
  await desk.bulk.run(change('add', 0), petIds)
  expect(outcomeOf(desk)).toEqual({ total: 5, changed: 0, unchanged: 5, left: {} })
  expect(desk.sent).toHaveLength(sent)
})

test('where others keep changing rows it gives up after a few requests, and tells so', async () => {
  const desk = openDesk()
  const petIds = idsFrom(1_400, 1_449)
  let next = 1_400n
  await setTo([next], 11)
  desk.beforeAnswer = () => setTo([++next], 11)
  await desk.bulk.run(change('set', 20), petIds)
  expect(desk.sent).toHaveLength(5)
  expect(outcomeOf(desk)).toEqual({ total: 50, changed: 0, unchanged: 0, left: { conflict: 5, failed: 45 } })
  desk.beforeAnswer = () => {}
  for (const petId of idsFrom(1_400, Number(next))) {
    desk.stock.apply({ petId, quantity: 11, status: 'available' }, true)
  }
  await desk.bulk.retry()
  expect(outcomeOf(desk)).toEqual({ total: 50, changed: 50, unchanged: 0, left: {} })
  expect(await stockOf([1_400n, 1_410n])).toEqual([20, 20])
})

test('what may have been added already is asked for again with its key, and not added again', async () => {
  const desk = openDesk()
  desk.beforeAnswer = () => {
    if (desk.sent.length === 1) breakOff()
  }
  await desk.bulk.run(change('add', 5), idsFrom(1_305, 2_500))
  expect(outcomeOf(desk)).toEqual({ total: 1_196, changed: 196, unchanged: 0, left: { failed: 1_000 } })
  expect(desk.bulk.get()?.leftOut[0]?.reason).toContain('It may have been changed')
  const before = await stockOf([1_500n, 2_400n])
  expect(before).toEqual([15, 15])
  await desk.bulk.retry()
  expect(outcomeOf(desk)).toEqual({ total: 1_000, changed: 1_000, unchanged: 0, left: {} })
  expect(desk.sent[2]).toEqual(desk.sent[0] ?? { idempotencyKey: null, body: '' })
  expect(await stockOf([1_500n, 2_400n])).toEqual(before)
  // It can be undone like any other.
  await desk.undo.undoLast(desk.saving)
  expect(await inStock(1_500n)).toBe(10)
})

test('what was let go of by a stop is settled when it is tried again', async () => {
  const desk = openDesk()
  desk.beforeAnswer = () => {
    desk.bulk.stop()
    return new Promise(() => {})
  }
  await desk.bulk.run(change('add', 3), idsFrom(1_305, 2_404))
  expect(outcomeOf(desk)).toEqual({ total: 1_100, changed: 0, unchanged: 0, left: { stopped: 1_100 } })
  const { leftOut = [] } = desk.bulk.get() ?? {}
  expect(leftOut.filter(({ unsettled }) => unsettled !== undefined)).toHaveLength(1_000)
  const before = await stockOf([1_350n, 2_350n])
  expect(before).toEqual([13, 15])
  desk.beforeAnswer = () => {}
  await desk.bulk.retry()
  expect(outcomeOf(desk)).toEqual({ total: 1_100, changed: 1_100, unchanged: 0, left: {} })
  expect(await stockOf([1_350n, 2_350n])).toEqual([13, 18])
})

test('what may have been added is not added again once the service has forgotten it', async () => {
  const desk = openDesk()
  desk.beforeAnswer = breakOff
  await desk.bulk.run(change('add', 1), [1_450n])
  const progress = desk.bulk.get()
  const [left] = progress?.leftOut ?? []
  if (progress === undefined || left?.unsettled === undefined) throw new Error('it is known what came of it')
  expect(retryable(progress)).toHaveLength(1)
  const aDayAgo = { ...left, unsettled: { ...left.unsettled, madeAt: Date.now() - 24 * 60 * 60 * 1_000 } }
  expect(retryable({ ...progress, leftOut: [aDayAgo] })).toEqual([])
  // To set it once more does no harm.
  expect(retryable({ ...progress, action: change('set', 1), leftOut: [aDayAgo] })).toHaveLength(1)
})

test('a change of many ends early where the key may not change the stock', async () => {
  const { secret } = await service().createKey('enterprise', { permissions: ['orders'] })
  const desk = openDesk(secret)
  await desk.bulk.run(change('set', 1), idsFrom(1, PETS))
  expect(desk.sent).toHaveLength(1)
  expect(outcomeOf(desk)).toEqual({
    total: PETS,
    changed: 0,
    unchanged: 0,
    left: { failed: 1_000, stopped: 1_500 },
  })
  const stopped = desk.bulk.get()?.leftOut.find(({ why }) => why === 'stopped')
  expect(stopped?.reason).toBe('It was not changed: this key may not change the stock.')
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

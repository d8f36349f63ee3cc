import { expect, test } from 'bun:test'
import { OwnChanges } from '../../../src/staff-page/data/stock/own-request.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import { fillStock } from '../../support/desk.ts'

const LAST = 9223372036854775807n

function listed(): StockModel {
  const model = new StockModel()
  fillStock(model, [
    { petId: 1n, quantity: 4, status: 'available', name: 'Biscuit', categoryId: 2n },
    { petId: 3n, quantity: 0, status: 'sold', name: 'Mittens', categoryId: 2n },
    { petId: LAST, quantity: 8, status: 'available' },
  ])
  return model
}

/** The snapshot after all pending changes. */
async function settled(model: StockModel) {
  const before = model.get()
  while (model.get() === before) await Bun.sleep(1)
  return model.get()
}

test('rows stay in the order of their ids, whatever comes and goes', async () => {
  const model = listed()
  model.apply({ petId: 2n, quantity: 5, status: 'pending' }, false)
  model.apply({ petId: -7n, quantity: 5, status: 'pending' }, false)
  model.apply({ petId: LAST, quantity: 9, status: 'available' }, false)
  model.remove(3n)
  model.remove(999n)
  const { rows } = await settled(model)
  expect(rows.map(({ petId, quantity }) => [petId, quantity])).toEqual([
    [-7n, 5],
    [1n, 4],
    [2n, 5],
    [LAST, 9],
  ])
})

test('a change without a name keeps the details, and one with a name replaces them', () => {
  const model = listed()
  const before = model.get().rows
  model.take([{ petId: 1n, quantity: 6, status: 'available' }])
  expect(model.find(1n)).toMatchObject({ name: 'Biscuit', quantity: 6, searchText: ' biscuit' })
  model.take([{ petId: 1n, quantity: 6, status: 'available', name: 'Zoë', categoryId: 3n, lowStockAt: 2 }])
  expect(model.find(1n)).toMatchObject({ name: 'Zoë', lowStockAt: 2, searchText: ' zoe' })
  model.take([{ petId: 1n, quantity: 6, status: 'available', name: 'Zoë', categoryId: 3n }])
  expect(model.find(1n)?.lowStockAt).toBeUndefined()
  // An older snapshot stays as it was.
  expect(before[0]).toMatchObject({ name: 'Biscuit', quantity: 4 })
})

test('a store that is loaded completely loses the pets that are gone, and a large one keeps what it has', () => {
  const model = listed()
  expect(model.get()).toMatchObject({ hasNames: true, isComplete: true, phase: 'ready' })
  fillStock(model, [{ petId: 1n, quantity: 6, status: 'available' }])
  expect(model.get().rows).toHaveLength(1)
  model.take([{ petId: 5n, quantity: 1, status: 'available' }])
  model.endLoading()
  expect(model.get()).toMatchObject({ hasNames: true, isComplete: false })
  expect(model.get().rows).toHaveLength(2)
})

test('reserved units come with searches and events, and stay if something else changes', () => {
  const model = new StockModel()
  model.take([{ petId: 1n, name: 'Biscuit', quantity: 6, status: 'available', reserved: 2 }])
  model.apply({ petId: 1n, quantity: 5, status: 'available' }, false)
  expect(model.find(1n)).toMatchObject({ quantity: 5, reserved: 2 })
  model.setReserved(1n, 3)
  model.setReserved(1n, undefined)
  model.setReserved(2n, 1)
  expect(model.find(1n)).toMatchObject({ name: 'Biscuit', quantity: 5, reserved: 3 })
  expect(model.find(2n)).toBeUndefined()
})

test('a change by others is marked, and a change of quantity leaves the structure as it is', async () => {
  const model = listed()
  const { structure } = model.get()
  model.apply({ petId: 1n, quantity: 5, status: 'available' }, true)
  model.apply({ petId: 3n, quantity: 5, status: 'sold' }, false)
  const snapshot = await settled(model)
  expect([...snapshot.recentlyChanged.keys()]).toEqual([1n])
  expect(snapshot.structure).toBe(structure)
  model.apply({ petId: 3n, quantity: 5, status: 'available' }, false)
  expect((await settled(model)).structure).toBeGreaterThan(structure)
})

test('the event of an own change is recognised once, and another event is not', () => {
  const own = new OwnChanges()
  own.expect(1n, 5)
  const dropped = own.expect(2n, 5)
  own.forget(dropped)
  expect(own.recognise(1n, 4)).toBe(false)
  expect(own.recognise(1n, 5)).toBe(true)
  expect(own.recognise(1n, 5)).toBe(false)
  expect(own.recognise(2n, 5)).toBe(false)
})

test('after a reload, changes that were answered are no longer expected', () => {
  const own = new OwnChanges()
  own.expect(1n, 5).isAnswered = true
  own.expect(1n, 6)
  own.forgetAnswered()
  expect(own.recognise(1n, 5)).toBe(false)
  expect(own.recognise(1n, 6)).toBe(true)
})

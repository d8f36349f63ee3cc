import { expect, test } from 'bun:test'
import { OwnChanges } from '../../../src/staff-page/data/stock/own-changes.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'

const LAST = 9223372036854775807n

function listed(): StockModel {
  const model = new StockModel()
  model.replaceAll([
    { petId: 1n, quantity: 4, status: 'available' },
    { petId: 3n, quantity: 0, status: 'sold' },
    { petId: LAST, quantity: 8, status: 'available' },
  ])
  return model
}

/** What the model shows once it has told of everything. */
async function settled(model: StockModel) {
  const { version } = model.get()
  while (model.get().version === version) await Bun.sleep(1)
  return model.get()
}

test('rows stay in the order of their ids, whatever comes and goes', async () => {
  const model = listed()
  expect(model.apply({ petId: 2n, quantity: 5, status: 'pending' }, false)).toBe('new')
  expect(model.apply({ petId: -7n, quantity: 5, status: 'pending' }, false)).toBe('new')
  expect(model.apply({ petId: LAST, quantity: 9, status: 'available' }, false)).toBe('known')
  model.remove(3n)
  model.remove(999n)
  const { rows } = await settled(model)
  expect(rows.map(({ petId, quantity }) => [petId, quantity])).toEqual([
    [-7n, 5],
    [1n, 4],
    [2n, 5],
    [LAST, 9],
  ])
  model.clear()
})

test('names come later, stay over a new list, and leave pets without stock alone', async () => {
  const model = listed()
  const before = model.get().rows
  model.addNames(
    [
      { petId: 1n, name: 'Biscuit', categoryId: 2n },
      { petId: 2n, name: 'No stock', categoryId: 2n },
    ],
    true,
  )
  expect(model.get()).toMatchObject({ hasNames: true, phase: 'ready' })
  model.replaceAll([
    { petId: 1n, quantity: 6, status: 'available' },
    { petId: 5n, quantity: 1, status: 'available' },
  ])
  const { rows } = model.get()
  expect(rows.map(({ name, quantity }) => [name, quantity])).toEqual([
    ['Biscuit', 6],
    [undefined, 1],
  ])
  expect(rows[0]?.searchText).toBe('biscuit\n1')
  // Whoever holds an older snapshot sees it as it was.
  expect(before[0]).toMatchObject({ name: undefined, quantity: 4 })
})

test('a change by others is marked, and one of a quantity alone leaves the structure as it is', async () => {
  const model = listed()
  const { structure } = model.get()
  model.apply({ petId: 1n, quantity: 5, status: 'available' }, true)
  model.apply({ petId: 3n, quantity: 5, status: 'sold' }, false)
  const snapshot = await settled(model)
  expect([...snapshot.recentlyChanged.keys()]).toEqual([1n])
  expect(snapshot.structure).toBe(structure)
  model.apply({ petId: 3n, quantity: 5, status: 'available' }, false)
  expect((await settled(model)).structure).toBeGreaterThan(structure)
  model.clear()
  expect(model.get().rows).toEqual([])
})

test('an event of the own change is recognised once, and another one is not', () => {
  const own = new OwnChanges()
  own.expect(1n, 5)
  const dropped = own.expect(2n, 5)
  own.forget(dropped)
  expect(own.recognise(1n, 4)).toBe(false)
  expect(own.recognise(1n, 5)).toBe(true)
  expect(own.recognise(1n, 5)).toBe(false)
  expect(own.recognise(2n, 5)).toBe(false)
})

test('a new list ends the wait for what was answered before it, but not for what is under way', () => {
  const own = new OwnChanges()
  own.expect(1n, 5).isAnswered = true
  own.expect(1n, 6)
  own.forgetAnswered()
  expect(own.recognise(1n, 5)).toBe(false)
  expect(own.recognise(1n, 6)).toBe(true)
})

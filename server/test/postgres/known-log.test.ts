import { expect, test } from 'bun:test'
import { KnownLog } from '../../src/store/postgres/known-log.ts'
import type { LogEnd, LogRow } from '../../src/store/postgres/log.ts'
import { change } from '../store/plain-rows.ts'

const at = (position: number, database = 'one'): LogEnd => ({ position, database })
const row = (pet_id: bigint, quantity: bigint): LogRow => ({ pet_id, quantity, status: 'available' })

/** What is known at place 10: pets 1 and 2, with a quantity of 0. */
function knownLog(): KnownLog {
  const known = new KnownLog()
  learnAll(known, at(10), [0, 0])?.finish()
  return known
}

function learnAll(known: KnownLog, end: LogEnd, quantities: readonly number[]) {
  const learning = known.startLearning(end)
  learning?.add(
    quantities.map((quantity, index) => ({ petId: BigInt(index + 1), quantity, status: 'available' })),
  )
  return learning
}

/** The quantities of pets 1 and 2, without a trace. */
function quantitiesIn(known: KnownLog): (number | undefined)[] {
  const batch = known.workOut([change(1n, 999), change(2n, 999)], at(0))
  known.undo(batch)
  return [1n, 2n].map((petId) => batch.made.find((made) => made.change.petId === petId)?.before)
}

test('what is undone was never there, also where a pet was changed twice', () => {
  const known = knownLog()
  const batch = known.workOut([change(1n, 1), change(1n, 2), change(2n, 3)], at(10))
  expect(batch.made.map(({ before }) => before)).toEqual([0, 1, 0])
  known.undo(batch)
  expect(quantitiesIn(known)).toEqual([0, 0])
  expect(known.end).toEqual(at(10))
})

test('what is accepted moves the end by the rows that it left', () => {
  const known = knownLog()
  known.accept(known.workOut([change(1n, 1), change(2n, 0), change(3n, 1)], at(10)))
  expect(known.end).toEqual(at(11))
  expect(quantitiesIn(known)).toEqual([1, 0])
})

test('nothing is learned while a batch is undecided', () => {
  const known = knownLog()
  const learning = learnAll(known, at(12), [5, 5])
  const batch = known.workOut([change(1n, 1)], at(10))
  learning?.finish()
  known.learn(at(10), [row(2n, 7n)], at(11))
  known.accept(batch)
  expect(known.end).toEqual(at(11))
  expect(quantitiesIn(known)).toEqual([1, 0])
})

test('a load that was overtaken is not learned, nor is one begun that brings nothing new', () => {
  const known = knownLog()
  const learning = learnAll(known, at(11), [5, 5])
  known.learn(at(10), [row(1n, 7n), row(1n, 8n)], at(12))
  learning?.finish()
  expect(known.end).toEqual(at(12))
  expect(quantitiesIn(known)).toEqual([8, 0])
  expect(known.startLearning(at(12))).toBeUndefined()
})

test('rows that begin behind what is known, or come from another database, are not learned', () => {
  const known = knownLog()
  known.learn(at(11), [row(1n, 7n)], at(12))
  known.learn(at(10, 'other'), [row(1n, 7n)], at(12, 'other'))
  expect(known.end).toEqual(at(10))
  expect(quantitiesIn(known)).toEqual([0, 0])
  learnAll(known, at(3, 'other'), [4, 4])?.finish()
  expect(known.end).toEqual(at(3, 'other'))
  expect(quantitiesIn(known)).toEqual([4, 4])
})

test('a pet that was removed is not there until it comes back', () => {
  const known = knownLog()
  known.learn(at(10), [{ pet_id: 1n, quantity: null, status: null }], at(11))
  expect(known.workOut([change(1n, 1)], at(11)).outcomes).toEqual(['unknown_pet'])
  known.undo(known.workOut([], at(11)))
  known.learn(at(11), [{ pet_id: 1n, quantity: 4n, status: 'sold' }], at(12))
  expect(known.workOut([change(1n, 4)], at(12)).outcomes).toEqual([
    { petId: 1n, quantity: 4, status: 'sold' },
  ])
})

test('a batch with something that is no quantity changes nothing', () => {
  const known = knownLog()
  expect(() => known.workOut([change(1n, 1), change(2n, -1)], at(10))).toThrow('is no quantity')
  expect(quantitiesIn(known)).toEqual([0, 0])
})

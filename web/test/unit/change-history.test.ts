import { expect, test } from 'bun:test'
import type { Page } from '@petstore/client'
import { ChangeHistory } from '../../src/staff-page/data/history/change-history.ts'
import {
  type Change,
  EMPTY_LOG,
  withEvents,
  withNewest,
  withOlder,
} from '../../src/staff-page/data/history/change-log.ts'
import { LiveChanges } from '../../src/staff-page/data/history/live-changes.ts'

/** The change to this quantity, made at this time by a key whose name an event does not tell. */
function change(after: number, keyName: string | undefined = 'Front desk', petId = 1n): Change {
  return { petId, before: after - 1, after, at: after * 1_000, keyId: 'key_1', keyName }
}

const told = (after: number): Change => ({ ...change(after), keyName: undefined })
const page = (quantities: readonly number[], next?: string): Page<Change> => ({
  items: quantities.map((after) => change(after)),
  next,
})
const quantities = ({ changes }: { readonly changes: readonly Change[] }) => changes.map(({ after }) => after)

/** Resolves with the first snapshot that is as wanted. */
function until(
  history: ChangeHistory,
  isAsWanted: (quantities: readonly number[]) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (isAsWanted(quantities(history.get()))) resolve()
    }
    history.subscribe(look)
    look()
  })
}

test('an event goes to the head of the log once, with the name that its key is known by', () => {
  const listed = withNewest(EMPTY_LOG, page([3, 2, 1]))
  const log = withEvents(listed, [told(3), told(4), told(5)])
  expect(quantities(log)).toEqual([5, 4, 3, 2, 1])
  expect(log.changes[0]?.keyName).toBe('Front desk')
  expect(withEvents(log, [told(5)])).toBe(log)
})

test('a new list keeps what was told while it was on its way, and the older pages behind it', () => {
  const older = withOlder(withNewest(EMPTY_LOG, page([4, 3], 'c3')), page([2, 1]))
  const log = withNewest(withEvents(older, [told(5), told(6)]), page([5, 4], 'c4'))
  expect(quantities(log)).toEqual([6, 5, 4, 3, 2, 1])
  expect(log.next).toBeUndefined()
  expect(quantities(withNewest({ changes: [told(1)], next: undefined }, page([])))).toEqual([1])
})

test('a new list that does not reach down to what is known leaves that out, so that nothing is missing between', () => {
  const log = withNewest(withNewest(EMPTY_LOG, page([3, 2, 1])), page([9, 8], 'c8'))
  expect(quantities(log)).toEqual([9, 8])
  expect(log.next).toBe('c8')
})

test('a history lists once, follows the events of its pet, and looks up the names of new keys together', async () => {
  const live = new LiveChanges()
  const answers = [page([2, 1]), page([5, 4, 3, 2, 1])]
  const asked: (string | undefined)[] = []
  const history = new ChangeHistory({
    live,
    petId: 1n,
    load: async (cursor) => {
      asked.push(cursor)
      return answers.shift() ?? page([])
    },
  })
  const stop = history.start()
  await until(history, (shown) => shown.length === 2)
  live.tell({ type: 'change', change: told(3) })
  live.tell({ type: 'change', change: { ...told(4), petId: 2n } })
  await until(history, (shown) => shown.length === 3)
  expect(asked).toHaveLength(1)
  live.tell({ type: 'change', change: { ...told(4), keyId: 'key_2' } })
  live.tell({ type: 'change', change: { ...told(5), keyId: 'key_2' } })
  await until(history, (shown) => shown.join() === '5,4,3,2,1')
  while (asked.length === 1) await Bun.sleep(5)
  stop()
  expect(asked).toEqual([undefined, undefined])
})

test('a history that grows without end begins anew, and goes on from there', async () => {
  const live = new LiveChanges()
  let newest = 20
  const load = async () =>
    page(
      Array.from({ length: 20 }, (_, index) => newest - index),
      'further',
    )
  const history = new ChangeHistory({ live, load })
  const stop = history.start()
  await until(history, (shown) => shown.length === 20)
  while (newest < 2_500) live.tell({ type: 'change', change: told(++newest) })
  await until(history, (shown) => shown[0] === 2_500 && shown.length === 20)
  expect(history.get().next).toBe('further')
  stop()
})

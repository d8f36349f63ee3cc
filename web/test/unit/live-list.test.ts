import { afterEach, expect, test } from 'bun:test'
import { type InventoryEvent, type Page, PetstoreError, type SearchRow } from '@petstore/client'
import { petListSource } from '../../src/staff-page/data/catalog/pet-list.ts'
import { changeListSource } from '../../src/staff-page/data/history/change-history.ts'
import type { Change } from '../../src/staff-page/data/history/change-log.ts'
import { LiveChanges } from '../../src/staff-page/data/history/live-changes.ts'
import { LiveList } from '../../src/staff-page/data/live-list.ts'
import { Observable } from '../../src/staff-page/data/observable.ts'

/** The change to this quantity, made at this time. */
function change(after: number): Change {
  return { petId: 1n, before: after - 1, after, at: after * 1_000, keyId: 'key_1', keyName: 'Front desk' }
}

/** An event has no name of the key. */
const event = (after: number): Change => ({ ...change(after), keyName: undefined })
const page = (quantities: readonly number[], next?: string): Page<Change> => ({
  items: quantities.map(change),
  next,
})

const open: { stop(): void }[] = []
afterEach(() => {
  for (const list of open.splice(0)) list.stop()
})

/** A history whose pages arrive when the test says so. */
function openHistory(petId?: bigint, live = new LiveChanges()) {
  const requests: {
    cursor: string | undefined
    answer: (page: Page<Change>) => void
    fail: (error?: Error) => void
  }[] = []
  const source = changeListSource({
    live,
    ...(petId === undefined ? {} : { petId }),
    load: (cursor) =>
      new Promise((resolve, reject) => {
        requests.push({
          cursor,
          answer: resolve,
          fail: (error = new Error('no connection')) => reject(error),
        })
      }),
  })
  const list = new LiveList(source)
  open.push(list)
  list.follow()
  const report = (...changes: readonly Change[]) => {
    for (const reported of changes) live.publish({ type: 'change', change: reported })
  }
  const shown = () => list.get().rows.map(({ after }) => after)
  const until = async (holds: () => boolean) => {
    while (!holds()) await Bun.sleep(1)
  }
  const nextRequest = async () => {
    await until(() => requests.length > 0)
    const request = requests.shift()
    if (request === undefined) throw new Error('there is no request')
    return request
  }
  const answer = async (...args: Parameters<typeof page>) => (await nextRequest()).answer(page(...args))
  const load = async (...args: Parameters<typeof page>) => {
    await answer(...args)
    await until(() => list.get().phase === 'ready')
  }
  return { list, live, requests, report, shown, until, nextRequest, answer, load }
}

test('a list is requested once its events have started, so that no change falls in between', async () => {
  const stream = Promise.withResolvers<void>()
  const { requests, shown, load } = openHistory(undefined, new LiveChanges(stream.promise))
  await Bun.sleep(1)
  expect(requests).toEqual([])
  stream.resolve()
  await load([1])
  expect(shown()).toEqual([1])
})

test('an event comes first, once, with the known name of its key', async () => {
  const { list, requests, report, shown, until, load } = openHistory()
  await load([3, 2, 1])
  report(event(3), event(4), event(5), event(5))
  await until(() => shown().length > 3)
  expect(shown()).toEqual([5, 4, 3, 2, 1])
  expect(list.get().rows[0]?.keyName).toBe('Front desk')
  expect(requests).toHaveLength(0)
})

test('an event that arrives while a page loads is in the list, whether the page has it or not', async () => {
  const { list, report, shown, until, nextRequest } = openHistory()
  const first = await nextRequest()
  report(event(3), event(4))
  first.answer(page([3, 2, 1]))
  await until(() => list.get().phase === 'ready')
  expect(shown()).toEqual([4, 3, 2, 1])
})

test('a reload keeps the older pages, and events that it does not have', async () => {
  const { list, live, report, shown, until, nextRequest, answer, load } = openHistory()
  await load([4, 3], 'c3')
  void list.loadMore()
  await answer([2, 1])
  await until(() => shown().length === 4)
  live.publish({ type: 'missed' })
  const reload = await nextRequest()
  report(event(6))
  reload.answer(page([5, 4], 'c4'))
  await until(() => !list.get().isLoading)
  expect(shown()).toEqual([6, 5, 4, 3, 2, 1])
  expect(list.get().next).toBeUndefined()
})

test('a reload that does not reach down to the older pages drops them, so that there is no gap', async () => {
  const { list, shown, until, answer, load } = openHistory()
  await load([3, 2, 1])
  void list.reload()
  await answer([9, 8], 'c8')
  await until(() => shown()[0] === 9)
  expect(shown()).toEqual([9, 8])
  expect(list.get().next).toBe('c8')
})

test('the names of new keys are looked up together, and events of other pets are ignored', async () => {
  const { list, requests, report, shown, until, answer, load } = openHistory(1n)
  await load([2, 1])
  report({ ...event(3), petId: 2n })
  report({ ...event(4), keyId: 'key_2' }, { ...event(5), keyId: 'key_2' })
  await until(() => shown().join() === '5,4,2,1')
  await answer([5, 4, 2, 1])
  await until(() => !list.get().isLoading)
  expect(requests).toHaveLength(0)
})

test('a history that grows without end starts again', async () => {
  const { list, report, shown, until, answer, load } = openHistory()
  await load([3, 2, 1], 'c1')
  for (let after = 4; after <= 2_500; after++) report(event(after))
  await answer(
    Array.from({ length: 20 }, (_, index) => 2_500 - index),
    'further',
  )
  await until(() => shown().length === 20)
  expect(list.get().next).toBe('further')
})

test('the rows stay if a request fails, and a retry repeats it', async () => {
  const { list, shown, until, nextRequest, load } = openHistory()
  ;(await nextRequest()).fail()
  await until(() => list.get().phase === 'failed')
  void list.reload()
  await load([2, 1], 'c1')
  void list.loadMore()
  ;(await nextRequest()).fail()
  await until(() => list.get().failure === 'no connection')
  expect(shown()).toEqual([2, 1])
  void list.loadMore()
  expect((await nextRequest()).cursor).toBe('c1')
})

test('a list that failed in an outage is loaded again by itself', async () => {
  const { list, shown, until, nextRequest, load } = openHistory()
  ;(await nextRequest()).fail(new PetstoreError('service_unavailable', 'no connection', { status: 503 }))
  await until(() => list.get().phase === 'failed')
  await load([1])
  expect([list.get().failure, shown()]).toEqual([undefined, [1]])
}, 60_000)

const PET: SearchRow = {
  petId: 1n,
  name: 'Biscuit',
  categoryId: 1n,
  status: 'available',
  quantity: 4,
  reserved: 0,
  available: 4,
}

test('an event that arrives while the list of pets loads is not lost', async () => {
  const events = new LiveChanges<InventoryEvent>()
  const loads: ((page: Page<SearchRow>) => void)[] = []
  const list = new LiveList(
    petListSource({
      events,
      categories: new Observable({ byId: new Map(), isKnown: true }),
      mayAdd: (added) => added.type === 'pet',
      load: () => new Promise((resolve) => loads.push(resolve)),
    }),
  )
  list.follow()
  while (loads.length === 0) await Bun.sleep(1)
  const by = { id: '1', at: '2026-11-16T10:00:00Z', keyId: 'key_a' }
  const tell = (reported: InventoryEvent) => events.publish({ type: 'change', change: reported })
  tell({ type: 'change', ...by, occurredAt: by.at, petId: 1n, before: 4, after: 9, status: 'available' })
  tell({ type: 'removed', ...by, petId: 2n })
  tell({
    type: 'pet',
    ...by,
    change: 'created',
    petId: 3n,
    name: 'Rex',
    categoryId: 1n,
    status: 'sold',
    quantity: 1,
  })
  loads[0]?.({ items: [PET, { ...PET, petId: 2n }], next: undefined })
  while (list.get().phase !== 'ready') await Bun.sleep(1)
  expect(list.get().rows).toMatchObject([{ petId: 1n, quantity: 9 }])
  // Only the service knows whether the new pet is in this search, so the list is loaded again.
  while (loads.length === 1) await Bun.sleep(1)
  loads[1]?.({
    items: [
      { ...PET, quantity: 9 },
      { ...PET, petId: 3n },
    ],
    next: undefined,
  })
  while (list.get().rows.length === 1) await Bun.sleep(1)
  expect(list.get().rows.map(({ petId }) => petId)).toEqual([1n, 3n])
})

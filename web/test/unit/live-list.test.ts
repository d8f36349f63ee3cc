import { afterEach, expect, test } from 'bun:test'
import { type Page, PetstoreError } from '@petstore/client'
import { LiveChanges } from '../../src/staff-page/data/history/live-changes.ts'
import { LiveList } from '../../src/staff-page/data/live-list.ts'

interface Change {
  readonly petId: bigint
  readonly after: number
}

/** The change to this quantity. */
function change(after: number): Change {
  return { petId: 1n, after }
}

const page = (quantities: readonly number[], next?: string): Page<Change> => ({
  items: quantities.map(change),
  next,
})

const open: { stop(): void }[] = []
afterEach(() => {
  for (const list of open.splice(0)) list.stop()
})

/** A history whose pages arrive when the test says so. */
function openHistory(petId?: bigint, live = new LiveChanges<Change>()) {
  const requests: {
    cursor: string | undefined
    answer: (page: Page<Change>) => void
    fail: (error?: Error) => void
  }[] = []
  const list = new LiveList<Change, Change>({
    keyOf: ({ petId, after }) => `${petId} ${after}`,
    isLog: true,
    events: live,
    concerns: (reported) => petId === undefined || reported.petId === petId,
    load: (cursor) =>
      new Promise((resolve, reject) => {
        requests.push({
          cursor,
          answer: resolve,
          fail: (error = new Error('no connection')) => reject(error),
        })
      }),
  })
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
  const { requests, shown, load } = openHistory(undefined, new LiveChanges<Change>(stream.promise))
  await Bun.sleep(1)
  expect(requests).toEqual([])
  stream.resolve()
  await load([1])
  expect(shown()).toEqual([1])
})

test('events that come together cause one reload, and those of other pets none', async () => {
  const { list, requests, report, shown, until, answer, load } = openHistory(1n)
  await load([2, 1])
  report({ ...change(3), petId: 2n })
  await Bun.sleep(400)
  expect([requests.length, list.get().isLoading]).toEqual([0, false])
  report(change(3), change(4))
  await answer([4, 3, 2, 1])
  await until(() => shown().join() === '4,3,2,1')
  expect(requests).toHaveLength(0)
})

test('an event that arrives while a page loads causes another load, because the page may be older', async () => {
  const { report, shown, until, nextRequest, answer } = openHistory()
  const first = await nextRequest()
  report(change(4))
  first.answer(page([3, 2, 1]))
  await answer([4, 3, 2, 1])
  await until(() => shown().join() === '4,3,2,1')
})

test('a reload keeps the older pages', async () => {
  const { list, live, shown, until, answer, load } = openHistory()
  await load([4, 3], 'c3')
  void list.loadMore()
  await answer([2, 1])
  await until(() => shown().length === 4)
  live.publish({ type: 'missed' })
  await answer([5, 4], 'c4')
  await until(() => !list.get().isLoading)
  expect(shown()).toEqual([5, 4, 3, 2, 1])
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

test('a list with several pages is loaded again as far as it is shown, and a row that the user changes meanwhile stays', async () => {
  const pages = [[1, 2], [3, 4], [5]]
  let requests = 0
  const list = new LiveList<number>({
    keyOf: String,
    load: async (cursor) => {
      requests++
      const index = Number(cursor ?? 0)
      return { items: pages[index] ?? [], next: index + 1 < pages.length ? String(index + 1) : undefined }
    },
  })
  await list.reload()
  await list.loadMore()
  expect(list.get()).toMatchObject({ rows: [1, 2, 3, 4], next: '2' })
  requests = 0
  const reloading = list.reload()
  await Promise.resolve()
  list.put(9)
  expect(list.get().rows).toEqual([9, 1, 2, 3, 4])
  pages[0] = [9, 1, 2]
  await reloading
  expect(list.get()).toMatchObject({ rows: [9, 1, 2, 3, 4], next: '2' })
  list.remove('9')
  expect(list.get().rows).toEqual([1, 2, 3, 4])
  expect(requests).toBeGreaterThanOrEqual(2)
})

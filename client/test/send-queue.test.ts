import { expect, test } from 'bun:test'
import { SendQueue } from '../src/send-queue.ts'

/** A queue for two requests at a time, on a clock that the test moves. */
function testQueue() {
  let now = 0
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const sleep = (ms: number) =>
    new Promise<void>((wake) => {
      sleepers.push({ at: now + ms, wake })
    })
  const queue = new SendQueue({ clock: () => now, sleep, random: Math.random }, 2)
  const entered: string[] = []
  return {
    queue,
    entered,
    enter: async (name: string, deadline = Number.POSITIVE_INFINITY, signal?: AbortSignal) => {
      await queue.enter({ deadline, signal, tooLate: (opensAt) => new Error(`opens at ${opensAt}`) })
      entered.push(name)
    },
    moveTo: async (time: number) => {
      now = time
      const due = sleepers.filter(({ at }) => at <= now)
      sleepers = sleepers.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
      await Bun.sleep(0)
    },
  }
}

test('calls wait for a place, in their order', async () => {
  const { queue, entered, enter } = testQueue()
  for (const name of ['one', 'two', 'three', 'four']) void enter(name)
  await Bun.sleep(0)
  expect(entered).toEqual(['one', 'two'])
  queue.leave()
  await Bun.sleep(0)
  expect(entered).toEqual(['one', 'two', 'three'])
  queue.leave()
  await Bun.sleep(0)
  expect(entered).toEqual(['one', 'two', 'three', 'four'])
})

test('with a small limit, fewer requests are in flight, so that few can be refused', async () => {
  const { queue, entered, enter } = testQueue()
  queue.obey(1)
  for (const name of ['one', 'two']) void enter(name)
  await Bun.sleep(0)
  expect(entered).toEqual(['one'])
})

test('a closed queue refuses calls that cannot wait, and sends the others when it opens', async () => {
  const { queue, entered, enter, moveTo } = testQueue()
  await enter('one')
  await enter('two')
  const impatient = enter('impatient', 1_000)
  void enter('patient', 5_000)
  await Bun.sleep(0)
  queue.close(2_000)
  queue.leave()
  queue.leave()
  await expect(impatient).rejects.toThrow('opens at 2000')
  void enter('new')
  await moveTo(1_999)
  expect(entered).toEqual(['one', 'two'])
  await moveTo(2_000)
  expect(entered).toEqual(['one', 'two', 'patient', 'new'])
})

test('an aborted call takes no place, even if it was about to get one', async () => {
  const { queue, entered, enter } = testQueue()
  await enter('one')
  await enter('two')
  const stop = new AbortController()
  const aborted = enter('aborted', Number.POSITIVE_INFINITY, stop.signal)
  void enter('behind')
  await Bun.sleep(0)
  queue.leave()
  stop.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  await Bun.sleep(0)
  expect(entered).toEqual(['one', 'two', 'behind'])
})

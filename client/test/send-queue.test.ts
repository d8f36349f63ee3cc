import { expect, test } from 'bun:test'
import { SendQueue, type Slot, type WindowState } from '../src/send-queue.ts'

/** A queue, and the slots that it has given out, in the order of the calls. */
function queueWith(options: { pace: boolean; concurrency?: number }) {
  let now = 0
  let wake = () => {}
  const sleep = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  const time = { clock: () => now, sleep, random: Math.random }
  const queue = new SendQueue({ time, concurrency: 16, ...options })
  const slots: Slot[] = []
  let tickets = 0
  const turn = () => ({
    ticket: tickets++,
    deadline: Number.POSITIVE_INFINITY,
    tooLate: () => new Error('late'),
  })
  return {
    queue,
    /** Enters `count` requests, and returns the slots granted so far. */
    ask: async (count = 0): Promise<readonly Slot[]> => {
      const enter = async () => slots.push(await queue.enter(turn()))
      for (let asked = 0; asked < count; asked++) void enter()
      await Bun.sleep(0)
      return slots
    },
    moveTo: (time: number) => {
      now = time
      wake()
    },
  }
}

function windowState(remaining: number, resetAt = 60_000): WindowState {
  return { limit: 60, remaining, resetAt }
}

test('paced, the first request of each window is sent alone', async () => {
  const { ask, moveTo } = queueWith({ pace: true })
  expect(await ask(20)).toHaveLength(1)
  ;(await ask())[0]?.answered(windowState(3))
  expect(await ask()).toHaveLength(4)
  for (const [index, slot] of (await ask()).slice(1).entries()) slot.answered(windowState(2 - index))
  expect(await ask()).toHaveLength(4)
  moveTo(59_999)
  expect(await ask()).toHaveLength(4)
  moveTo(60_000)
  expect(await ask()).toHaveLength(5)
})

test('paced, of responses that overtake each other, the one with fewer remaining requests counts', async () => {
  const { ask } = queueWith({ pace: true })
  await ask(30)
  ;(await ask())[0]?.answered(windowState(4))
  const [, one, two, three, four] = await ask()
  four?.answered(windowState(0))
  three?.answered(windowState(1))
  two?.answered(windowState(2))
  one?.answered(windowState(3))
  expect(await ask()).toHaveLength(5)
})

test('paced, a newer response counts even if more requests remain, as after a change of plan', async () => {
  const { ask } = queueWith({ pace: true })
  await ask(10)
  ;(await ask())[0]?.answered(windowState(1, 86_400_000))
  ;(await ask())[1]?.answered(windowState(50, 60_000))
  expect(await ask()).toHaveLength(10)
})

test('paced, a request without a response counts as used', async () => {
  const { ask } = queueWith({ pace: true })
  await ask(10)
  ;(await ask())[0]?.answered(windowState(2))
  expect(await ask()).toHaveLength(3)
  for (const slot of (await ask()).slice(1)) slot.failed()
  expect(await ask()).toHaveLength(3)
})

test('with a small limit, fewer requests are in flight, so that few can be refused', async () => {
  const { ask } = queueWith({ pace: false })
  await ask(1)
  ;(await ask())[0]?.answered({ limit: 6, remaining: 5, resetAt: 60_000 })
  expect(await ask(10)).toHaveLength(4)
})

test('a retry keeps its place before later calls', async () => {
  const { queue } = queueWith({ pace: false, concurrency: 1 })
  const order: string[] = []
  const enter = async (ticket: number, name: string) => {
    const turn = { ticket, deadline: Number.POSITIVE_INFINITY, tooLate: () => new Error('late') }
    const slot = await queue.enter(turn)
    order.push(name)
    return slot
  }
  const first = await enter(0, 'first')
  const later = enter(1, 'later').then((slot) => slot.answered(undefined))
  const again = enter(0, 'first again').then((slot) => slot.answered(undefined))
  first.answered(undefined)
  await Promise.all([later, again])
  expect(order).toEqual(['first', 'first again', 'later'])
})

test('no call is left behind if the clock advances while the queue is inspected', async () => {
  let now = 0
  const time = { clock: () => now++, sleep: async () => {}, random: Math.random }
  const queue = new SendQueue({ time, pace: false, concurrency: 16 })
  for (let ticket = 0; ticket < 50; ticket++) {
    queue.close(now + (ticket % 5))
    const turn = { ticket, deadline: Number.POSITIVE_INFINITY, tooLate: () => new Error('late') }
    ;(await queue.enter(turn)).answered(undefined)
  }
  expect(now).toBeGreaterThan(50)
})

test('10,000 waiting calls cost a constant number of steps each', async () => {
  const steps = { deadlines: 0, clocks: 0 }
  const clock = () => {
    steps.clocks++
    return 0
  }
  const queue = new SendQueue({
    time: { clock, sleep: () => new Promise(() => {}), random: Math.random },
    pace: false,
    concurrency: 16,
  })
  const turn = (ticket: number) => ({
    ticket,
    tooLate: () => new Error('late'),
    get deadline() {
      steps.deadlines++
      return 60_000
    },
  })
  queue.close(30_000)
  for (let ticket = 0; ticket < 10_000; ticket++) void queue.enter(turn(ticket))
  expect(steps.deadlines).toBeLessThan(50_000)
  expect(steps.clocks).toBeLessThan(50_000)
})

test('calls are sent in the order of their tickets, and aborted ones are skipped', async () => {
  const { queue } = queueWith({ pace: false, concurrency: 1 })
  const turn = { deadline: Number.POSITIVE_INFINITY, tooLate: () => new Error('late') }
  const first = await queue.enter({ ticket: -1, ...turn })
  const order: number[] = []
  const stop = new AbortController()
  const tickets = [5, 3, 9, 1, 7, 0, 8, 2, 6, 4]
  const calls = tickets.map(async (ticket) => {
    const signal = ticket % 3 === 0 ? stop.signal : undefined
    const slot = await queue.enter({ ticket, signal, ...turn })
    order.push(ticket)
    slot.answered(undefined)
  })
  stop.abort(new Error('enough'))
  first.answered(undefined)
  const outcomes = await Promise.allSettled(calls)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4)
  expect(order).toEqual([1, 2, 4, 5, 7, 8])
})

test('when the queue closes for longer, calls that cannot wait are refused and the others stay', async () => {
  const { queue, moveTo } = queueWith({ pace: false, concurrency: 1 })
  const enter = (ticket: number, deadline: number) =>
    queue.enter({ ticket, deadline, tooLate: (opensAt) => new Error(`opens at ${opensAt}`) })
  const first = await enter(0, 0)
  const impatient = enter(1, 1_000)
  const patient = enter(2, 5_000)
  queue.close(2_000)
  first.answered(undefined)
  await expect(impatient).rejects.toThrow('opens at 2000')
  moveTo(2_000)
  expect(await patient).toBeDefined()
})

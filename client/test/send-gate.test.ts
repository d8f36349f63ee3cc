import { expect, test } from 'bun:test'
import { type Passage, SendGate, type Standing } from '../src/send-gate.ts'

/** A gate, and the requests that have passed it in the order of their calls. */
function gateWith(options: { pace: boolean; concurrency?: number }) {
  let now = 0
  let wake = () => {}
  const sleep = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  const time = { clock: () => now, sleep, random: Math.random }
  const gate = new SendGate({ time, concurrency: 16, ...options })
  const passed: Passage[] = []
  let tickets = 0
  const turn = () => ({
    ticket: tickets++,
    deadline: Number.POSITIVE_INFINITY,
    tooLate: () => new Error('late'),
  })
  return {
    gate,
    /** Asks for so many requests; gives all that have passed until now. */
    ask: async (count = 0): Promise<readonly Passage[]> => {
      const enter = async () => passed.push(await gate.enter(turn()))
      for (let asked = 0; asked < count; asked++) void enter()
      await Bun.sleep(0)
      return passed
    },
    moveTo: (time: number) => {
      now = time
      wake()
    },
  }
}

function standing(remaining: number, resetAt = 60_000): Standing {
  return { limit: 60, remaining, resetAt }
}

test('paced, the first request goes alone, and so does the first of each window', async () => {
  const { ask, moveTo } = gateWith({ pace: true })
  expect(await ask(20)).toHaveLength(1)
  ;(await ask())[0]?.answered(standing(3))
  expect(await ask()).toHaveLength(4)
  for (const [index, passage] of (await ask()).slice(1).entries()) passage.answered(standing(2 - index))
  expect(await ask()).toHaveLength(4)
  moveTo(59_999)
  expect(await ask()).toHaveLength(4)
  moveTo(60_000)
  expect(await ask()).toHaveLength(5)
})

test('paced, of answers that overtake each other the smaller rest counts', async () => {
  const { ask } = gateWith({ pace: true })
  await ask(30)
  ;(await ask())[0]?.answered(standing(4))
  const [, one, two, three, four] = await ask()
  four?.answered(standing(0))
  three?.answered(standing(1))
  two?.answered(standing(2))
  one?.answered(standing(3))
  expect(await ask()).toHaveLength(5)
})

test('paced, a newer answer counts even where more is left, as after a change of plan', async () => {
  const { ask } = gateWith({ pace: true })
  await ask(10)
  ;(await ask())[0]?.answered(standing(1, 86_400_000))
  ;(await ask())[1]?.answered(standing(50, 60_000))
  expect(await ask()).toHaveLength(10)
})

test('paced, a request that got no answer counts as used up', async () => {
  const { ask } = gateWith({ pace: true })
  await ask(10)
  ;(await ask())[0]?.answered(standing(2))
  expect(await ask()).toHaveLength(3)
  for (const passage of (await ask()).slice(1)) passage.failed()
  expect(await ask()).toHaveLength(3)
})

test('a small limit lets fewer go at a time, so that few can be refused', async () => {
  const { ask } = gateWith({ pace: false })
  await ask(1)
  ;(await ask())[0]?.answered({ limit: 6, remaining: 5, resetAt: 60_000 })
  expect(await ask(10)).toHaveLength(4)
})

test('one that is sent again keeps its place before those that came later', async () => {
  const { gate } = gateWith({ pace: false, concurrency: 1 })
  const order: string[] = []
  const enter = async (ticket: number, name: string) => {
    const turn = { ticket, deadline: Number.POSITIVE_INFINITY, tooLate: () => new Error('late') }
    const passage = await gate.enter(turn)
    order.push(name)
    return passage
  }
  const first = await enter(0, 'first')
  const later = enter(1, 'later').then((passage) => passage.answered(undefined))
  const again = enter(0, 'first again').then((passage) => passage.answered(undefined))
  first.answered(undefined)
  await Promise.all([later, again])
  expect(order).toEqual(['first', 'first again', 'later'])
})

test('a clock that moves on while the gate is looked at leaves nobody behind', async () => {
  let now = 0
  const time = { clock: () => now++, sleep: async () => {}, random: Math.random }
  const gate = new SendGate({ time, pace: false, concurrency: 16 })
  for (let ticket = 0; ticket < 50; ticket++) {
    gate.shut(now + (ticket % 5))
    const turn = { ticket, deadline: Number.POSITIVE_INFINITY, tooLate: () => new Error('late') }
    ;(await gate.enter(turn)).answered(undefined)
  }
  expect(now).toBeGreaterThan(50)
})

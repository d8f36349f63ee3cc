import { expect, test } from 'bun:test'
import { BodyTurns } from '../../src/http/body-turns.ts'

const LARGE = 250_000

test('other events are handled between large bodies', async () => {
  const turns = new BodyTurns()
  const order: string[] = []
  const bodies = [1, 2, 3].map((body) => turns.wait(LARGE).then(() => order.push(`body ${body}`)))
  let isDone = false
  const otherEvents = (async () => {
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve))
      order.push('event')
    }
  })()
  await Promise.all(bodies)
  isDone = true
  await otherEvents
  expect(order.join().replaceAll(/(event,)+/g, 'events,')).toMatch(/body 1,events,body 2,events,body 3/)
})

test('small bodies do not wait for large ones', async () => {
  const turns = new BodyTurns()
  const order: string[] = []
  const large = turns.wait(LARGE).then(() => order.push('large'))
  await turns.wait(100).then(() => order.push('small'))
  await large
  expect(order).toEqual(['small', 'large'])
})

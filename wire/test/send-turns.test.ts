import { afterEach, describe, expect, test } from 'bun:test'
import type { Listener } from '../src/listen.ts'
import { type ResponseBody, ResponseWriter } from '../src/response.ts'
import { SendTurns } from '../src/send-turns.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const KIB = 1024
const CONNECTIONS = 200
const PART = Buffer.alloc(16 * KIB)
/** A turn sends this much, and ends with the slice that exceeds it. */
const TURN_BYTES = 512 * KIB
const MAX_TURN_BYTES = TURN_BYTES + 256 * KIB

const listeners: Listener[] = []
const sockets: HostileSocket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.end()
  return Promise.all(listeners.splice(0).map((listener) => listener.stop(0)))
})

/** An endless body, which counts its parts in `counter`. */
function endlessBody(counter: { parts: number }): ResponseBody {
  return {
    *[Symbol.iterator]() {
      for (;;) {
        counter.parts++
        yield PART
      }
    },
  }
}

/** Opens connections that send a request at the same time and read nothing. */
async function flood(answer: Parameters<typeof listenWith>[0]): Promise<Listener> {
  const listener = listenWith(answer)
  listeners.push(listener)
  const open = () => HostileSocket.open(listener.port)
  sockets.push(...(await Promise.all(Array.from({ length: CONNECTIONS }, open))))
  for (const socket of sockets) {
    socket.stopReading()
    socket.send('GET /flood HTTP/1.1\r\nHost: a\r\n\r\n')
  }
  return listener
}

/** Resolves to the most bytes that were sent between two turns of the test, once `minParts` have been sent. */
async function mostBytesPerTurn(counter: { readonly parts: number }, minParts: number): Promise<number> {
  let most = 0
  while (counter.parts < minParts) {
    const before = counter.parts
    await new Promise(setImmediate)
    most = Math.max(most, counter.parts - before)
  }
  return most * PART.length
}

describe('all connections of a listener together', () => {
  test.each([
    ['as they come', 0],
    ['all at the same time', CONNECTIONS],
  ])(
    'send a limited number of bytes before other events are handled, when responses are ready %s',
    async (_, together) => {
      const counter = { parts: 0 }
      const ready = Promise.withResolvers<void>()
      let requests = 0
      await flood(async () => {
        if (++requests >= together) ready.resolve()
        await ready.promise
        return answerOf(endlessBody(counter))
      })
      // Between two turns of the test, the listener may have two.
      expect(await mostBytesPerTurn(counter, 20 * CONNECTIONS)).toBeLessThanOrEqual(2 * MAX_TURN_BYTES)
    },
  )

  test('let a client wait for one slice of each other connection at most', async () => {
    const counter = { parts: 0 }
    let partsAtRequest = 0
    let partsWaited: number | undefined
    const small = {
      *[Symbol.iterator]() {
        partsWaited = counter.parts - partsAtRequest
        yield Buffer.from('small')
      },
    }
    const listener = await flood(({ path }) => {
      if (path === '/flood') return answerOf(endlessBody(counter))
      partsAtRequest = counter.parts
      return answerOf(small)
    })
    const client = await HostileSocket.open(listener.port)
    sockets.push(client)
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await client.answer())?.text).toBe('small')
    expect(partsWaited).toBeLessThanOrEqual(CONNECTIONS + MAX_TURN_BYTES / PART.length)
  })
})

test.each<[string, ResponseBody]>([
  ['bytes', Buffer.alloc(2_000 * KIB)],
  ['text', 'x'.repeat(2_000 * KIB)],
])('a large body of %s is sent in slices, which become smaller when connections wait', async (_, body) => {
  const turns = new SendTurns()
  const written: number[] = []
  let doneWriters = 0
  const writers = Array.from({ length: 3 }, (_, index) => {
    const write = (data: string | Uint8Array) => {
      written.push(index)
      return Buffer.byteLength(data)
    }
    const events = {
      onTurn: () => writer.takeTurn(),
      onDone: () => void doneWriters++,
      onLiveWrite: () => {},
      onAbort: () => {},
    }
    const writer: ResponseWriter = new ResponseWriter({ write } as never, '', turns, events)
    return writer
  })
  for (const writer of writers) {
    writer.begin()
    writer.write(answerOf(body), { method: 'GET', isHttp10: false, isLast: false })
  }
  await until(() => doneWriters === writers.length)
  // The first fills its turn with large slices. Then all alternate.
  expect(written.slice(0, 2)).toEqual([0, 0])
  expect(written.slice(4, 10)).toEqual([0, 1, 2, 0, 1, 2])
  // Large slices alone would be 24 writes.
  expect(written.length).toBeGreaterThan(80)
})

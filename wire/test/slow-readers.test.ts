import { afterEach, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { Listener, ListenOptions } from '../src/listen.ts'
import type { ResponseBody } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { decodeChunks } from './decode-chunks.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { listenByHand } from './hand-clock.ts'
import { openReader, readSteadily } from './steady-reader.ts'
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts'
import { until } from './until.ts'

const MIB = 1024 * 1024
const PART_BYTES = 64 * 1024
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const LAST_REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

const TLS = { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }
const listeners: Listener[] = []
afterEach(() => Promise.all(listeners.splice(0).map((listener) => listener.stop(0))))

function listenTo(body: () => ResponseBody, options: Partial<ListenOptions>): Listener {
  const listener = listenWith(() => answerOf(body()), options)
  listeners.push(listener)
  return listener
}

describe('a steady but slow client gets the whole response', () => {
  /** More than the system buffers for a connection. */
  const WHOLE_BYTES = 64 * MIB
  const whole = Buffer.from(Uint32Array.from({ length: WHOLE_BYTES / 4 }, (_, index) => index).buffer)
  const parts = Array.from({ length: WHOLE_BYTES / PART_BYTES }, (_, index) =>
    whole.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  )
  /** For ten minutes. */
  const BYTES_PER_SECOND = WHOLE_BYTES / 600
  const SECONDS_AT_ONCE = 10

  test.each([
    ['plain', 'at once', 'kept alive'],
    ['plain', 'in parts', 'closed'],
    ['TLS', 'at once', 'closed'],
    ['TLS', 'in parts', 'kept alive'],
  ])('%s, produced %s, the connection %s', async (wire, making, end) => {
    const isTls = wire === 'TLS'
    const isChunked = making === 'in parts'
    const { listener, pass } = listenByHand(() => answerOf(isChunked ? parts : whole), isTls ? TLS : {})
    listeners.push(listener)
    const socket = await openReader(listener.port, isTls)
    socket.write(end === 'closed' ? LAST_REQUEST : REQUEST)
    const bodyLength = isChunked ? chunkedLength(parts) : whole.length
    await until(() => listener.load().requests === 1)
    await turns(200)
    let seconds = 0
    const body = await readBody(socket, bodyLength, async (length) => {
      for (; seconds * BYTES_PER_SECOND < length; seconds += SECONDS_AT_ONCE) {
        pass(SECONDS_AT_ONCE)
        await turns(5)
      }
    })
    expect(body.length).toBe(bodyLength)
    expect((isChunked ? decodeChunks(body) : body).equals(whole)).toBe(true)
    expect(seconds).toBeGreaterThan(500)
  })
})

/** The listener, which sends at most 512 KiB in a turn, gets ahead of the reader. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

/** Reads the body in small pieces. Calls `onRead` with the number of bytes after each. */
async function readBody(
  socket: Socket,
  bodyLength: number,
  onRead: (length: number) => Promise<void>,
): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  let bodyStart: number | undefined
  for await (const piece of socket as AsyncIterable<Buffer>) {
    pieces.push(piece)
    length += piece.length
    bodyStart ??= piece.indexOf('\r\n\r\n') + 4
    if (length >= bodyStart + bodyLength) break
    await onRead(length)
  }
  socket.destroy()
  return Buffer.concat(pieces).subarray(bodyStart)
}

/** Each chunk has its size and two line ends. The last chunk is empty. */
function chunkedLength(parts: readonly Uint8Array[]): number {
  return [...parts, Buffer.alloc(0)].reduce(
    (sum, { length }) => sum + length.toString(16).length + length + 4,
    0,
  )
}

describe('a client that reads nothing', () => {
  test.each(['plain', 'TLS'])('is dropped after a minute, and not before: %s', async (wire) => {
    const isTls = wire === 'TLS'
    const { listener, pass } = listenByHand(() => answerOf(Buffer.alloc(20 * MIB)), isTls ? TLS : {})
    listeners.push(listener)
    const reader = await ByteReader.open(listener.port, isTls)
    reader.send(REQUEST)
    await until(() => listener.load().requests === 1)
    pass(60)
    expect(listener.load().connections).toBe(1)
    await until(() => {
      pass(1)
      return listener.load().connections === 0
    })
    reader.leave()
  })
})

describe('the bytes kept for all slow clients', () => {
  const secondMs = 20

  /** Opens clients that send a request and read nothing. */
  async function openIdle(listener: Listener, count: number): Promise<ByteReader[]> {
    const readers = await Promise.all(Array.from({ length: count }, () => ByteReader.open(listener.port)))
    for (const reader of readers) reader.send(REQUEST)
    await until(() => listener.load().requests === count)
    await Bun.sleep(5 * secondMs)
    return readers
  }

  test.each<[string, () => ResponseBody]>([
    ['at once', () => Buffer.alloc(20 * MIB)],
    ['in parts', () => Array.from({ length: 20 }, () => Buffer.alloc(MIB))],
    [
      'in parts that are produced from sources',
      () => {
        const sources = Array.from({ length: 20 }, () => Buffer.alloc(MIB))
        return { sources, [Symbol.iterator]: () => sources.values() }
      },
    ],
  ])(
    'are bounded: the clients with the oldest responses are dropped, and new clients get everything; body %s',
    async (_, body) => {
      const listener = listenTo(body, { secondMs, maxUnsentBytes: 65 * MIB, writeTimeoutSeconds: 10_000 })
      const idle = await openIdle(listener, 3)
      expect(listener.load().connections).toBe(3)
      const steady = await Promise.all([openReader(listener.port, false), openReader(listener.port, false)])
      const received = steady.map((socket) => {
        socket.write(LAST_REQUEST)
        return readSteadily(socket, 40 * MIB, 20 * MIB)
      })
      // There is room for three responses. The two new clients come first, so one to two of the three idle clients stay.
      await until(() => listener.load().connections < 5)
      expect(listener.load().connections).toBeGreaterThanOrEqual(3)
      for (const answer of received) expect((await answer).length).toBeGreaterThanOrEqual(20 * MIB)
      for (const reader of idle) reader.leave()
    },
  )

  test('are also checked between two seconds if many clients connect at once', async () => {
    const listener = listenTo(() => Buffer.alloc(8 * MIB), { secondMs: 60_000, maxUnsentBytes: 100 * MIB })
    const readers = await Promise.all(Array.from({ length: 40 }, () => ByteReader.open(listener.port)))
    for (const reader of readers) reader.send(REQUEST)
    await until(() => listener.load().connections < 30)
    for (const reader of readers) reader.leave()
  })

  test('do not include bytes that are sent', async () => {
    const parts: WeakRef<Uint8Array>[] = []
    const listener = listenTo(
      () =>
        Array.from({ length: 200 }, () => {
          const part = Buffer.alloc(PART_BYTES)
          parts.push(new WeakRef(part))
          return part
        }),
      {},
    )
    const reader = await ByteReader.open(listener.port)
    reader.send(REQUEST)
    await until(() => parts.length === 200)
    const firstAreGone = () => {
      Bun.gc(true)
      return parts.slice(0, 5).every((part) => part.deref() === undefined)
    }
    await until(firstAreGone)
    expect(parts.at(-1)?.deref()?.length).toBe(PART_BYTES)
    reader.leave()
  })

  test('count shared buffers once', async () => {
    const shared = Buffer.alloc(20 * MIB)
    const listener = listenTo(() => shared, { secondMs, maxUnsentBytes: 25 * MIB })
    const readers = await openIdle(listener, 20)
    expect(listener.load().connections).toBe(20)
    for (const reader of readers) reader.leave()
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import type { LiveBody, Outflow } from '../src/answer.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { unchunked } from './unchunked.ts'
import { until } from './until.ts'

/** The test decides what is sent; the notifications are recorded. */
class ToldBody implements LiveBody {
  outflow: Outflow | undefined
  rooms = 0
  /** The unsent bytes at each `onRoom`. */
  readonly unsentAtRooms: number[] = []
  closes = 0

  begin(outflow: Outflow): void {
    this.outflow = outflow
  }
  onRoom(): void {
    this.rooms++
    this.unsentAtRooms.push(this.outflow?.unsentBytes ?? 0)
  }
  onClose(): void {
    this.closes++
  }
}

const given: ToldBody[] = []
let isAsked = false
/** The length of a second of the listener. */
const SECOND_MS = 10
const listener = listenWith(
  async ({ path }) => {
    if (path === '/next') return answerOf('next')
    isAsked = true
    if (path === '/later') await Bun.sleep(20)
    const body = new ToldBody()
    given.push(body)
    return answerOf(body)
  },
  { secondMs: SECOND_MS },
)
afterAll(() => listener.stop(0))

const request = (target: string, version = '1.1', method = 'GET') =>
  `${method} ${target} HTTP/${version}\r\nHost: a\r\n\r\n`

async function begun(): Promise<{ body: ToldBody; outflow: Outflow }> {
  await until(() => given.at(-1)?.outflow !== undefined)
  const body = given.pop() as ToldBody
  return { body, outflow: body.outflow as Outflow }
}

async function open(text: string) {
  const socket = await HostileSocket.open(listener.port)
  socket.send(text)
  return { socket, ...(await begun()) }
}

describe('a live body', () => {
  test('arrives as it is sent, and the next request is answered after its end', async () => {
    const { socket, outflow, body } = await open(request('/live') + request('/next'))
    await until(() => socket.received.endsWith('\r\n\r\n'))
    expect(socket.received).toContain('Transfer-Encoding: chunked\r\n')
    for (const text of ['first', 'second']) {
      outflow.send(Buffer.from(text))
      await until(() => socket.received.endsWith(`${text.length}\r\n${text}\r\n`))
    }
    // An empty chunk would end the body.
    outflow.send(Buffer.alloc(0))
    outflow.send(Buffer.from(', third'))
    expect(outflow.unsentBytes).toBe(0)
    outflow.end()
    // The writer is now at the next answer.
    outflow.send(Buffer.from('too late'))
    outflow.end()
    outflow.cut()
    expect((await socket.answer())?.text).toBe('firstsecond, third')
    expect((await socket.answer())?.text).toBe('next')
    expect(socket.received).toBe('')
    expect(body.rooms).toBe(0)
    socket.end()
  })

  test('ends with the connection in HTTP/1.0', async () => {
    const { socket, outflow } = await open(request('/live', '1.0'))
    outflow.send(Buffer.from('old, '))
    outflow.send(Buffer.alloc(0))
    outflow.send(Buffer.from('but whole'))
    outflow.end()
    const answer = await socket.answer()
    expect(answer?.text).toBe('old, but whole')
    expect(answer?.headers.get('Connection')).toBe('close')
  })

  test('reports unsent bytes and when there is room again; its end is sent last', async () => {
    const reader = await ByteReader.open(listener.port)
    reader.send(`GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    const { body, outflow } = await begun()
    const sent: Buffer[] = []
    // The buffer is reused at once, as a sender may do.
    const buffer = Buffer.alloc(256 * 1024)
    for (let number = 0; number < 64; number++) {
      buffer.fill(number + 1)
      outflow.send(buffer)
      sent.push(Buffer.from(buffer))
    }
    const unsent = outflow.unsentBytes
    expect(unsent).toBeGreaterThan(0)
    expect(unsent).toBeLessThan(64 * 257 * 1024)
    const isRoomMade = until(() => body.rooms > 0).then(() => {
      expect(outflow.unsentBytes).toBeLessThan(unsent)
      outflow.end()
    })
    const { body: received } = await reader.lastAnswer()
    await isRoomMade
    expect(unchunked(received).equals(Buffer.concat(sent))).toBe(true)
    expect(outflow.unsentBytes).toBe(0)
  })

  test('is notified of room only if bytes were sent', async () => {
    const reader = await ByteReader.open(listener.port)
    reader.send(request('/live'))
    const { body, outflow } = await begun()
    outflow.send(Buffer.alloc(16 * 1024 * 1024))
    const unsent = outflow.unsentBytes
    // The listener checks it every second meanwhile.
    await Bun.sleep(30 * SECOND_MS)
    expect(outflow.unsentBytes).toBeGreaterThan(0)
    // The network may accept more at any time, and each time fewer bytes are unsent than before.
    const unsentThen = [unsent, ...body.unsentAtRooms]
    expect(unsentThen.slice(1).every((bytes, index) => bytes < (unsentThen[index] ?? 0))).toBe(true)
    reader.leave()
  })

  test('that is cut drops the connection and is notified once', async () => {
    const { socket, outflow, body } = await open(request('/live') + request('/next'))
    outflow.send(Buffer.from('half'))
    outflow.cut()
    outflow.cut()
    expect(await socket.answer()).toBeUndefined()
    expect(socket.isClosed).toBe(true)
    expect(socket.received).not.toContain('0\r\n\r\n')
    await until(() => body.closes > 0)
    outflow.cut()
    await Bun.sleep(5)
    expect(body.closes).toBe(1)
  })

  test.each([
    ['that has read everything', 5],
    ['with many unsent bytes', 16 * 1024 * 1024],
  ])('is notified once when a client %s goes away, and later bytes are dropped', async (_, size) => {
    const reader = await ByteReader.open(listener.port)
    reader.send(request('/live'))
    const { body, outflow } = await begun()
    outflow.send(Buffer.alloc(size))
    await Bun.sleep(5)
    expect(body.closes).toBe(0)
    reader.leave()
    await until(() => body.closes > 0)
    outflow.send(Buffer.alloc(16 * 1024 * 1024))
    expect(outflow.unsentBytes).toBe(0)
    outflow.end()
    outflow.cut()
    await Bun.sleep(5)
    expect(body.closes).toBe(1)
  })

  test('is notified once if its client went away before it started', async () => {
    const socket = await HostileSocket.open(listener.port)
    isAsked = false
    socket.send(request('/later'))
    await until(() => isAsked)
    socket.end()
    await until(() => (given.at(-1)?.closes ?? 0) > 0)
    await Bun.sleep(5)
    expect(given.pop()?.closes).toBe(1)
  })

  test('never begins for HEAD and is notified once', async () => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(request('/live', '1.1', 'HEAD') + request('/next'))
    expect((await socket.answer('HEAD'))?.status).toBe(200)
    expect((await socket.answer())?.text).toBe('next')
    socket.end()
    await Bun.sleep(5)
    expect(given.pop()).toMatchObject({ outflow: undefined, closes: 1 })
  })
})

import { afterAll, describe, expect, test } from 'bun:test'
import type { BodyOutput, LiveBody } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { decodeChunks } from './decode-chunks.ts'
import { answerOf } from './echo-server.ts'
import { listenByHand, settle } from './hand-clock.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

/** A body that the test controls. It records its notifications. */
class RecordingBody implements LiveBody {
  output: BodyOutput | undefined
  notices = 0
  /** The unsent bytes at each call of `onBytesSent`. */
  readonly unsentAtNotices: number[] = []
  closes = 0

  begin(output: BodyOutput): void {
    this.output = output
  }
  onBytesSent(): void {
    this.notices++
    this.unsentAtNotices.push(this.output?.unsentBytes ?? 0)
  }
  onClose(): void {
    this.closes++
  }
}

const bodies: RecordingBody[] = []
let isRequested = false
const { listener, pass } = listenByHand(async ({ path }) => {
  if (path === '/next' || path === '/settle') return answerOf('next')
  isRequested = true
  if (path === '/later') await Bun.sleep(20)
  const body = new RecordingBody()
  bodies.push(body)
  return answerOf(body)
})
afterAll(() => listener.stop(0))

const request = (target: string, version = '1.1', method = 'GET') =>
  `${method} ${target} HTTP/${version}\r\nHost: a\r\n\r\n`

async function begun(): Promise<{ body: RecordingBody; output: BodyOutput }> {
  await until(() => bodies.at(-1)?.output !== undefined)
  const body = bodies.pop() as RecordingBody
  return { body, output: body.output as BodyOutput }
}

async function open(text: string) {
  const socket = await HostileSocket.open(listener.port)
  socket.send(text)
  return { socket, ...(await begun()) }
}

describe('a live body', () => {
  test('arrives as it is sent, and the next request is answered after its end', async () => {
    const { socket, output, body } = await open(request('/live') + request('/next'))
    await until(() => socket.received.endsWith('\r\n\r\n'))
    expect(socket.received).toContain('Transfer-Encoding: chunked\r\n')
    for (const text of ['first', 'second']) {
      output.send(Buffer.from(text))
      await until(() => socket.received.endsWith(`${text.length}\r\n${text}\r\n`))
    }
    // An empty chunk would end the body.
    output.send(Buffer.alloc(0))
    output.send(Buffer.from(', third'))
    expect(output.unsentBytes).toBe(0)
    output.end()
    // After its end, these calls must not affect the next response.
    output.send(Buffer.from('too late'))
    output.end()
    output.abort()
    expect((await socket.answer())?.text).toBe('firstsecond, third')
    expect((await socket.answer())?.text).toBe('next')
    expect(socket.received).toBe('')
    expect(body.notices).toBe(0)
    socket.end()
  })

  test('ends with the connection in HTTP/1.0', async () => {
    const { socket, output } = await open(request('/live', '1.0'))
    output.send(Buffer.from('old, '))
    output.send(Buffer.alloc(0))
    output.send(Buffer.from('but whole'))
    output.end()
    const answer = await socket.answer()
    expect(answer?.text).toBe('old, but whole')
    expect(answer?.headers.get('Connection')).toBe('close')
  })

  test('reports unsent bytes, and is notified when some of them are sent; its end is sent last', async () => {
    const reader = await ByteReader.open(listener.port)
    reader.send(`GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    const { body, output } = await begun()
    const sent: Buffer[] = []
    // The buffer is reused at once, as a sender may do.
    const buffer = Buffer.alloc(256 * 1024)
    for (let number = 0; number < 64; number++) {
      buffer.fill(number + 1)
      output.send(buffer)
      sent.push(Buffer.from(buffer))
    }
    const unsent = output.unsentBytes
    expect(unsent).toBeGreaterThan(0)
    expect(unsent).toBeLessThan(64 * 257 * 1024)
    const hasEnded = until(() => body.notices > 0).then(() => {
      expect(output.unsentBytes).toBeLessThan(unsent)
      output.end()
    })
    const { body: received } = await reader.lastAnswer()
    await hasEnded
    expect(decodeChunks(received).equals(Buffer.concat(sent))).toBe(true)
    expect(output.unsentBytes).toBe(0)
  })

  test('is notified only if bytes were sent', async () => {
    const reader = await ByteReader.open(listener.port)
    reader.send(request('/live'))
    const { body, output } = await begun()
    output.send(Buffer.alloc(16 * 1024 * 1024))
    const unsent = output.unsentBytes
    // The listener tries to send unsent bytes every second.
    pass(30)
    expect(output.unsentBytes).toBeGreaterThan(0)
    // The network may accept bytes at any time. At each notice, fewer bytes must be unsent than before.
    const unsentCounts = [unsent, ...body.unsentAtNotices]
    expect(unsentCounts.slice(1).every((bytes, index) => bytes < (unsentCounts[index] ?? 0))).toBe(true)
    reader.leave()
  })

  test('that is cut drops the connection and is notified once', async () => {
    const { socket, output, body } = await open(request('/live') + request('/next'))
    output.send(Buffer.from('half'))
    output.abort()
    output.abort()
    expect(await socket.answer()).toBeUndefined()
    expect(socket.isClosed).toBe(true)
    expect(socket.received).not.toContain('0\r\n\r\n')
    await until(() => body.closes > 0)
    output.abort()
    await settle(listener)
    expect(body.closes).toBe(1)
  })

  test.each([
    ['that has read everything', 5],
    ['with many unsent bytes', 16 * 1024 * 1024],
  ])('is notified once when a client %s goes away, and later bytes are dropped', async (_, size) => {
    const reader = await ByteReader.open(listener.port)
    reader.send(request('/live'))
    const { body, output } = await begun()
    output.send(Buffer.alloc(size))
    await settle(listener)
    expect(body.closes).toBe(0)
    reader.leave()
    await until(() => body.closes > 0)
    output.send(Buffer.alloc(16 * 1024 * 1024))
    expect(output.unsentBytes).toBe(0)
    output.end()
    output.abort()
    await settle(listener)
    expect(body.closes).toBe(1)
  })

  test('is notified once if its client went away before it started', async () => {
    const socket = await HostileSocket.open(listener.port)
    isRequested = false
    socket.send(request('/later'))
    await until(() => isRequested)
    socket.end()
    await until(() => (bodies.at(-1)?.closes ?? 0) > 0)
    await settle(listener)
    expect(bodies.pop()?.closes).toBe(1)
  })

  test('never begins for HEAD and is notified once', async () => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(request('/live', '1.1', 'HEAD') + request('/next'))
    expect((await socket.answer('HEAD'))?.status).toBe(200)
    expect((await socket.answer())?.text).toBe('next')
    socket.end()
    await settle(listener)
    expect(bodies.pop()).toMatchObject({ output: undefined, closes: 1 })
  })
})

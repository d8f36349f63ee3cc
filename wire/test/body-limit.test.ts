import { afterAll, describe, expect, test } from 'bun:test'
import { RequestBody } from '../src/request.ts'
import { type Echo, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const LIMIT = 64 * 1024

const listener = listenWith(echo)
afterAll(() => listener.stop(0))

/** A body that differs at every position, so that the tests notice lost or doubled bytes. */
const bodyOf = (size: number) =>
  Array.from({ length: Math.ceil(size / 8) }, (_, index) => String(index).padStart(8, '.'))
    .join('')
    .slice(0, size)

const withLength = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`

const inChunksOf = (size: number) => (body: string) => {
  let chunks = ''
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.slice(at, at + size)
    chunks += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return `Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`
}

const FRAMINGS: readonly [string, (body: string) => string][] = [
  ['of known length', withLength],
  ['in one chunk', inChunksOf(2 * LIMIT)],
  ['in chunks of 1,000 bytes', inChunksOf(1_000)],
]

async function sendUpdate(framed: string): Promise<HostileSocket> {
  const socket = await HostileSocket.open(listener.port)
  socket.send(`PATCH / HTTP/1.1\r\nHost: a\r\n${framed}GET /next HTTP/1.1\r\nHost: a\r\n\r\n`)
  return socket
}

async function expectNextAnswer(socket: HostileSocket): Promise<void> {
  expect((await socket.answer())?.text).toContain('/next')
  expect(socket.isClosed).toBe(false)
  socket.end()
}

describe.each(FRAMINGS)('a body %s', (_, framed) => {
  test('of 64 KiB is accepted', async () => {
    const body = bodyOf(LIMIT)
    const socket = await sendUpdate(framed(body))
    const answer = await socket.answer('PATCH')
    expect(answer?.status).toBe(200)
    const echoed = Buffer.from((JSON.parse(answer?.text ?? '') as Echo).body, 'base64').toString('latin1')
    expect(echoed === body).toBe(true)
    await expectNextAnswer(socket)
  })

  test.each([1, LIMIT, 20 * LIMIT])(
    'of %i bytes more is too large, and the connection stays open',
    async (more) => {
      const socket = await sendUpdate(framed(bodyOf(LIMIT + more)))
      const answer = await socket.answer('PATCH')
      expect(answer).toMatchObject({ status: 413, text: 'too_large' })
      expect(answer?.headers.has('Connection')).toBe(false)
      await expectNextAnswer(socket)
    },
  )
})

test('a body that is announced as too large is answered before it arrives', async () => {
  const socket = await HostileSocket.open(listener.port)
  socket.send('PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n')
  expect((await socket.answer('PATCH'))?.text).toBe('too_large')
  socket.send(`${'x'.repeat(65_537)}GET /next HTTP/1.1\r\nHost: a\r\n\r\n`)
  await expectNextAnswer(socket)
})

test('the handler gets a problem if the client closes the connection before the end of its body', async () => {
  const bodies: unknown[] = []
  let isReading = false
  const reading = listenWith(async (request) => {
    isReading = true
    const answer = await echo(request)
    bodies.push(answer.body)
    return answer
  })
  const socket = await HostileSocket.open(reading.port)
  socket.send('PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf')
  await until(() => isReading)
  socket.end()
  await until(() => bodies.length > 0)
  expect(bodies).toEqual(['incomplete'])
  await reading.stop(0)
})

test('a body does not keep the rest of its packet in memory', async () => {
  const body = new RequestBody('chunked')
  const before = heldBytes()
  for (let sent = 0; sent < 100; sent++) {
    // The network may deliver a single byte of data in a large buffer.
    const piece = Buffer.alloc(1024 * 1024)
    const size = piece.write(`1;${'x'.repeat(200)}\r\na\r\n`)
    body.take(piece.subarray(0, size))
  }
  expect(heldBytes() - before).toBeLessThan(50 * 1024 * 1024)
  body.take(Buffer.from('0\r\n\r\n'))
  expect((await body.read()).length).toBe(100)
})

function heldBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().arrayBuffers
}

import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { connect } from 'node:net'
import type { HttpRequest } from '../src/request.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, echo, listenWith } from './echo-server.ts'
import { settle } from './hand-clock.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const PARTS = ['unknown ', 'length'].map((text) => Buffer.from(text))

const LONG = Buffer.alloc(200_000, 'long')

const listener = listenWith(async (request) => {
  if (request.path === '/late') await Bun.sleep(20)
  if (request.path === '/parts') return answerOf(PARTS)
  return request.path === '/long' ? answerOf(LONG) : echo(request)
})
afterAll(() => listener.stop(0))

/** Sends all requests at once. The number of responses shows whether the connection stayed open. */
async function send(...requests: string[]): Promise<HostileSocket> {
  const socket = await HostileSocket.open(listener.port)
  socket.send(requests.map((request) => `${request}\r\n\r\n`).join(''))
  return socket
}

async function expectNothingMore(socket: HostileSocket): Promise<void> {
  await socket.closed
  expect(socket.received).toBe('')
}

const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\nConnection: close'

describe('the end of a connection', () => {
  test.each([
    ['HTTP/1.0', 'GET / HTTP/1.0'],
    ['HTTP/1.0 with another option', 'GET / HTTP/1.0\r\nConnection: upgrade'],
    ['HTTP/1.0 with keep-alive, and then close', 'GET / HTTP/1.0\r\nConnection: keep-alive, close'],
    ['HTTP/1.0 with close, and then keep-alive', 'GET / HTTP/1.0\r\nConnection: close, Keep-Alive'],
    ['HTTP/1.1 with Connection: close', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close'],
    ['close in capitals, in a list', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade , CLOSE'],
    ['close in a second header', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: te\r\nConnection: close'],
  ])('comes after the response, which announces it: %s', async (_, request) => {
    const socket = await send(request, NEXT)
    const answer = await socket.answer()
    expect(answer?.status).toBe(200)
    expect(answer?.headers.get('Connection')).toBe('close')
    await expectNothingMore(socket)
  })

  test.each([
    ['HTTP/1.0 with keep-alive', 'GET / HTTP/1.0\r\nConnection: keep-alive', 'keep-alive'],
    ['HTTP/1.0 with Keep-Alive in a list', 'GET / HTTP/1.0\r\nConnection: x, Keep-Alive', 'keep-alive'],
    ['HTTP/1.1', 'GET / HTTP/1.1\r\nHost: a', null],
    ['HTTP/1.1 with keep-alive', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive', null],
    ['an option that only looks like close', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: closed', null],
  ])('does not come while the client wants to continue: %s', async (_, request, expected) => {
    const socket = await send(request, request, NEXT)
    for (const _ of [1, 2]) expect((await socket.answer())?.headers.get('Connection')).toBe(expected)
    expect((await socket.answer())?.text).toContain('/next')
    await expectNothingMore(socket)
  })

  test('a request without Host is valid in HTTP/1.0', async () => {
    const socket = await send('GET /old HTTP/1.0')
    expect(JSON.parse((await socket.answer())?.text ?? '')).toMatchObject({
      path: '/old',
      headers: { host: null },
    })
  })

  test.each(['GET /parts HTTP/1.0', 'GET /parts HTTP/1.0\r\nConnection: keep-alive'])(
    'ends a body of unknown length in HTTP/1.0: %j',
    async (request) => {
      const socket = await send(request, NEXT)
      const answer = await socket.answer()
      expect(answer?.text).toBe('unknown length')
      expect(answer?.headers.get('Connection')).toBe('close')
      expect(answer?.headers.has('Content-Length')).toBe(false)
      expect(answer?.headers.has('Transfer-Encoding')).toBe(false)
      await expectNothingMore(socket)
    },
  )

  test('a client that has sent more bytes than the server reads still gets the whole response', async () => {
    const reader = await ByteReader.open(listener.port)
    reader.send(`GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n${'x'.repeat(2_000_000)}`)
    // A reset would discard the bytes that are not read yet.
    await Bun.sleep(30)
    expect((await reader.lastAnswer()).body.equals(LONG)).toBe(true)
  })

  test('a client that has closed its sending side gets the responses to all its requests', async () => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true })
    const pieces: Buffer[] = []
    socket.on('data', (piece) => void pieces.push(piece as Buffer))
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.end('GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /parts HTTP/1.1\r\nHost: a\r\n\r\n')
    await closed
    expect(Buffer.concat(pieces).toString()).toMatch(/"path":"\/late".*unknown .*length\r\n0\r\n\r\n$/s)
  })
})

describe('a client that closes its sending side', () => {
  test.each([
    ['with its request still waits for the response', 0, false],
    ['after it has waited has given up', 500, true],
  ])('%s', async (_, afterMs, hasLeft) => {
    const received = Promise.withResolvers<HttpRequest>()
    const answer = Promise.withResolvers<void>()
    const holding = listenWith(async (request) => {
      if (request.path !== '/held') return echo(request)
      received.resolve(request)
      await answer.promise
      return echo(request)
    })
    const clock = spyOn(performance, 'now').mockReturnValue(1_000)
    const client = connect({ port: holding.port, host: '127.0.0.1', allowHalfOpen: true })
    let answered = ''
    client.on('data', (bytes) => {
      answered += bytes.toString()
    })
    client.write('PATCH /held HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    const request = await received.promise
    clock.mockReturnValue(1_000 + afterMs)
    client.end()
    await settle(holding)
    clock.mockRestore()
    expect(request.hasClientLeft).toBe(hasLeft)
    answer.resolve()
    if (!hasLeft) await until(() => answered.includes('200'))
    await holding.stop(0)
  })
})

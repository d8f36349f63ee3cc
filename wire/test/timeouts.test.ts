import { afterEach, describe, expect, test } from 'bun:test'
import type { ListenOptions } from '../src/listen.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, echo } from './echo-server.ts'
import { type HandClock, listenByHand } from './hand-clock.ts'
import { HostileSocket } from './hostile-socket.ts'
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts'
import { until } from './until.ts'

const TLS = { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const LAST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const BODY_OF_TEN = 'PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n'
const CHUNKED = 'PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

let clock: HandClock
afterEach(() => clock.listener.stop(0))

function listenTo(answer: Parameters<typeof listenByHand>[0], options: Partial<ListenOptions> = {}): void {
  clock = listenByHand(answer, options)
}

const open = () => HostileSocket.open(clock.listener.port)

/** Passes exactly the given time, after which the connection is still open, and then one more second. */
async function passTimeout(socket: HostileSocket, seconds: number): Promise<void> {
  await clock.settle()
  clock.pass(seconds)
  await clock.settle()
  expect([socket.received, socket.isClosed]).toEqual(['', false])
  clock.pass(1)
}

describe('an idle connection', () => {
  test.each([
    ['the first byte', '', 10],
    ['the request after a response', REQUEST, 75],
    ['the request after an empty line', `${REQUEST}\r\n`, 75],
  ])('is closed without a response if %s does not come in time', async (_, sent, seconds) => {
    listenTo(echo)
    const socket = await open()
    socket.send(sent)
    if (sent !== '') expect((await socket.answer())?.headers.get('Keep-Alive')).toBe('timeout=75')
    await passTimeout(socket, seconds)
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('stays open while each request follows within the keep-alive time', async () => {
    listenTo(echo, { keepAliveSeconds: 40 })
    const socket = await open()
    for (let times = 0; times < 3; times++) {
      socket.send(REQUEST)
      expect((await socket.answer())?.headers.get('Keep-Alive')).toBe('timeout=40')
      clock.pass(40)
    }
    socket.end()
  })

  test.each([
    ['the last response', LAST, null],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 'timeout=75'],
  ])('is announced only if it applies: %s', async (_, request, promise) => {
    listenTo(echo)
    const socket = await open()
    socket.send(request)
    expect((await socket.answer())?.headers.get('Keep-Alive')).toBe(promise)
    socket.end()
  })
})

describe('a slow sender', () => {
  test.each([
    ['of a head, silent', 'GET / HTTP/1.1\r\nHos', ''],
    ['of a head, byte by byte', 'GET / HTTP/1.1\r\nHost: ', 'a'],
    ['of a head after an empty line, byte by byte', '\r\n', 'G'],
    ['of a body, silent', `${BODY_OF_TEN}half`, ''],
    ['of a body, byte by byte', BODY_OF_TEN.replace('10', '1000'), 'x'],
    ['of chunks', `${CHUNKED}4\r\npe`, ''],
  ])('gets a timeout: %s', async (_, opening, drip) => {
    listenTo(echo)
    const socket = await open()
    // The time begins with the first byte that is not of an empty line.
    socket.send(opening + drip)
    await clock.settle()
    for (let second = 1; second <= 10; second++) {
      clock.pass(1)
      socket.send(drip)
      await clock.settle()
    }
    expect(socket.received).toBe('')
    clock.pass(1)
    const answer = await socket.answer()
    expect(answer).toMatchObject({ status: 408, text: 'timeout' })
    expect(answer?.headers.get('Connection')).toBe('close')
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('has the whole timeout if an empty line after the previous body has waited for longer', async () => {
    listenTo(echo)
    const socket = await open()
    socket.send(`${BODY_OF_TEN}0123456789\r\n`)
    expect((await socket.answer('PATCH'))?.status).toBe(200)
    await clock.settle()
    clock.pass(20)
    socket.send(`${BODY_OF_TEN}half`)
    await passTimeout(socket, 10)
    expect((await socket.answer('PATCH'))?.status).toBe(408)
  })

  test('has the whole timeout again after 100 Continue', async () => {
    const reading = Promise.withResolvers<void>()
    listenTo(async (request) => {
      if (request.path === '/') await reading.promise
      return echo(request)
    })
    const socket = await open()
    socket.send(BODY_OF_TEN.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'))
    await clock.settle()
    clock.pass(20)
    reading.resolve()
    await until(() => socket.received.includes('100 Continue'))
    clock.pass(10)
    socket.send('0123456789')
    expect((await socket.answer('PATCH'))?.status).toBe(200)
    socket.end()
  })

  test('whose request is answered without its body gets no second response', async () => {
    listenTo(() => answerOf('unread'))
    const socket = await open()
    socket.send(`${BODY_OF_TEN}half`)
    expect((await socket.answer('PATCH'))?.text).toBe('unread')
    clock.pass(11)
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('does not limit the handler, which may take longer than the timeout of a request', async () => {
    const late = Promise.withResolvers<void>()
    listenTo(({ path }) => (path === '/' ? late.promise.then(() => answerOf('late')) : answerOf('other')))
    const [whole, half] = [await open(), await open()]
    whole.send(REQUEST)
    half.send(`${BODY_OF_TEN}half`)
    await until(() => clock.listener.load().requests === 2)
    clock.pass(1_000)
    late.resolve()
    expect((await whole.answer())?.text).toBe('late')
    expect((await half.answer('PATCH'))?.text).toBe('late')
    await half.closed
    whole.end()
  })
})

test('an incomplete TLS handshake has the timeout of a request', async () => {
  listenTo(echo, TLS)
  const socket = await open()
  await until(() => clock.listener.load().connections === 1)
  clock.pass(10)
  expect(clock.listener.load().connections).toBe(1)
  clock.pass(1)
  await socket.closed
})

describe('a client that does not close after the server', () => {
  const bytes = Buffer.alloc(2_000_000, 'b')
  const ONLY_CLOSING = { firstByteTimeoutSeconds: 1e9, keepAliveSeconds: 1e9, requestTimeoutSeconds: 1e9 }

  test.each([
    ['plain', LAST],
    ['TLS', LAST],
    ['plain', 'nonsense\r\n\r\n'],
    ['TLS', 'nonsense\r\n\r\n'],
  ])('is not waited for, and gets all sent data: %s, %j', async (wire, sent) => {
    listenTo(() => answerOf(bytes), { ...ONLY_CLOSING, ...(wire === 'TLS' ? TLS : {}) })
    const reader = await ByteReader.open(clock.listener.port, wire === 'TLS')
    reader.send(sent)
    await until(() => {
      clock.pass(1)
      return clock.listener.load().connections === 0
    })
    const { head, body } = await reader.lastAnswer()
    expect(head).toStartWith(`HTTP/1.1 ${sent === LAST ? 200 : 400} `)
    expect(body.length).toBe(sent === LAST ? bytes.length : 'malformed'.length)
  })
})

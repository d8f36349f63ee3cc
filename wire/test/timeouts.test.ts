import { afterEach, describe, expect, test } from 'bun:test'
import type { Listener, ListenOptions } from '../src/listen.ts'
import type { HttpRequest } from '../src/request.ts'
import type { HttpResponse } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts'
import { until } from './until.ts'

/** The length of a second of these listeners. */
const SECOND_MS = 10

let listener: Listener
afterEach(() => listener.stop(0))

function listenFast(
  answer: (request: HttpRequest) => HttpResponse | Promise<HttpResponse> = echo,
  options: Partial<ListenOptions> = {},
): void {
  listener = listenWith(answer, { secondMs: SECOND_MS, ...options })
}

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const BODY_OF_TEN = 'PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n'

/** The time until the connection is closed, in seconds of the listener. */
async function secondsUntilClosed(socket: HostileSocket): Promise<number> {
  const start = performance.now()
  await socket.closed
  return (performance.now() - start) / SECOND_MS
}

describe('an idle connection', () => {
  test('is closed sooner before its first byte than between requests', async () => {
    listenFast(echo, { firstByteTimeoutSeconds: 10, keepAliveSeconds: 1_000_000 })
    const socket = await HostileSocket.open(listener.port)
    expect(await secondsUntilClosed(socket)).toBeGreaterThanOrEqual(9)
    expect(socket.received).toBe('')
  })

  test.each([
    ['after a response', REQUEST],
    ['after an empty line', `${REQUEST}\r\n`],
  ])('is closed without a response after the keep-alive time, %s', async (_, sent) => {
    listenFast(echo, { keepAliveSeconds: 30, requestTimeoutSeconds: 5 })
    const socket = await HostileSocket.open(listener.port)
    socket.send(sent)
    expect((await socket.answer())?.status).toBe(200)
    expect(await secondsUntilClosed(socket)).toBeGreaterThanOrEqual(29)
    expect(socket.received).toBe('')
  })

  test('stays open for 75 s, which responses announce', async () => {
    listenFast()
    const socket = await HostileSocket.open(listener.port)
    socket.send(REQUEST)
    expect((await socket.answer())?.headers.get('Keep-Alive')).toBe('timeout=75')
    expect(await secondsUntilClosed(socket)).toBeGreaterThanOrEqual(74)
  })

  test('stays open while each request follows within the keep-alive time', async () => {
    listenFast(echo, { keepAliveSeconds: 40 })
    const socket = await HostileSocket.open(listener.port)
    for (let times = 0; times < 5; times++) {
      socket.send(REQUEST)
      expect((await socket.answer())?.headers.get('Keep-Alive')).toBe('timeout=40')
      await Bun.sleep(15 * SECOND_MS)
    }
    socket.end()
  })

  test.each([
    ['the last response', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', null],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', 'timeout=75'],
  ])('is announced only if it applies: %s', async (_, request, promise) => {
    listenFast()
    const socket = await HostileSocket.open(listener.port)
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
    ['of chunks', 'PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npe', ''],
  ])('gets a timeout: %s', async (_, opening, drip) => {
    listenFast(echo, { requestTimeoutSeconds: 10 })
    const socket = await HostileSocket.open(listener.port)
    const start = performance.now()
    socket.send(opening)
    const dripping = setInterval(() => socket.send(drip), SECOND_MS)
    const answer = await socket.answer()
    clearInterval(dripping)
    expect(performance.now() - start).toBeGreaterThan(9 * SECOND_MS)
    expect(answer).toMatchObject({ status: 408, text: 'timeout' })
    expect(answer?.headers.get('Connection')).toBe('close')
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('has the whole timeout if an empty line after the previous body has waited for longer', async () => {
    listenFast(echo, { keepAliveSeconds: 1_000_000, requestTimeoutSeconds: 10 })
    const socket = await HostileSocket.open(listener.port)
    socket.send(`${BODY_OF_TEN}0123456789\r\n`)
    expect((await socket.answer('PATCH'))?.status).toBe(200)
    // The timeout of another client shows that the listener has counted 10 s.
    const other = await HostileSocket.open(listener.port)
    other.send(BODY_OF_TEN)
    expect((await other.answer('PATCH'))?.status).toBe(408)
    const start = performance.now()
    socket.send(`${BODY_OF_TEN}half`)
    expect((await socket.answer('PATCH'))?.status).toBe(408)
    expect(performance.now() - start).toBeGreaterThan(9 * SECOND_MS)
  })

  test('has the whole timeout again after 100 Continue', async () => {
    listenFast(
      async (request) => {
        await Bun.sleep(15 * SECOND_MS)
        return echo(request)
      },
      { requestTimeoutSeconds: 10 },
    )
    const socket = await HostileSocket.open(listener.port)
    socket.send(BODY_OF_TEN.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'))
    await Bun.sleep(20 * SECOND_MS)
    socket.send('0123456789')
    expect((await socket.answer('PATCH'))?.status).toBe(200)
    socket.end()
  })

  test('whose request is answered without its body gets no second response', async () => {
    listenFast(() => answerOf('unread'), { requestTimeoutSeconds: 5 })
    const socket = await HostileSocket.open(listener.port)
    socket.send(`${BODY_OF_TEN}half`)
    expect((await socket.answer('PATCH'))?.text).toBe('unread')
    await socket.closed
    expect(socket.received).toBe('')
  })

  test('does not limit the handler, which may take longer than the timeout of a request', async () => {
    listenFast(() => Bun.sleep(30 * SECOND_MS).then(() => answerOf('late')), { requestTimeoutSeconds: 5 })
    const socket = await HostileSocket.open(listener.port)
    socket.send(REQUEST)
    expect((await socket.answer())?.text).toBe('late')
    socket.send(`${BODY_OF_TEN}half`)
    expect((await socket.answer('PATCH'))?.text).toBe('late')
    await socket.closed
  })
})

test('an incomplete TLS handshake has the timeout of a request', async () => {
  listenFast(echo, { requestTimeoutSeconds: 10, tls: { cert: CERTIFICATE, key: PRIVATE_KEY } })
  const socket = await HostileSocket.open(listener.port)
  const seconds = await secondsUntilClosed(socket)
  expect(seconds).toBeGreaterThanOrEqual(9)
})

describe('a client that does not close after the server', () => {
  const bytes = Buffer.alloc(2_000_000, 'b')
  const TLS = { tls: { cert: CERTIFICATE, key: PRIVATE_KEY } }
  const LAST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

  test.each([
    ['plain', LAST],
    ['TLS', LAST],
    ['plain', 'nonsense\r\n\r\n'],
    ['TLS', 'nonsense\r\n\r\n'],
  ])('is not waited for, and gets all sent data: %s, %j', async (wire, sent) => {
    listenFast(() => answerOf(bytes), wire === 'TLS' ? TLS : {})
    const reader = await ByteReader.open(listener.port, wire === 'TLS' ? CERTIFICATE : undefined)
    reader.send(sent)
    await Bun.sleep(5 * SECOND_MS)
    expect(listener.load().connections).toBe(1)
    await until(() => listener.load().connections === 0)
    const { head, body } = await reader.lastAnswer()
    expect(head).toStartWith(`HTTP/1.1 ${sent === LAST ? 200 : 400} `)
    expect(body.length).toBe(sent === LAST ? bytes.length : 'malformed'.length)
  })
})

import { afterEach, describe, expect, test } from 'bun:test'
import type { Listener } from '../src/listen.ts'
import type { HttpRequest } from '../src/request.ts'
import type { BodyOutput, HttpResponse } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts'
import { until } from './until.ts'

const MAX = 3
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

let listener: Listener
afterEach(() => listener.stop(0))

/** Treats each client as authenticated. */
const echoToAuthenticated = async (request: HttpRequest): Promise<HttpResponse> => ({
  ...(await echo(request)),
  isClientAuthenticated: true,
})

const openAll = (count: number) =>
  Promise.all(Array.from({ length: count }, () => HostileSocket.open(listener.port)))

describe('connections of one address above the limit', () => {
  test('get a response and are closed; connections within the limit stay open', async () => {
    listener = listenWith(echoToAuthenticated, { maxConnectionsPerAddress: MAX })
    const within = await openAll(MAX)
    for (const socket of within) {
      socket.send(REQUEST)
      expect((await socket.answer())?.status).toBe(200)
    }
    const beyond = await HostileSocket.open(listener.port)
    beyond.send(REQUEST)
    const answer = await beyond.answer()
    expect(answer).toMatchObject({ status: 503, text: 'too_many_connections' })
    expect(answer?.headers.get('Connection')).toBe('close')
    await beyond.closed
    for (const socket of within) {
      socket.send(REQUEST)
      expect((await socket.answer())?.status).toBe(200)
      socket.end()
    }
  })

  test('get a response over TLS too', async () => {
    let isReleased = false
    listener = listenWith(() => until(() => isReleased).then(() => answerOf('late')), {
      maxConnectionsPerAddress: MAX,
      tls: { cert: CERTIFICATE, key: PRIVATE_KEY },
    })
    const within = await Promise.all(Array.from({ length: MAX }, () => ByteReader.open(listener.port, true)))
    for (const reader of within) reader.send(REQUEST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    await until(() => listener.load().requests === MAX)
    const beyond = await ByteReader.open(listener.port, true)
    expect((await beyond.lastAnswer()).head).toStartWith('HTTP/1.1 503 ')
    isReleased = true
    expect((await within[0]?.lastAnswer())?.head).toStartWith('HTTP/1.1 200 ')
    for (const reader of within) reader.leave()
  })

  test('replace the oldest idle connections that have not authenticated', async () => {
    listener = listenWith(
      (request) => (request.path === '/known' ? echoToAuthenticated(request) : echo(request)),
      {
        maxConnectionsPerAddress: MAX,
      },
    )
    const [known, answered, silent] = await openAll(MAX)
    known?.send(REQUEST.replace('/', '/known'))
    expect((await known?.answer())?.status).toBe(200)
    answered?.send(REQUEST)
    expect((await answered?.answer())?.status).toBe(200)
    for (let round = 0; round < 20; round++) {
      const socket = await HostileSocket.open(listener.port)
      socket.send(REQUEST)
      expect((await socket.answer())?.status).toBe(200)
    }
    await Promise.all([answered?.closed, silent?.closed])
    await until(() => listener.load().connections === MAX)
    known?.send(REQUEST)
    expect((await known?.answer())?.status).toBe(200)
    known?.end()
  })

  test('are accepted once other connections are idle, even if refused connections have not closed yet', async () => {
    let isReleased = false
    listener = listenWith(() => until(() => isReleased).then(() => answerOf('late')), {
      maxConnectionsPerAddress: MAX,
    })
    const busy = await openAll(MAX)
    for (const socket of busy) socket.send(REQUEST)
    await until(() => listener.load().requests === MAX)
    // A client that does not read does not notice the close, so its connection stays half open.
    const openUnread = async () => {
      const socket = await HostileSocket.open(listener.port)
      socket.stopReading()
      return socket
    }
    const refused = await Promise.all([openUnread(), openUnread()])
    await until(() => listener.load().connections === MAX + 2)
    isReleased = true
    for (const socket of busy) expect((await socket.answer())?.status).toBe(200)
    const next = await HostileSocket.open(listener.port)
    next.send(REQUEST)
    expect((await next.answer())?.status).toBe(200)
    for (const socket of [...refused, next]) socket.end()
  })

  test('never replace a connection that is sending a request or receiving a response', async () => {
    let stream: BodyOutput | undefined
    const liveBody = {
      begin: (output: BodyOutput) => {
        stream = output
        output.send(Buffer.from('first'))
      },
      onBytesSent: () => {},
      onClose: () => {},
    }
    listener = listenWith((request) => (request.path === '/live' ? answerOf(liveBody) : echo(request)), {
      maxConnectionsPerAddress: MAX,
    })
    const [slow, streaming, silent] = await openAll(MAX)
    slow?.send('GET / HT')
    streaming?.send(REQUEST.replace('/', '/live'))
    await until(() => streaming?.received.includes('first') === true)
    for (let round = 0; round < 20; round++) {
      const socket = await HostileSocket.open(listener.port)
      socket.send(REQUEST)
      expect((await socket.answer())?.status).toBe(200)
    }
    await silent?.closed
    slow?.send('TP/1.1\r\nHost: a\r\n\r\n')
    expect((await slow?.answer())?.status).toBe(200)
    stream?.send(Buffer.from('last'))
    await until(() => streaming?.received.includes('last') === true)
    slow?.end()
    streaming?.end()
  })

  test('are accepted again when other connections have ended', async () => {
    listener = listenWith(echo, { maxConnectionsPerAddress: MAX })
    for (let round = 0; round < 5; round++) {
      const sockets = await openAll(MAX)
      for (const socket of sockets) {
        socket.send(REQUEST)
        expect((await socket.answer())?.status).toBe(200)
        socket.end()
      }
      await until(() => listener.load().connections === 0)
    }
  })

  test('are dropped without a response if there are far too many', async () => {
    listener = listenWith(echoToAuthenticated, { maxConnectionsPerAddress: 1 })
    const sockets = await openAll(1)
    sockets[0]?.send(REQUEST)
    expect((await sockets[0]?.answer())?.status).toBe(200)
    // In batches, because the listener's queue is limited.
    while (sockets.length < 1_101) sockets.push(...(await openAll(Math.min(100, 1_101 - sockets.length))))
    const refused = () => sockets.filter(({ received }) => received.startsWith('HTTP/1.1 503 '))
    await until(() => refused().length >= 1_000 && listener.load().connections <= 1_001)
    for (const socket of sockets) socket.end()
  })
})

import { afterEach, describe, expect, test } from 'bun:test'
import type { Listener } from '../src/listen.ts'
import { ByteReader } from './byte-reader.ts'
import { echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { CERTIFICATE, PRIVATE_KEY } from './test-certificate.ts'
import { until } from './until.ts'

const MAX = 3
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

let listener: Listener
afterEach(() => listener.stop(0))

const openAll = (count: number) =>
  Promise.all(Array.from({ length: count }, () => HostileSocket.open(listener.port)))

describe('connections of one address beyond the limit', () => {
  test('are told so and closed; those within it go on', async () => {
    listener = listenWith(echo, { maxConnectionsPerAddress: MAX })
    const within = await openAll(MAX)
    await until(() => listener.load().connections === MAX)
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

  test('are told so over TLS too', async () => {
    listener = listenWith(echo, {
      maxConnectionsPerAddress: MAX,
      tls: { cert: CERTIFICATE, key: PRIVATE_KEY },
    })
    const within = await Promise.all(
      Array.from({ length: MAX }, () => ByteReader.open(listener.port, CERTIFICATE)),
    )
    const beyond = await ByteReader.open(listener.port, CERTIFICATE)
    expect((await beyond.lastAnswer()).head).toStartWith('HTTP/1.1 503 ')
    within[0]?.send(REQUEST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    expect((await within[0]?.lastAnswer())?.head).toStartWith('HTTP/1.1 200 ')
    for (const reader of within) reader.leave()
  })

  test('are taken again when others have ended', async () => {
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

  test('are not told any more where there are all too many', async () => {
    listener = listenWith(echo, { maxConnectionsPerAddress: 1 })
    const sockets: HostileSocket[] = []
    // In batches: more would wait for each other in the queue of the listener.
    while (sockets.length < 1_101) sockets.push(...(await openAll(Math.min(100, 1_101 - sockets.length))))
    const refused = () => sockets.filter(({ received }) => received.startsWith('HTTP/1.1 503 '))
    await until(() => refused().length >= 1_000 && listener.load().connections <= 1_001)
    for (const socket of sockets) socket.end()
  })
})

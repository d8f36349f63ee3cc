import { describe, expect, test } from 'bun:test'
import type { BodyOutput, HttpResponse, LiveBody } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { settle } from './hand-clock.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
/** Longer than a test may take: a stop that waits for it exceeds the timeout of the test. */
const LONG_GRACE_MS = 600_000

/** Starts a listener that holds each response until the test calls its function in `held`. */
function listenHeld() {
  const held: (() => void)[] = []
  const listener = listenWith(() => {
    const { promise, resolve } = Promise.withResolvers<HttpResponse>()
    held.push(() => resolve(answerOf('held')))
    return promise
  })
  return { listener, held }
}

class CountedBody implements LiveBody {
  output: BodyOutput | undefined
  closes = 0

  begin(output: BodyOutput): void {
    this.output = output
  }
  onBytesSent(): void {}
  onClose(): void {
    this.closes++
  }
}

describe('stopping a listener', () => {
  test('closes idle connections, with and without earlier requests, and accepts no new connections', async () => {
    const listener = listenWith(() => answerOf('at once'), { secondMs: 50 })
    const [fresh, used] = [await HostileSocket.open(listener.port), await HostileSocket.open(listener.port)]
    used.send(REQUEST)
    expect((await used.answer())?.headers.has('Connection')).toBe(false)
    expect(listener.load()).toEqual({ connections: 2, requests: 0 })
    await listener.stop(LONG_GRACE_MS)
    await Promise.all([fresh.closed, used.closed])
    expect(fresh.received + used.received).toBe('')
    await expect(HostileSocket.open(listener.port)).rejects.toThrow()
  })

  test('waits for the pending request, whose response says Connection: close', async () => {
    const { listener, held } = listenHeld()
    const socket = await HostileSocket.open(listener.port)
    // The second request is ignored: the response to the first request says `Connection: close`.
    socket.send(REQUEST + REQUEST)
    await until(() => held.length > 0)
    expect(listener.load()).toEqual({ connections: 1, requests: 1 })
    let isStopped = false
    const stopping = listener.stop(LONG_GRACE_MS).then(() => {
      isStopped = true
    })
    await expect(HostileSocket.open(listener.port)).rejects.toThrow()
    expect([isStopped, socket.isClosed]).toEqual([false, false])
    held[0]?.()
    const answer = await socket.answer()
    expect(answer?.text).toBe('held')
    expect(answer?.headers.get('Connection')).toBe('close')
    await socket.closed
    socket.end()
    await stopping
    expect(held).toHaveLength(1)
    expect(socket.received).toBe('')
  })

  test('answers a request that was on its way, and a request that had arrived in part', async () => {
    const listener = listenWith(() => answerOf('at once'), { secondMs: LONG_GRACE_MS })
    const [idle, begun] = [await HostileSocket.open(listener.port), await HostileSocket.open(listener.port)]
    begun.send(REQUEST.slice(0, 20))
    await settle(listener)
    const stopping = listener.stop(LONG_GRACE_MS)
    idle.send(REQUEST)
    expect((await idle.answer())?.headers.get('Connection')).toBe('close')
    begun.send(REQUEST.slice(20))
    expect((await begun.answer())?.headers.get('Connection')).toBe('close')
    await stopping
  })

  test('leaves idle connections open for a second, because a request may be on its way', async () => {
    // Longer than the test: the stop ends with the last response.
    const listener = listenWith(() => answerOf('at once'), { secondMs: LONG_GRACE_MS })
    const sockets = await Promise.all(Array.from({ length: 8 }, () => HostileSocket.open(listener.port)))
    const stopping = listener.stop(LONG_GRACE_MS)
    // A proxy also sends its next request over a connection that was idle until then.
    for (const socket of sockets) {
      socket.send(REQUEST)
      expect((await socket.answer())?.headers.get('Connection')).toBe('close')
    }
    await stopping
  })

  test('drops the remaining connections after the grace time', async () => {
    const { listener, held } = listenHeld()
    const sockets = await Promise.all(Array.from({ length: 3 }, () => HostileSocket.open(listener.port)))
    sockets[0]?.send(REQUEST)
    sockets[1]?.send(REQUEST.slice(0, 20))
    sockets[2]?.send(REQUEST.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nhalf'))
    await until(() => held.length === 2)
    const start = performance.now()
    await listener.stop(150)
    expect(performance.now() - start).toBeGreaterThan(140)
    await Promise.all(sockets.map(({ closed }) => closed))
    expect(sockets.map(({ received }) => received)).toEqual(['', '', ''])
    // Responses to clients that have left must do no harm.
    for (const release of held) release()
    await Bun.sleep(0)
  })

  test('waits for a large response in progress, and then ends', async () => {
    const bytes = Buffer.alloc(20 * 1024 * 1024)
    const listener = listenWith(() => answerOf(bytes))
    const reader = await ByteReader.open(listener.port)
    reader.send(REQUEST)
    await until(() => listener.load().requests === 1)
    const stopping = listener.stop(LONG_GRACE_MS)
    const [received] = await Promise.all([reader.rest(), stopping])
    expect(received.length).toBeGreaterThan(bytes.length)
  })

  test('waits for a live body in progress, and then ends', async () => {
    const body = new CountedBody()
    const listener = listenWith(() => answerOf(body))
    const socket = await HostileSocket.open(listener.port)
    socket.send(REQUEST)
    await until(() => body.output !== undefined)
    const stopping = listener.stop(LONG_GRACE_MS)
    body.output?.send(Buffer.from('last words'))
    body.output?.end()
    expect((await socket.answer())?.text).toBe('last words')
    await Promise.all([socket.closed, stopping])
  })

  test('notifies live bodies once when their connections are dropped', async () => {
    const body = new CountedBody()
    const listener = listenWith(() => answerOf(body))
    const socket = await HostileSocket.open(listener.port)
    socket.send(REQUEST)
    await until(() => body.output !== undefined)
    const stopping = listener.stop(LONG_GRACE_MS)
    body.output?.send(Buffer.from('still there'))
    await until(() => socket.received.includes('still there'))
    expect(body.closes).toBe(0)
    // A second stop without grace time.
    await Promise.all([listener.stop(0), stopping])
    await socket.closed
    expect(body.closes).toBe(1)
  })
})

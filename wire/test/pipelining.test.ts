import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { HttpRequest } from '../src/request.ts'
import type { HttpResponse } from '../src/response.ts'
import { ByteReader } from './byte-reader.ts'
import { answerOf, type Echo, echo, echoOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { cutSequence, type SentRequest } from './request-sequences.ts'

const echoing = listenWith(echo)
afterAll(() => echoing.stop(0))

async function expectEchoes(socket: HostileSocket, requests: readonly SentRequest[]): Promise<void> {
  for (const { method, path, query, body } of requests) {
    const answer = await socket.answer(method)
    expect(answer?.status).toBe(200)
    if (method === 'HEAD') continue
    const { headers, ...seen } = JSON.parse(answer?.text ?? '') as Echo
    expect(seen).toEqual({ method, path, query, body: body.toString('base64') })
    expect(headers.host).toBe('a')
  }
}

describe('pipelined requests', () => {
  test('are echoed in order, however they are split', async () => {
    await fc.assert(
      fc.asyncProperty(cutSequence, async ({ requests, pieces }) => {
        const socket = await HostileSocket.open(echoing.port)
        for (const piece of pieces) {
          socket.send(piece)
          // Lets the server read each piece on its own.
          await new Promise(setImmediate)
        }
        await expectEchoes(socket, requests)
        expect(socket.received).toBe('')
        expect(socket.isClosed).toBe(false)
        socket.end()
      }),
      { numRuns: 150 },
    )
  })
})

describe('synchronous and asynchronous handlers', () => {
  const HANDLERS: Readonly<Record<string, (request: HttpRequest) => HttpResponse | Promise<HttpResponse>>> = {
    '/at-once': (request) => echoOf(request, Buffer.alloc(0)),
    '/next-turn': async (request) => echoOf(request, Buffer.alloc(0)),
    '/in-3-ms': async (request) => {
      await Bun.sleep(3)
      return echoOf(request, Buffer.alloc(0))
    },
    '/in-parts': () => answerOf(Array.from({ length: 4 }, () => Buffer.alloc(100_000, 'p'))),
    '/after-the-body': echo,
  }
  let activeHandlers = 0
  let maxActiveHandlers = 0
  const mixed = listenWith((request) => {
    maxActiveHandlers = Math.max(maxActiveHandlers, ++activeHandlers)
    const answer = (HANDLERS[request.path] ?? echo)(request)
    if (answer instanceof Promise) return answer.finally(() => activeHandlers--)
    activeHandlers--
    return answer
  })
  afterAll(() => mixed.stop(0))

  test('are answered in request order, one at a time', async () => {
    const path = fc.constantFrom(...Object.keys(HANDLERS))
    await fc.assert(
      fc.asyncProperty(fc.array(path, { minLength: 2, maxLength: 12 }), async (paths) => {
        const socket = await HostileSocket.open(mixed.port)
        const targets = paths.map((path, index) => `${path}?${index}`)
        socket.send(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
        for (const target of targets) {
          const text = (await socket.answer())?.text ?? ''
          if (target.startsWith('/in-parts')) expect(text).toBe('p'.repeat(400_000))
          else expect(JSON.parse(text)).toMatchObject({ query: target.split('?')[1] })
        }
        socket.end()
      }),
      { numRuns: 25 },
    )
    expect(maxActiveHandlers).toBe(1)
  })

  test('continue after the socket was paused because of too many unread bytes', async () => {
    const reader = await ByteReader.open(mixed.port)
    const rest = reader.rest()
    const padding = `X-Long: ${'l'.repeat(1_000)}\r\n`
    const targets = Array.from({ length: 3_000 }, (_, index) =>
      index % 100 === 0 ? `/in-3-ms?${index}` : `/at-once?${index}`,
    )
    reader.send(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${padding}\r\n`).join(''))
    reader.send('GET /at-once?last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    const seen = [...(await rest).toString('latin1').matchAll(/"path":"([^"]*)","query":"([^"]*)"/g)].map(
      ([, path, query]) => `${path}?${query}`,
    )
    expect(seen).toEqual([...targets, '/at-once?last'])
  })

  test('whose live bodies end at once do not overflow the stack', async () => {
    const quick = listenWith(() =>
      answerOf({ begin: (output) => output.end(), onBytesSent: () => {}, onClose: () => {} }),
    )
    const reader = await ByteReader.open(quick.port)
    const rest = reader.rest()
    reader.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(8_000))
    reader.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect((await rest).toString('latin1').match(/HTTP\/1\.1 200/g)).toHaveLength(8_001)
    await quick.stop(0)
  })

  test('stop reading from the network while many bytes are unread', async () => {
    const holding = listenWith(() => new Promise<HttpResponse>(() => {}))
    const socket = await HostileSocket.open(holding.port)
    const megabyte = Buffer.from(
      `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'l'.repeat(962)}\r\n\r\n`.repeat(1_000),
    )
    let isAllSent = false
    const sending = socket.sendAll(megabyte, 12).then(() => {
      isAllSent = true
    })
    await Bun.sleep(250)
    expect(isAllSent).toBe(false)
    await holding.stop(0)
    await sending
  })
})

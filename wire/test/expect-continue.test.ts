import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { answerOf, type Echo, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const GO_ON = 'HTTP/1.1 100 Continue\r\n\r\n'
const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n'

const paths: string[] = []
beforeEach(() => void paths.splice(0))
const listener = listenWith(async (request) => {
  paths.push(request.path)
  if (request.path === '/unread') return answerOf('unread')
  if (request.path === '/read-later') await Bun.sleep(5)
  if (request.path === '/read-twice') void request.body()
  return echo(request)
})
afterAll(() => listener.stop(0))

const head = (target: string, framing: string, expectation = '100-continue') =>
  `PATCH ${target} HTTP/1.1\r\nHost: a\r\nExpect: ${expectation}\r\n${framing}\r\n\r\n`

const bodyIn = (text: string | undefined) =>
  Buffer.from((JSON.parse(text ?? '{}') as Echo).body, 'base64').toString()

describe('a client that expects 100 Continue', () => {
  test.each([
    ['of known length', '/read', 'Content-Length: 4', 'pets', '100-continue'],
    ['in chunks', '/read', 'Transfer-Encoding: chunked', '4\r\npets\r\n0\r\n\r\n', '100-continue'],
    ['read later', '/read-later', 'Content-Length: 4', 'pets', '100-continue'],
    ['read twice', '/read-twice', 'Content-Length: 4', 'pets', '100-continue'],
    ['with the expectation in capitals', '/read', 'Content-Length: 4', 'pets', '100-Continue'],
  ])('gets it once, when the body is read: %s', async (_, target, framing, body, expectation) => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(head(target, framing, expectation))
    await until(() => socket.received !== '')
    expect(socket.received).toBe(GO_ON)
    socket.send(body + NEXT)
    const answer = await socket.answer('PATCH')
    expect(bodyIn(answer?.text)).toBe('pets')
    expect(answer?.headers.has('Connection')).toBe(false)
    expect((await socket.answer())?.text).toContain('/next')
    socket.end()
  })

  test.each([
    ['is not read', '/unread', NEXT.length, 'unread'],
    ['would be too large', '/read', 65_537, 'too_large'],
  ])('does not get it, and is closed after the answer, if the body %s', async (_, target, length, text) => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(head(target, `Content-Length: ${length}`))
    await until(() => socket.received.endsWith(text))
    expect(socket.received).not.toContain(GO_ON)
    // The next bytes may be the body or, if the client gave up, the next request, so they are ignored.
    socket.send(NEXT)
    const answer = await socket.answer('PATCH')
    expect(answer?.headers.get('Connection')).toBe('close')
    await socket.closed
    expect(socket.received).toBe('')
    expect(paths).toEqual([target])
  })

  test.each([
    ['the body has arrived', 'Content-Length: 4', 'pets'],
    ['the request has no body', 'Content-Length: 0', ''],
  ])('does not get it if %s, and the connection stays open', async (_, framing, body) => {
    for (const target of ['/read', '/unread']) {
      const socket = await HostileSocket.open(listener.port)
      socket.send(head(target, framing) + body)
      await until(() => socket.received !== '')
      expect(socket.received).toStartWith('HTTP/1.1 200 OK\r\n')
      expect((await socket.answer('PATCH'))?.headers.has('Connection')).toBe(false)
      socket.send(NEXT)
      expect((await socket.answer())?.text).toContain('/next')
      socket.end()
    }
  })

  test.each([
    ['another expectation', head('/read', 'Content-Length: 4', 'miracles')],
    ['HTTP/1.0', head('/read', 'Content-Length: 4').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('does not get it if it is not supported: %s', async (_, text) => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(text)
    await until(() => paths.length > 0)
    await Bun.sleep(5)
    expect(socket.received).toBe('')
    socket.send('pets')
    expect(bodyIn((await socket.answer('PATCH'))?.text)).toBe('pets')
    socket.end()
  })
})

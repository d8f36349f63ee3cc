import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  type Mock,
  spyOn,
  test,
} from 'bun:test'
import type { Listener } from '../src/listen.ts'
import type { BodyOutput, HttpResponse } from '../src/response.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'
import { until } from './until.ts'

const bug = new Error('a bug of the handler')

/** Together, the parts are larger than the bytes that the writer sends in one turn. */
const MANY_PARTS = 10
const PART = Buffer.alloc(100_000)

let output: BodyOutput | undefined
const begin = (given: BodyOutput) => {
  output = given
}

let listener: Listener
const held: (() => void)[] = []
beforeAll(() => {
  listener = listenWith(({ path }) => {
    if (path === '/throws') throw bug
    if (path === '/rejects') return Promise.reject(bug)
    if (path === '/rejects-later') return Bun.sleep(5).then(() => Promise.reject(bug))
    if (path === '/breaks-in-its-body') return answerOf(brokenParts(1))
    if (path === '/breaks-late') return answerOf(brokenParts(MANY_PARTS))
    if (path === '/parts') return answerOf(Array.from({ length: MANY_PARTS }, () => PART))
    if (path === '/live') return answerOf({ begin, onBytesSent: () => {}, onClose: () => {} })
    if (path !== '/held') return answerOf('fine')
    const { promise, resolve } = Promise.withResolvers<HttpResponse>()
    held.push(() => resolve(answerOf('held')))
    return promise
  })
})
afterAll(() => listener.stop(0))

function* brokenParts(whole: number) {
  for (let made = 0; made < whole; made++) yield PART
  throw bug
}

/** Records the errors for the operator, instead of printing them. */
let consoleError: Mock<typeof console.error>
beforeEach(() => {
  consoleError = spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => consoleError.mockRestore())

const request = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`

describe('a handler that fails', () => {
  test.each(['/throws', '/rejects', '/rejects-later', '/breaks-in-its-body', '/breaks-late'])(
    'closes only that connection: %s',
    async (target) => {
      const other = await HostileSocket.open(listener.port)
      other.send(request('/held'))
      await until(() => held.length > 0)

      const failing = await HostileSocket.open(listener.port)
      failing.send(request(target) + request('/fine'))
      expect(await failing.answer()).toBeUndefined()
      await failing.closed
      expect(failing.received).not.toContain('fine')
      expect(consoleError.mock.calls.map((call) => call.at(-1))).toEqual([bug])

      held.pop()?.()
      expect((await other.answer())?.text).toBe('held')
      other.send(request('/fine'))
      expect((await other.answer())?.text).toBe('fine')
      other.end()
      const later = await HostileSocket.open(listener.port)
      later.send(request('/fine'))
      expect((await later.answer())?.text).toBe('fine')
      later.end()
    },
  )

  test.each([
    ['a body in parts that took several turns', '/parts'],
    ['a delayed answer', '/held'],
  ])('fails after %s', async (_, target) => {
    const socket = await HostileSocket.open(listener.port)
    socket.send(request(target) + request('/throws') + request('/fine'))
    if (target === '/held') await until(() => held.length > 0)
    held.pop()?.()
    await socket.closed
    expect(socket.received).not.toContain('fine')
    expect(consoleError.mock.calls.map((call) => call.at(-1))).toEqual([bug])
  })

  test('fails after a live body, without an exception for the code that ends it', async () => {
    const socket = await HostileSocket.open(listener.port)
    output = undefined
    socket.send(request('/live') + request('/throws') + request('/fine'))
    await until(() => output !== undefined)
    expect(() => output?.end()).not.toThrow()
    await socket.closed
    expect(socket.received).not.toContain('fine')
    expect(consoleError.mock.calls.map((call) => call.at(-1))).toEqual([bug])
  })
})

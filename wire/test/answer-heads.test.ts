import { afterAll, describe, expect, test } from 'bun:test'
import { type HttpResponse, headerLines } from '../src/response.ts'
import { answerOf, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'

const BODIES: Readonly<Record<string, HttpResponse['body']>> = {
  '/text': 'Zoë',
  '/bytes': Buffer.alloc(100_000, 'b'),
  '/none': null,
  '/parts': [Buffer.from('parts')],
}
const PLAIN: HttpResponse = {
  status: 200,
  lines: headerLines({ 'X-Own': 'kept', ETag: '"1"' }),
  body: 'plain',
}

const listener = listenWith(({ path }) => {
  if (path === '/204' || path === '/304') return { ...PLAIN, status: Number(path.slice(1)), body: null }
  if (path === '/599') return { ...PLAIN, status: 599 }
  return path in BODIES ? answerOf(BODIES[path] ?? null) : PLAIN
})
afterAll(() => listener.stop(0))

/** Returns the response, and checks that the next response follows directly. */
async function answerTo(method: string, target: string) {
  const socket = await HostileSocket.open(listener.port)
  socket.send(`${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`)
  const answer = await socket.answer(method)
  expect((await socket.answer())?.text).toBe('plain')
  expect(socket.received).toBe('')
  socket.end()
  return answer
}

describe('a response', () => {
  test.each([
    ['/text', '4'],
    ['/bytes', '100000'],
    ['/none', '0'],
  ])('to HEAD has the length of the body and no body: %s', async (target, length) => {
    for (const method of ['HEAD', 'GET']) {
      expect((await answerTo(method, target))?.headers.get('Content-Length')).toBe(length)
    }
  })

  test('to HEAD has the headers of a body of unknown length, and no body', async () => {
    const headers = (await answerTo('HEAD', '/parts'))?.headers
    expect(headers?.get('Transfer-Encoding')).toBe('chunked')
    expect(headers?.has('Content-Length')).toBe(false)
  })

  test.each([
    [204, 'GET'],
    [304, 'GET'],
    [304, 'HEAD'],
  ])('of %d to %s has neither a body nor a length', async (status, method) => {
    const answer = await answerTo(method, `/${status}`)
    expect(answer?.status).toBe(status)
    expect(answer?.headers.has('Content-Length')).toBe(false)
    expect(answer?.headers.has('Transfer-Encoding')).toBe(false)
    expect(answer?.headers.get('ETag')).toBe('"1"')
  })

  test('has its own headers and the date', async () => {
    const before = Date.now()
    const headers = (await answerTo('GET', '/plain'))?.headers
    expect(headers?.get('X-Own')).toBe('kept')
    const date = headers?.get('Date') ?? ''
    expect(new Date(date).toUTCString()).toBe(date)
    expect(Date.parse(date)).toBeGreaterThanOrEqual(before - 1_000)
  })

  test('may have a status without a reason phrase', async () => {
    expect(await answerTo('GET', '/599')).toMatchObject({ status: 599, text: 'plain' })
  })
})

describe('header lines', () => {
  test('have one line per header, in order', () => {
    expect(headerLines({ 'X-B': 'a\tb ~', 'X-A': '' })).toBe('X-B: a\tb ~\r\nX-A: \r\n')
    expect(headerLines({})).toBe('')
  })

  test.each(['a\r\nSet-Cookie: b', 'a\rb', 'a\nb', '\n', 'a\0b', '\x7f', 'Zoë', '\u{1f436}', 'a\u010ab'])(
    'reject a value that is not one line of ASCII: %j',
    (value) => {
      expect(() => headerLines({ 'X-Fine': 'fine', 'X-Bad': value })).toThrow('X-Bad')
    },
  )
})

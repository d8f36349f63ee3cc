import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Echo, echo, listenWith } from './echo-server.ts'
import { HostileSocket } from './hostile-socket.ts'

const listener = listenWith(echo)
afterAll(() => listener.stop(0))

async function responseTo(text: string): Promise<string | undefined> {
  const socket = await HostileSocket.open(listener.port)
  socket.send(text)
  const answer = await socket.answer()
  socket.end()
  return answer?.text
}

const echoTo = async (text: string) => JSON.parse((await responseTo(text)) ?? '') as Echo

const echoOfLines = async (...lines: string[]) =>
  (await echoTo(`GET / HTTP/1.1\r\n${['Host: a', ...lines].map((line) => `${line}\r\n`).join('')}\r\n`))
    .headers

describe('the head of a request', () => {
  test.each([
    ['/', '/', ''],
    ['/?', '/', ''],
    ['/a%20b?c=%zz&d=[]|{}', '/a%20b', 'c=%zz&d=[]|{}'],
    ['//two?a?b', '//two', 'a?b'],
    ['/a/../b', '/a/../b', ''],
    ['http://petstore.test/v1/inventory?limit=2', '/v1/inventory', 'limit=2'],
    ['http://petstore.test/v1/inventory', '/v1/inventory', ''],
    ['HTTPS://petstore.test:8443', '/', ''],
    ['http://petstore.test?a', '/', 'a'],
  ])('has a path and a query, with or without a host: %s', async (target, path, query) => {
    expect(await echoTo(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatchObject({
      method: 'GET',
      path,
      query,
    })
  })

  test.each(['GET', 'DELETE', 'OPTIONS', 'TRACE', 'M-SEARCH', 'get', 'x', "!#$%&'*+-.^_`|~09azAZ"])(
    'may have any method: %s',
    async (method) => {
      expect(await echoTo(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatchObject({ method, path: '/' })
    },
  )

  test.each(['X-One', 'x-one', 'X-ONE', 'x-oNe'])('has case-insensitive names: %s', async (name) => {
    expect(await echoOfLines(`${name}: 1`)).toMatchObject({ 'x-one': '1', 'x-two': null })
  })

  test('joins the values of a repeated header, in order', async () => {
    expect(await echoOfLines('X-One: b', 'X-Two: x', 'x-one: a, c', 'X-ONE:')).toMatchObject({
      'x-one': 'b, a, c, ',
      'x-two': 'x',
    })
  })

  test.each([
    ['X-One:tight', 'tight'],
    ['X-One: \t  wide \t ', 'wide'],
    ['X-One:', ''],
    ['X-One: \t ', ''],
    ['X-One: a \t b', 'a \t b'],
    ['X-One: http://a:80/', 'http://a:80/'],
    ['X-One: Zo\xeb', 'Zoë'],
  ])('has values without surrounding spaces: %j', async (line, value) => {
    expect((await echoOfLines(line))['x-one']).toBe(value)
  })

  test.each([
    'a',
    'A.test',
    'a:80',
    'a:',
    '127.0.0.1:8080',
    '[::1]',
    '[2001:db8::1]:443',
    'a_b',
    'caf%C3%A9',
    '',
  ])('has a Host that is a name or an address, with or without a port: %j', async (host) => {
    expect((await echoTo(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).headers.host).toBe(host)
  })

  test('has up to 100 headers', async () => {
    const lines = Array.from({ length: 98 }, (_, index) => `X-${index}: ${index}`)
    expect((await echoOfLines(...lines, 'X-One: last'))['x-one']).toBe('last')
  })
})

/** Similar requests, which differ only in a header or in the length of the body. */
const BLOCKS = [
  { lines: ['Host: a'], body: '' },
  { lines: ['Host: b'], body: '' },
  { lines: ['Host: a', 'X-One: 1'], body: '' },
  { lines: ['Host: a', 'X-One: 2'], body: '' },
  { lines: ['Host: a', 'X-Two: 1'], body: '' },
  { lines: ['Host: a', 'Content-Length: 3'], body: 'pet' },
  { lines: ['Host: a', 'Content-Length: 4'], body: 'pets' },
  { lines: ['Host: a', 'Transfer-Encoding: chunked'], body: 'pets' },
]

function onTheWire({ lines, body }: (typeof BLOCKS)[number]): string {
  const sent = lines.includes('Transfer-Encoding: chunked') ? `4\r\n${body}\r\n0\r\n\r\n` : body
  return `PATCH / HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${sent}`
}

describe('a head is refused', () => {
  test.each([
    'user@a',
    'user:pass@a',
    'a b',
    'a/path',
    'a?query',
    'a#part',
    'http://a',
    'a:b',
    'a:80b',
    'a:65536',
    'a:80:80',
    '::1',
    '[a.test]',
    '[::1',
    'a%zz',
    'caf\xe9',
    'a, a',
  ])('with the Host %j', async (host) => {
    expect(await responseTo(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toBe('malformed')
    expect(await responseTo(`GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`)).toBe('malformed')
  })

  test.each(['http://user@a/', 'http://a:b/', 'http://a:65536/'])('with the target %s', async (target) => {
    expect(await responseTo(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)).toBe('malformed')
  })

  test.each([
    ['line feeds alone', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['one line feed alone', 'GET / HTTP/1.1\nHost: a\r\n'],
    ['a carriage return alone', 'GET / HTTP/1.1\r\nX-One: a\rX-Two: b'],
  ])('at once, although its end is missing: %s', async (_, text) => {
    expect(await responseTo(text)).toBe('malformed')
  })
})

describe('a chunk is refused', () => {
  test.each([';', ';;', '; ', ';=b', ';a=', ';a b', ';a="b', ';a=b"c"', ';a=\x01', ' ', '; a;', ';a,b'])(
    'with the extension %j',
    async (extension) => {
      const head = 'PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
      expect(await responseTo(`${head}4${extension}\r\npets\r\n0\r\n\r\n`)).toBe('malformed')
    },
  )

  test.each([
    ['that is longer than its size', 'PATCH / HTTP/1.1\r\nHost: a', '4\r\npetshop\r\n0\r\n\r\n'],
    ['over HTTP/1.0', 'PATCH / HTTP/1.0', '4\r\npets\r\n0\r\n\r\n'],
  ])('%s', async (_, head, body) => {
    expect(await responseTo(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)).toBe('malformed')
  })
})

describe('repeated headers of one connection', () => {
  test('are never replaced by the headers of the previous request', async () => {
    const socket = await HostileSocket.open(listener.port)
    const blocks = fc.array(fc.constantFrom(...BLOCKS), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(blocks, async (sequence) => {
        socket.send(sequence.map(onTheWire).join(''))
        for (const { lines, body } of sequence) {
          const seen = JSON.parse((await socket.answer())?.text ?? '') as Echo
          const sentAs = (name: string) =>
            lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
          expect(seen).toMatchObject({
            headers: {
              host: sentAs('Host'),
              'x-one': sentAs('X-One'),
              'x-two': sentAs('X-Two'),
              'content-length': sentAs('Content-Length'),
            },
            body: Buffer.from(body).toString('base64'),
          })
        }
      }),
      { numRuns: 60 },
    )
    socket.end()
  })

  test('are interpreted by the HTTP version of the current request', async () => {
    const socket = await HostileSocket.open(listener.port)
    const request = (version: string) => `GET / HTTP/${version}\r\nHost: a\r\n\r\n`
    socket.send(request('1.1') + request('1.1') + request('1.0') + request('1.1'))
    const responses = [await socket.answer(), await socket.answer(), await socket.answer()]
    expect(responses.map((answer) => answer?.headers.get('Connection'))).toEqual([null, null, 'close'])
    await socket.closed
    expect(socket.received).toBe('')
  })
})

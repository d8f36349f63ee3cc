/** A request that a strict parser must reject; `text` has one character per byte. */
export interface MalformedRequest {
  readonly name: string
  readonly text: string
}

const HOST = 'Host: petstore.test\r\n'

/** A request that would change the stock if it were ever parsed. */
export function smuggledUpdate(key: string): string {
  return [
    'PATCH /v1/inventory/1 HTTP/1.1',
    'Host: petstore.test',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Content-Length: 16',
    '',
    '{"quantity":666}',
  ].join('\r\n')
}

/** Two parsers could disagree about the end of these requests. A second request is smuggled into the difference. */
export function conflictingRequests(key: string): readonly MalformedRequest[] {
  const smuggled = smuggledUpdate(key)
  const update = (lines: readonly string[], body: string) =>
    `PATCH /v1/inventory/2 HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}${smuggled}`
  const framed = (name: string, ...lines: string[]) => ({ name, text: update(lines, '0\r\n\r\n') })
  const chunked = (name: string, body: string) => ({
    name,
    text: update(['Transfer-Encoding: chunked'], body),
  })
  const long = String(5 + smuggled.length)
  return [
    framed('Content-Length before Transfer-Encoding', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    framed(
      'Transfer-Encoding before Content-Length',
      'Transfer-Encoding: chunked',
      `Content-Length: ${long}`,
    ),
    framed('two Content-Lengths, the short one first', 'Content-Length: 5', `Content-Length: ${long}`),
    framed('two Content-Lengths, the long one first', `Content-Length: ${long}`, 'Content-Length: 5'),
    framed('a list of Content-Lengths', `Content-Length: 5, ${long}`),
    framed('a Content-Length with a sign', 'Content-Length: +5'),
    framed('a negative Content-Length', 'Content-Length: -5'),
    framed('a hexadecimal Content-Length', 'Content-Length: 0x5'),
    framed('an empty Content-Length', 'Content-Length:'),
    framed('a Content-Length beyond 64 bits', 'Content-Length: 99999999999999999999999'),
    framed('a blank before the colon of Content-Length', 'Content-Length : 5'),
    framed(
      'a blank before the colon of Transfer-Encoding',
      'Content-Length: 5',
      'Transfer-Encoding : chunked',
    ),
    framed('an unknown coding', 'Transfer-Encoding: xchunked'),
    framed('chunked after another coding', 'Transfer-Encoding: gzip, chunked'),
    framed('chunked before another coding', 'Transfer-Encoding: chunked, gzip'),
    framed('chunked twice', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    framed('identity beside Content-Length', 'Transfer-Encoding: identity', 'Content-Length: 5'),
    framed('chunked, then identity', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'),
    framed('identity, then chunked', 'Transfer-Encoding: identity', 'Transfer-Encoding: chunked'),
    framed('a control character in the coding', 'Transfer-Encoding: \x0bchunked', 'Content-Length: 5'),
    framed('a coding on a folded line', 'Transfer-Encoding:\r\n chunked'),
    {
      name: 'chunked in HTTP/1.0',
      text: update(['Transfer-Encoding: chunked'], '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    },
    chunked('a chunk size that is no number', 'zz\r\nab\r\n0\r\n\r\n'),
    chunked('a chunk size with a prefix', '0x2\r\nab\r\n0\r\n\r\n'),
    chunked('a negative chunk size', '-1\r\nab\r\n0\r\n\r\n'),
    chunked('a chunk size beyond 64 bits', '10000000000000002\r\nab\r\n0\r\n\r\n'),
    chunked('an unfinished chunk extension', '2;a="\r\nab\r\n0\r\n\r\n'),
    chunked('a chunk size and a blank', '2 \r\nab\r\n0\r\n\r\n'),
    chunked('a line feed in a chunk extension', '2;\nxx\r\n0\r\n\r\n'),
    chunked('chunk lines that end in a line feed', '2\nab\n0\n\n'),
    chunked('a chunk longer than its size', '2\r\nabXX0\r\n\r\n'),
    chunked('a request in the place of the trailers', '2\r\nab\r\n0\r\n'),
    chunked('a trailer in front of a request', '2\r\nab\r\n0\r\nX-Trailer: a\r\n'),
  ]
}

/** Texts that are not HTTP/1.1 requests, or are too large. */
export function malformedRequests(key: string): readonly MalformedRequest[] {
  const headed = (name: string, lines: string) => ({
    name,
    text: `GET /v1/inventory HTTP/1.1\r\n${lines}\r\n${smuggledUpdate(key)}`,
  })
  const lined = (name: string, line: string) => ({
    name,
    text: `${line}\r\n${HOST}\r\n${smuggledUpdate(key)}`,
  })
  return [
    headed('no Host', ''),
    headed('a Host with a user', 'Host: user@petstore.test\r\n'),
    headed('a Host with a path', 'Host: petstore.test/v1\r\n'),
    headed('a Host with a wrong port', 'Host: petstore.test:http\r\n'),
    headed('two Hosts', `${HOST}${HOST}`),
    headed('a bare line feed between headers', `${HOST}X-A: a\nX-B: b\r\n`),
    headed('a bare carriage return in a header', `${HOST}X-A: a\rX-B: b\r\n`),
    headed('a NUL in a header', `${HOST}X-A: a\0b\r\n`),
    headed('a blank in a header name', `${HOST}X A: a\r\n`),
    headed('a header without a colon', `${HOST}X-A\r\n`),
    headed('a header without a name', `${HOST}: a\r\n`),
    headed('a folded header', `${HOST}X-A: a\r\n b\r\n`),
    headed('a header of 20 KB', `${HOST}X-A: ${'a'.repeat(20_000)}\r\n`),
    headed('1,000 headers', `${HOST}${'X-A: a\r\n'.repeat(1_000)}`),
    lined('a path of 20 KB', `GET /${'a'.repeat(20_000)} HTTP/1.1`),
    lined('HTTP/0.9', 'GET /v1/inventory'),
    lined('HTTP/2.0', 'GET /v1/inventory HTTP/2.0'),
    lined('two blanks', 'GET  /v1/inventory HTTP/1.1'),
    lined('a blank in the path', 'GET /v1/inv entory HTTP/1.1'),
    lined('a path beyond ASCII', 'GET /v1/caf\xe9 HTTP/1.1'),
    lined('no slash', 'GET inventory HTTP/1.1'),
    lined('an asterisk', 'GET * HTTP/1.1'),
    { name: 'line feeds alone, without an end', text: 'GET /v1/inventory HTTP/1.1\nHost: a\n\n' },
    { name: 'line feeds alone', text: `GET /v1/inventory HTTP/1.1\nHost: a\n\n${smuggledUpdate(key)}` },
    { name: 'two empty lines first', text: `\r\n\r\nGET /v1/inventory HTTP/1.1\r\n${HOST}\r\n` },
    { name: 'the preface of HTTP/2', text: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
    { name: 'a TLS handshake', text: `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'A'.repeat(600)}` },
    { name: 'bytes of no meaning', text: '\x00\xff\xfe\x80 \x01\r\n\r\n' },
  ]
}

/** Requests that are answered before their body arrives, or ignore it: it contains a smuggled request. */
export function requestsWithUnreadBodies(key: string): readonly (MalformedRequest & { method: string })[] {
  const smuggled = smuggledUpdate(key)
  const large = `${' '.repeat(100_000)}${smuggled}`
  const request = (method: string, path: string, sentKey: string, body: string) =>
    `${method} ${path} HTTP/1.1\r\n${HOST}Authorization: Bearer ${sentKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const inChunks = (body: string) =>
    `PATCH /v1/inventory/2 HTTP/1.1\r\n${HOST}Authorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  return [
    { name: 'a GET with a body', method: 'GET', text: request('GET', '/v1/inventory', key, smuggled) },
    { name: 'a HEAD with a body', method: 'HEAD', text: request('HEAD', '/v1/inventory', key, smuggled) },
    { name: 'a page with a body', method: 'GET', text: request('GET', '/healthz', key, smuggled) },
    { name: 'no such path', method: 'POST', text: request('POST', '/v1/x', key, smuggled) },
    { name: 'no such method', method: 'PUT', text: request('PUT', '/v1/inventory', key, smuggled) },
    { name: 'no valid key', method: 'PATCH', text: request('PATCH', '/v1/inventory/2', 'x', smuggled) },
    { name: 'a body too large', method: 'PATCH', text: request('PATCH', '/v1/inventory/2', key, large) },
    { name: 'chunks too large', method: 'PATCH', text: inChunks(large) },
    { name: 'a wrong id', method: 'PATCH', text: request('PATCH', '/v1/inventory/x', key, smuggled) },
  ]
}

import fc from 'fast-check'

/** A request as bytes, and as the handler should receive it. */
export interface SentRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: Buffer
  readonly bytes: Buffer
}

/** Random bytes, some of which look like the end of a body or like another request. */
const body = fc.oneof(
  { weight: 4, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('', '\r\n', '\r\n\r\n', '0\r\n\r\n', 'GET /smuggled HTTP/1.1\r\nHost: b\r\n\r\n')
      .map((text) => Buffer.from(text)),
  },
  { weight: 1, arbitrary: fc.nat({ max: 40_000 }).map((size) => Buffer.alloc(size, 'pets\r\n')) },
)

const path = fc.nat({ max: 999 }).map((number) => `/pets/${number}`)
const query = fc.constantFrom('', 'a', 'of=1&of=?')

const head = (method: string, to: { path: string; query: string }, lines = '') =>
  `${method} ${to.path}${to.query && `?${to.query}`} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`

const withoutBody = fc.record({ method: fc.constantFrom('GET', 'HEAD'), path, query }).map(
  (request): SentRequest => ({
    ...request,
    body: Buffer.alloc(0),
    bytes: Buffer.from(head(request.method, request)),
  }),
)

const withLength = fc.record({ path, query, body }).map(
  (request): SentRequest => ({
    ...request,
    method: 'PATCH',
    bytes: Buffer.concat([
      Buffer.from(head('PATCH', request, `Content-Length: ${request.body.length}\r\n`)),
      request.body,
    ]),
  }),
)

const chunkForm = fc.record({
  size: fc.integer({ min: 1, max: 9_000 }),
  extension: fc.constantFrom('', '', ';a', ' ;a=b', '; name="a \\" value, 0"', ';a = b\t; c'),
  isUpperCase: fc.boolean(),
  zeros: fc.nat({ max: 2 }),
})

/** The server reads trailers and drops them. */
const trailers = fc.constantFrom('', '', 'X-Sum: 1\r\n', 'Content-Length: 5\r\nX-Empty:\r\n')

const chunked = fc
  .record({ path, query, body, trailers, forms: fc.array(chunkForm, { minLength: 1, maxLength: 6 }) })
  .map(
    ({ forms, trailers, ...request }): SentRequest => ({
      ...request,
      method: 'PATCH',
      bytes: Buffer.concat([
        Buffer.from(head('PATCH', request, 'Transfer-Encoding: chunked\r\n')),
        ...chunksOf(request.body, forms, trailers),
      ]),
    }),
  )

type ChunkForm = typeof chunkForm extends fc.Arbitrary<infer Form> ? Form : never

/** Encodes the body. Each chunk takes the next form, also the last, empty chunk, which is followed by the trailers. */
function chunksOf(whole: Buffer, forms: readonly ChunkForm[], trailers: string): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; ; turn++) {
    const { size, extension, isUpperCase, zeros } = forms[turn % forms.length] as ChunkForm
    const data = whole.subarray(at, at + size)
    const digits = data.length.toString(16)
    const number = '0'.repeat(zeros) + (isUpperCase ? digits.toUpperCase() : digits)
    const end = data.length === 0 ? trailers : ''
    chunks.push(Buffer.from(`${number}${extension}\r\n${end}`), data, Buffer.from('\r\n'))
    if (data.length === 0) return chunks
    at += data.length
  }
}

const afterEmptyLine = (request: SentRequest): SentRequest => ({
  ...request,
  bytes: Buffer.concat([Buffer.from('\r\n'), request.bytes]),
})

const request = fc
  .tuple(fc.oneof(withoutBody, withLength, chunked), fc.nat({ max: 3 }))
  .map(([sent, chance]) => (chance === 0 ? afterEmptyLine(sent) : sent))

/** A position between two bytes: anywhere, or near the start of a request, where parsers make most mistakes. */
const cut = fc.oneof(
  fc.record({ share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }) }),
  fc.record({ request: fc.nat({ max: 9 }), offset: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 130 })) }),
)
type Cut = typeof cut extends fc.Arbitrary<infer Value> ? Value : never

/** Pipelined requests, and the pieces in which they are sent. */
export const cutSequence = fc
  .record({
    requests: fc.array(request, { minLength: 1, maxLength: 10 }),
    cuts: fc.array(cut, { maxLength: 12 }),
  })
  .map(({ requests, cuts }) => ({ requests, pieces: piecesOf(requests, cuts) }))

function piecesOf(requests: readonly SentRequest[], cuts: readonly Cut[]): Buffer[] {
  const whole = Buffer.concat(requests.map(({ bytes }) => bytes))
  const starts = [0]
  for (const { bytes } of requests) starts.push((starts.at(-1) ?? 0) + bytes.length)
  const places = cuts
    .map((cut) =>
      'share' in cut
        ? Math.floor(cut.share * whole.length)
        : Math.min((starts[cut.request % requests.length] ?? 0) + cut.offset, whole.length),
    )
    .toSorted((a, b) => a - b)
  return [0, ...places].map((start, index) => whole.subarray(start, places[index] ?? whole.length))
}

/** The reason why a request cannot be answered normally. The message is for the client. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** `too_large` means the body. `incomplete` means that the client has sent only a part of its request. */
type ProblemKind = 'malformed' | 'too_large' | 'incomplete' | 'timeout' | 'too_many_connections'

export function malformed(message: string): RequestProblem {
  return new RequestProblem('malformed', message)
}

/** The request line and the headers (RFC 9112). */
export interface RequestHead {
  readonly method: string
  /** Still percent-encoded. */
  readonly path: string
  /** The part after the `?`, or an empty string. */
  readonly query: string
  readonly isHttp10: boolean
  readonly headers: RequestHeaders
}

/** A character of a method or a header name. */
const TOKEN_CHARACTER = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const TOKEN = new RegExp(`^${TOKEN_CHARACTER}+$`)
const REQUEST_LINE = new RegExp(`^${TOKEN_CHARACTER}+ [!-~]+ HTTP/1\\.[01]\r\n`)
/** Input that does not start with a method is refused before its first line is complete. */
const STARTS_WITH_METHOD = new RegExp(`^${TOKEN_CHARACTER}`)
const OTHER_VERSION = / HTTP\/(?!1\.[01]$)\d/
const INVALID_IN_VALUE = /[^\t -~\u0080-\u00ff]/
/** A path or, in a request to a proxy, a whole URL; both with an optional query. */
const TARGET = /^(?:https?:\/\/[^/?]+)?(\/[^?]*)?(?:\?(.*))?$/i
const MAX_HEADERS = 100
const MAX_HEAD_BYTES = 16 * 1024
/** Numbers of up to 15 digits are exact in JavaScript. */
const CONTENT_LENGTH = /^\d{1,15}$/
const NO_BYTES = Buffer.alloc(0)
const EMPTY_LINE = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** The received bytes that no request has read yet. */
export class RequestInput {
  #unread: Buffer = NO_BYTES
  #previousHeaders: RequestHeaders | undefined

  get length(): number {
    return this.#unread.length
  }

  /** Whether no request has started. An empty line does not count (see readHead). */
  get isBlank(): boolean {
    return this.#unread.length <= EMPTY_LINE.length
  }

  add(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
  }

  clear(): void {
    this.#unread = NO_BYTES
  }

  /** Reads the next head, if it is complete. Throws a RequestProblem if the input is not a request. */
  readHead(): RequestHead | undefined {
    const unread = this.#unread
    // Some clients send an empty line after a body (RFC 9112, 2.2).
    const start = unread[0] === EMPTY_LINE[0] && unread[1] === EMPTY_LINE[1] ? EMPTY_LINE.length : 0
    const end = unread.indexOf(HEAD_END, start)
    if ((end === -1 ? unread.length : end) - start > MAX_HEAD_BYTES) {
      throw malformed(`request line and headers are larger than ${MAX_HEAD_BYTES} bytes`)
    }
    if (end !== -1) {
      const head = parseHead(unread.toString('latin1', start, end + EMPTY_LINE.length), this.#previousHeaders)
      this.#previousHeaders = head.headers
      this.#consume(end + HEAD_END.length)
      return head
    }
    const text = unread.toString('latin1', start)
    if (text === '' || text === '\r' || STARTS_WITH_METHOD.test(text)) return undefined
    throw malformed('this is not an HTTP request')
  }

  /** Passes the unread bytes to a body, which takes the bytes that belong to it. */
  readInto(body: { take(bytes: Uint8Array): number }): void {
    this.#consume(body.take(this.#unread))
  }

  #consume(bytes: number): void {
    this.#unread = bytes === this.#unread.length ? NO_BYTES : this.#unread.subarray(bytes)
  }
}

export class RequestHeaders {
  /** In bytes, or `chunked` if the length is not known in advance. */
  readonly bodyLength: number | 'chunked'
  /** Whether the client wants to keep the connection open. */
  readonly wantsKeepAlive: boolean
  readonly #text: string
  readonly #isHttp10: boolean
  readonly #values = new Map<string, string>()

  /** `text` consists of all header lines, each with its line end. */
  constructor(text: string, isHttp10: boolean) {
    this.#text = text
    this.#isHttp10 = isHttp10
    for (let start = 0, count = 1; start < text.length; count++) {
      if (count > MAX_HEADERS) throw malformed(`the request has more than ${MAX_HEADERS} headers`)
      const end = text.indexOf('\r\n', start)
      this.#addLine(text, start, end)
      start = end + 2
    }
    const host = this.get('host')
    const isHostValid = host === null ? isHttp10 : !host.includes(',')
    if (!isHostValid) throw malformed('the request needs exactly one Host header')
    this.bodyLength = bodyLengthOf(this, isHttp10)
    this.wantsKeepAlive = wantsKeepAlive(this.get('connection'), isHttp10)
  }

  /** `name` is in lower case. The values of a repeated header are joined with commas. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null
  }

  /** Whether the headers in `text`, from `start` on, are the same. */
  matches(text: string, start: number, isHttp10: boolean): boolean {
    return (
      text.length - start === this.#text.length && text.endsWith(this.#text) && isHttp10 === this.#isHttp10
    )
  }

  #addLine(text: string, start: number, end: number): void {
    const colon = text.indexOf(':', start)
    const name = colon === -1 || colon > end ? '' : text.slice(start, colon).toLowerCase()
    if (!TOKEN.test(name)) {
      throw malformed(
        'a header is not of the form "Name: value", on one line, without a space before the colon',
      )
    }
    const value = trim(text, colon + 1, end)
    if (INVALID_IN_VALUE.test(value)) throw malformed(`the header ${name} contains a control character`)
    const earlier = this.#values.get(name)
    this.#values.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
}

/**
 * `text` consists of all lines, each with its line end, with one character per byte. Refuses input that two parsers could
 * read differently, so that no request can be smuggled inside another. The requests of a connection usually have the same
 * headers, so headers that equal the previous headers are not parsed again.
 */
function parseHead(text: string, previous: RequestHeaders | undefined): RequestHead {
  const lineEnd = text.indexOf('\r\n')
  if (!REQUEST_LINE.test(text)) throw invalidRequestLine(text.slice(0, lineEnd))
  const methodEnd = text.indexOf(' ')
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  const method = text.slice(0, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  const isHttp10 = text[lineEnd - 1] === '0'
  const start = lineEnd + 2
  const headers =
    previous?.matches(text, start, isHttp10) === true
      ? previous
      : new RequestHeaders(text.slice(start), isHttp10)
  // Almost every target is a plain path.
  if (target.startsWith('/') && !target.includes('?')) {
    return { method, path: target, query: '', isHttp10, headers }
  }
  const { path, query } = parseTarget(method, target)
  return { method, path, query, isHttp10, headers }
}

function parseTarget(method: string, target: string): Pick<RequestHead, 'path' | 'query'> {
  if (target === '*' && method === 'OPTIONS') return { path: target, query: '' }
  const [whole, path = '/', query = ''] = TARGET.exec(target) ?? []
  if (whole === undefined || whole.startsWith('?')) {
    throw malformed('the target of the request must be a path that starts with /, or a whole URL')
  }
  return { path, query }
}

function invalidRequestLine(line: string): Error {
  return malformed(
    OTHER_VERSION.test(line)
      ? 'this HTTP version is not supported; send HTTP/1.1'
      : 'the request must start with a line such as "GET /path HTTP/1.1"; send spaces and other special characters in the path percent-encoded',
  )
}

/** The text between two positions, without spaces and tabs at both ends. */
function trim(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isSpaceOrTab(text.charCodeAt(start))) start++
  while (start < end && isSpaceOrTab(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isSpaceOrTab(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function bodyLengthOf(headers: RequestHeaders, isHttp10: boolean): number | 'chunked' {
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (coding !== null) {
    if (length !== null) {
      throw malformed('Content-Length and Transfer-Encoding contradict each other; send one of them')
    }
    if (coding.toLowerCase() !== 'chunked' || isHttp10) {
      throw malformed('Transfer-Encoding can only be "chunked", in HTTP/1.1')
    }
    return 'chunked'
  }
  if (length === null) return 0
  if (!CONTENT_LENGTH.test(length)) throw malformed('Content-Length must be a single number of bytes')
  return Number(length)
}

function wantsKeepAlive(connection: string | null, isHttp10: boolean): boolean {
  if (connection === null) return !isHttp10
  const options = connection.toLowerCase().split(/[\t ]*,[\t ]*/)
  return isHttp10 ? options.includes('keep-alive') : !options.includes('close')
}

import { malformed } from './request-problem.ts'

/** The request line and the headers, as RFC 9112 wants them. */
export interface RequestHead {
  readonly method: string
  /** Still percent-encoded. */
  readonly path: string
  /** What is behind the `?`; nothing where there is none. */
  readonly query: string
  readonly isHttp10: boolean
  readonly headers: RequestHeaders
}

/** What names are made of, those of methods and of headers. */
const TOKEN_CHARACTER = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const TOKEN = new RegExp(`^${TOKEN_CHARACTER}+$`)
const REQUEST_LINE = new RegExp(`^${TOKEN_CHARACTER}+ [!-~]+ HTTP/1\\.[01]\r\n`)
/** A request begins with a method; nobody need wait for the end of what does not. */
const BEGINS_LIKE_A_REQUEST = new RegExp(`^${TOKEN_CHARACTER}`)
const VERSION = / HTTP\/(?!1\.[01]$)\d/
const NOT_IN_A_VALUE = /[^\t -~\u0080-\u00ff]/
/** A path, or, as to a proxy, a whole address; and what is behind the `?`. */
const TARGET = /^(?:https?:\/\/[^/?]+)?(\/[^?]*)?(?:\?(.*))?$/i
const MAX_HEADERS = 100
const MAX_HEAD_BYTES = 16 * 1024
/** 15 digits are exact as a number. */
const LENGTH = /^\d{1,15}$/
const NOTHING = Buffer.alloc(0)
const EMPTY_LINE = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** What has come over a connection and belongs to no request yet. */
export class RequestInput {
  #unread: Buffer = NOTHING
  /** Of the last request. */
  #headers: RequestHeaders | undefined

  get length(): number {
    return this.#unread.length
  }

  /** Whether nothing of a request has come: an empty line is none. */
  get isBlank(): boolean {
    return this.#unread.length <= EMPTY_LINE.length
  }

  add(bytes: Buffer): void {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
  }

  clear(): void {
    this.#unread = NOTHING
  }

  /** The next head, if all of it is here; throws a RequestProblem where there is none to wait for. */
  readHead(): RequestHead | undefined {
    const unread = this.#unread
    // Some senders end a body with an empty line that does not belong to it (RFC 9112, 2.2).
    const start = unread[0] === EMPTY_LINE[0] && unread[1] === EMPTY_LINE[1] ? EMPTY_LINE.length : 0
    const end = unread.indexOf(HEAD_END, start)
    if ((end === -1 ? unread.length : end) - start > MAX_HEAD_BYTES) {
      throw malformed(`request line and headers are larger than ${MAX_HEAD_BYTES} bytes`)
    }
    if (end !== -1) {
      const head = parseHead(unread.toString('latin1', start, end + EMPTY_LINE.length), this.#headers)
      this.#headers = head.headers
      this.#consume(end + HEAD_END.length)
      return head
    }
    const text = unread.toString('latin1', start)
    if (text === '' || text === '\r' || BEGINS_LIKE_A_REQUEST.test(text)) return undefined
    throw malformed('this is not an HTTP request')
  }

  /** Gives a body what belongs to it. */
  readInto(body: { take(bytes: Uint8Array): number }): void {
    this.#consume(body.take(this.#unread))
  }

  #consume(bytes: number): void {
    this.#unread = bytes === this.#unread.length ? NOTHING : this.#unread.subarray(bytes)
  }
}

/** All headers of a request. */
export class RequestHeaders {
  /** The bytes of the body, or that their number is not known beforehand. */
  readonly bodyLength: number | 'chunked'
  /** Whether the sender wants to go on with this connection. */
  readonly isKeptAlive: boolean
  readonly #text: string
  readonly #isHttp10: boolean
  readonly #values = new Map<string, string>()

  /** Takes all lines, each with its end. */
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
    if (host === null ? !isHttp10 : host.includes(',')) throw malformed('the request needs one Host header')
    this.bodyLength = bodyLengthIn(this, isHttp10)
    this.isKeptAlive = isKeptAlive(this.get('connection'), isHttp10)
  }

  /** By its name in lower case. One that was sent several times is a list. */
  get(name: string): string | null {
    return this.#values.get(name) ?? null
  }

  /** Whether they are what this text has from `start` on. */
  areIn(text: string, start: number, isHttp10: boolean): boolean {
    return (
      text.length - start === this.#text.length && text.endsWith(this.#text) && isHttp10 === this.#isHttp10
    )
  }

  #addLine(text: string, start: number, end: number): void {
    const colon = text.indexOf(':', start)
    const name = colon === -1 || colon > end ? '' : text.slice(start, colon).toLowerCase()
    if (!TOKEN.test(name)) {
      throw malformed(
        'a header is not of the form "Name: value", on one line, with no blank before the colon',
      )
    }
    const value = withoutBlanks(text, colon + 1, end)
    if (NOT_IN_A_VALUE.test(value)) throw malformed(`the header ${name} has a control character in it`)
    const before = this.#values.get(name)
    this.#values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
}

/**
 * Takes all lines, each with its end, one character for each byte. Whatever two readers could read in two ways is
 * refused: a request must not be able to hide another one. Where the headers are those of the request before, as they
 * are on almost every connection, they are not read again.
 */
function parseHead(text: string, before: RequestHeaders | undefined): RequestHead {
  const lineEnd = text.indexOf('\r\n')
  if (!REQUEST_LINE.test(text)) throw wrongLine(text.slice(0, lineEnd))
  const methodEnd = text.indexOf(' ')
  const targetEnd = text.indexOf(' ', methodEnd + 1)
  const method = text.slice(0, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  const isHttp10 = text[lineEnd - 1] === '0'
  const start = lineEnd + 2
  const headers =
    before?.areIn(text, start, isHttp10) === true ? before : new RequestHeaders(text.slice(start), isHttp10)
  // A plain path, as almost always.
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
    throw malformed('the target of the request must be a path that begins with /, or a whole address')
  }
  return { path, query }
}

function wrongLine(line: string): Error {
  return malformed(
    VERSION.test(line)
      ? 'this version of HTTP is not spoken here; send HTTP/1.1'
      : 'the request must begin with a line such as "GET /path HTTP/1.1"; blanks and other special characters in the path are sent percent-encoded',
  )
}

function withoutBlanks(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function bodyLengthIn(headers: RequestHeaders, isHttp10: boolean): number | 'chunked' {
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
  if (!LENGTH.test(length)) throw malformed('Content-Length must be one number of bytes, given once')
  return Number(length)
}

function isKeptAlive(wish: string | null, isHttp10: boolean): boolean {
  if (wish === null) return !isHttp10
  const wishes = wish.toLowerCase().split(/[\t ]*,[\t ]*/)
  return isHttp10 ? wishes.includes('keep-alive') : !wishes.includes('close')
}

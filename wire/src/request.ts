import type { HttpResponse, ResponseContext } from './response.ts'

/** A value, or a promise if the value is not available yet. */
export type MaybePromise<T> = T | Promise<T>

/** A request as the handler sees it. */
export interface HttpRequest {
  readonly method: string
  /** Still percent-encoded. */
  readonly path: string
  /** The part after the `?`, or an empty string. */
  readonly query: string
  readonly headers: RequestHeaders
  /** The IP address of the client. */
  readonly address: string
  /**
   * Whether the client no longer waits for the response: the connection is closed, or the client has waited for a while and then
   * closed its sending side.
   */
  readonly hasClientLeft: boolean
  /**
   * Returns the whole body, or a promise if it has not arrived yet. Throws or rejects with a RequestProblem, for example
   * if the body is larger than `maxBytes` (DEFAULT_BODY_BYTES by default).
   */
  body(maxBytes?: number): MaybePromise<Uint8Array>
}

/** The methods must not throw or reject. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<HttpResponse>
  /** Responds to malformed input, a timeout or a connection over the limit. The connection is closed after the response. */
  refuse(problem: RequestProblem, address: string): MaybePromise<HttpResponse>
}

/** The reason why a request cannot be answered normally. The message is for the client. */
export class RequestProblem extends Error {
  override readonly name = 'RequestProblem'
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** `too_large`: the body is too large. `incomplete`: the client has sent only a part of its request. */
type ProblemKind = 'malformed' | 'too_large' | 'incomplete' | 'timeout' | 'too_many_connections'

function malformed(message: string): RequestProblem {
  return new RequestProblem('malformed', message)
}

/** The request line and the headers (RFC 9112). */
export interface RequestHead extends Pick<HttpRequest, 'method' | 'path' | 'query' | 'headers'> {
  readonly isHttp10: boolean
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
const TARGET = /^(?:https?:\/\/([^/?]+))?(\/[^?]*)?(?:\?(.*))?$/i
/** A name or an address, which may be empty, and a port. No comma, because several Host headers are joined with commas. */
const HOST = /^(?:\[[0-9A-F:.]+\]|(?:[\w\-.~!$&'()*+;=]|%[0-9A-F]{2})*)(?::(\d*))?$/i
const MAX_PORT = 65_535
/** A line feed without a carriage return before it, or the reverse. */
const BARE_LINE_END = /(?<!\r)\n|\r(?!\n|$)/
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

  /** True until a request starts. The first two bytes may be an empty line before it (see readHead). */
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
    if (text !== '' && text !== '\r' && !STARTS_WITH_METHOD.test(text)) {
      throw malformed('this is not an HTTP request')
    }
    if (BARE_LINE_END.test(text)) throw malformed('each line of the head must end with CR LF')
    return undefined
  }

  /** Passes the unread bytes to a body, which takes the bytes that belong to it. */
  readInto(body: { take(bytes: Uint8Array): number }): void {
    this.#consume(body.take(this.#unread))
  }

  #consume(bytes: number): void {
    this.#unread = bytes === this.#unread.length ? NO_BYTES : this.#unread.subarray(bytes)
    // Copied, because a view would keep the whole received buffer in memory for as long as the connection is idle.
    if (this.isBlank && this.#unread !== NO_BYTES) this.#unread = Buffer.from(this.#unread)
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
    const isHostValid = host === null ? isHttp10 : isValidHost(host)
    if (!isHostValid)
      throw malformed('the request needs exactly one Host header, with a name and an optional port')
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
        'a header is malformed; send each as "Name: value" on one line, without a space before the colon',
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
  const { path, query } = parseTarget(method, target)
  return { method, path, query, isHttp10, headers }
}

function parseTarget(method: string, target: string): Pick<RequestHead, 'path' | 'query'> {
  const isPlainPath = target.startsWith('/') && !target.includes('?')
  if (isPlainPath || (target === '*' && method === 'OPTIONS')) return { path: target, query: '' }
  const [whole, host, path = '/', query = ''] = TARGET.exec(target) ?? []
  if (whole === undefined || whole.startsWith('?') || (host !== undefined && !isValidHost(host))) {
    throw malformed('the target of the request must be a path that starts with /, or a whole URL')
  }
  return { path, query }
}

function isValidHost(host: string): boolean {
  const match = HOST.exec(host)
  return match !== null && Number(match[1] ?? 0) <= MAX_PORT
}

function invalidRequestLine(line: string): Error {
  return malformed(
    OTHER_VERSION.test(line)
      ? 'this HTTP version is not supported; send HTTP/1.1'
      : 'the request must start with a line such as "GET /path HTTP/1.1"; percent-encode spaces and other special characters in the path',
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
      throw malformed('Transfer-Encoding must be "chunked", and needs HTTP/1.1')
    }
    return 'chunked'
  }
  if (length === null) return 0
  if (!CONTENT_LENGTH.test(length)) throw malformed('Content-Length must be a single number of bytes')
  return Number(length)
}

function wantsKeepAlive(connectionHeader: string | null, isHttp10: boolean): boolean {
  if (connectionHeader === null) return !isHttp10
  const options = connectionHeader.toLowerCase().split(/[\t ]*,[\t ]*/)
  return !options.includes('close') && (!isHttp10 || options.includes('keep-alive'))
}

/** The largest body that a handler gets, unless it asks for a larger one. */
export const DEFAULT_BODY_BYTES = 64 * 1024
/**
 * This much of a body is kept until the handler reads it. The rest waits at the client. While a larger body arrives, each further
 * part of this size restarts the timeout of the request.
 */
export const MAX_BODY_BYTES = 256 * 1024

/** The request that is being received or answered. A connection has at most one. */
export interface PendingRequest extends ResponseContext {
  readonly requestBody: RequestBody
  /**
   * Whether the client waits for `100 Continue` before it sends the body. If it gets a response instead, its next bytes may be
   * the body or another request, so the connection is closed after the response.
   */
  readonly awaitsContinue: boolean
}

interface BodySource {
  sendContinue(): void
  /** Receives the part of the body that was held back until the handler read it. */
  resumeBody(): void
}

/** A request whose head is complete. Its body may still be arriving. */
export class IncomingRequest implements HttpRequest, PendingRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  readonly address: string
  readonly isHttp10: boolean
  readonly requestBody: RequestBody
  isLast: boolean
  readonly #connection: { readonly hasClientLeft: boolean }
  readonly #pipeline: BodySource
  #expectsContinue: boolean

  constructor(
    head: RequestHead,
    connection: { readonly address: string; readonly hasClientLeft: boolean },
    pipeline: BodySource,
  ) {
    this.method = head.method
    this.path = head.path
    this.query = head.query
    this.headers = head.headers
    this.isHttp10 = head.isHttp10
    this.isLast = !head.headers.wantsKeepAlive
    this.requestBody = new RequestBody(head.headers.bodyLength)
    this.address = connection.address
    this.#connection = connection
    this.#pipeline = pipeline
    this.#expectsContinue = !head.isHttp10 && head.headers.get('expect')?.toLowerCase() === '100-continue'
  }

  get hasClientLeft(): boolean {
    return this.#connection.hasClientLeft
  }

  get awaitsContinue(): boolean {
    return this.#expectsContinue && !this.requestBody.isComplete
  }

  body(maxBytes?: number): MaybePromise<Uint8Array> {
    const body = this.requestBody.read(maxBytes)
    if (body instanceof Promise) this.#pipeline.resumeBody()
    if (this.awaitsContinue) {
      this.#expectsContinue = false
      this.#pipeline.sendContinue()
    }
    return body
  }
}

/** Takes the place of the pending request while a refusal is sent. */
export class RefusedRequest implements PendingRequest {
  readonly method = ''
  readonly isHttp10 = false
  readonly requestBody = new RequestBody(0)
  readonly awaitsContinue = false
  isLast = true
}

/** The body of a request while it arrives. Keeps its bytes for the handler, up to a limit. */
export class RequestBody {
  readonly #chunkReader: ChunkReader | undefined
  /** The number of bytes that have not arrived yet; 0 for a chunked body. */
  #missingBytes: number
  #buffer: Uint8Array = NO_BYTES
  #size = 0
  #maxBytes = Number.POSITIVE_INFINITY
  #problem: RequestProblem | undefined
  #pendingRead: PromiseWithResolvers<Uint8Array> | undefined
  #isDiscarded = false
  /** `hasProgressed` returns true once the body is larger than this. */
  #nextProgress = MAX_BODY_BYTES

  constructor(length: RequestHeaders['bodyLength']) {
    this.#chunkReader = length === 'chunked' ? new ChunkReader() : undefined
    this.#missingBytes = length === 'chunked' ? 0 : length
  }

  get isComplete(): boolean {
    return this.#chunkReader?.isComplete ?? this.#missingBytes === 0
  }

  /** Whether the body has grown by MAX_BODY_BYTES since this last returned true. */
  hasProgressed(): boolean {
    if (this.#size < this.#nextProgress) return false
    this.#nextProgress = this.#size + MAX_BODY_BYTES
    return true
  }

  /** Takes the bytes that belong to this body, up to a limit until the handler reads it, and returns their number. */
  take(unread: Uint8Array): number {
    const isWanted = this.#pendingRead !== undefined || this.#isDiscarded || this.#problem !== undefined
    const bytes = isWanted ? unread : unread.subarray(0, Math.max(0, MAX_BODY_BYTES - this.#size))
    const taken =
      this.#chunkReader === undefined
        ? this.#takeByLength(bytes)
        : this.#chunkReader.take(bytes, (data) => this.#keep(data))
    if (this.isComplete && this.#problem === undefined) this.#pendingRead?.resolve(this.#bytes())
    return taken
  }

  read(maxBytes = DEFAULT_BODY_BYTES): MaybePromise<Uint8Array> {
    this.#limitTo(maxBytes)
    if (this.#problem !== undefined) throw this.#problem
    if (this.isComplete) return this.#bytes()
    this.#pendingRead ??= Promise.withResolvers<Uint8Array>()
    return this.#pendingRead.promise
  }

  /** Drops the body, including bytes that arrive later. */
  discard(): void {
    this.#isDiscarded = true
    this.#buffer = NO_BYTES
  }

  /** Called when no more bytes of the body will arrive. */
  abort(problem = new RequestProblem('incomplete', 'the request body is incomplete; send it again')): void {
    if (!this.isComplete) this.#fail(problem)
  }

  #takeByLength(bytes: Uint8Array): number {
    const data = bytes.length > this.#missingBytes ? bytes.subarray(0, this.#missingBytes) : bytes
    this.#missingBytes -= data.length
    this.#keep(data)
    return data.length
  }

  #keep(data: Uint8Array): void {
    if (this.#problem !== undefined || this.#isDiscarded) return
    const size = this.#size + data.length
    if (size > this.#maxBytes) this.#fail(tooLarge(this.#maxBytes))
    // Almost every body arrives in one piece, which needs no copy.
    else if (this.#size === 0 && this.#chunkReader === undefined && this.#missingBytes === 0)
      this.#buffer = data
    else {
      // Copied, because the rest of the body may arrive much later, and a subarray would keep the whole buffer in memory.
      if (size > this.#buffer.length) {
        const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(size, 2 * this.#buffer.length)))
        larger.set(this.#bytes())
        this.#buffer = larger
      }
      this.#buffer.set(data, this.#size)
    }
    this.#size = size
  }

  #limitTo(maxBytes: number): void {
    this.#maxBytes = maxBytes
    if (this.#size + this.#missingBytes > maxBytes) this.#fail(tooLarge(maxBytes))
  }

  #bytes(): Uint8Array {
    return this.#buffer.length === this.#size ? this.#buffer : this.#buffer.subarray(0, this.#size)
  }

  #fail(problem: RequestProblem): void {
    this.#problem ??= problem
    this.#buffer = NO_BYTES
    this.#pendingRead?.reject(this.#problem)
  }
}

function tooLarge(maxBytes: number): RequestProblem {
  return new RequestProblem('too_large', `the request body is larger than ${maxBytes} bytes`)
}

const LINE_FEED = 0x0a
const MAX_SIZE_LINE_BYTES = 256
const MAX_TRAILER_BYTES = 8 * 1024
const QUOTED_STRING = '"(?:[\\t !#-\\[\\]-~\\u0080-\\u00ff]|\\\\[\\t -~\\u0080-\\u00ff])*"'
const CHUNK_EXTENSION = `[\\t ]*;[\\t ]*${TOKEN_CHARACTER}+(?:[\\t ]*=[\\t ]*(?:${TOKEN_CHARACTER}+|${QUOTED_STRING}))?`
/** A hexadecimal size of up to 8 digits, and extensions, which are ignored. */
const SIZE_LINE = new RegExp(`^([0-9A-Fa-f]{1,8})(?:${CHUNK_EXTENSION})*\r\n$`)
const TRAILER_LINE = new RegExp(`^${TOKEN_CHARACTER}+:[\\t -~\\u0080-\\u00ff]*\\r\\n$`)

/** Decodes a chunked body (RFC 9112, 7.1). Trailers are read and dropped. */
class ChunkReader {
  #expects: 'size' | 'data' | 'end_of_data' | 'trailer' = 'size'
  /** The received part of the current line. */
  #line = ''
  /** How many bytes of the current chunk are missing or, after the last chunk, how long the trailers may still be. */
  #remainingBytes = 0
  isComplete = false

  /** Passes decoded data to `onData`, and returns the number of bytes that belong to the body. */
  take(bytes: Uint8Array, onData: (data: Uint8Array) => void): number {
    let at = 0
    while (at < bytes.length && !this.isComplete) {
      if (this.#expects === 'data') {
        const data = bytes.subarray(at, at + this.#remainingBytes)
        onData(data)
        at += data.length
        this.#remainingBytes -= data.length
        if (this.#remainingBytes === 0) this.#expects = 'end_of_data'
      } else {
        const lineFeed = bytes.indexOf(LINE_FEED, at)
        const end = lineFeed === -1 ? bytes.length : lineFeed + 1
        this.#checkLength(this.#line.length + end - at)
        this.#line += Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1')
        at = end
        if (lineFeed !== -1) this.#readLine()
      }
    }
    return at
  }

  #checkLength(lineLength: number): void {
    if (this.#expects === 'trailer') {
      if (lineLength > this.#remainingBytes)
        throw malformed(`the trailers are larger than ${MAX_TRAILER_BYTES} bytes`)
    } else if (lineLength > MAX_SIZE_LINE_BYTES) throw malformed('a chunk of the body is malformed')
  }

  #readLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#expects === 'size') {
      const size = SIZE_LINE.exec(line)?.[1]
      if (size === undefined) throw malformed('a chunk of the body has no valid size')
      const length = Number.parseInt(size, 16)
      this.#expects = length === 0 ? 'trailer' : 'data'
      this.#remainingBytes = length === 0 ? MAX_TRAILER_BYTES : length
    } else if (this.#expects === 'end_of_data') {
      if (line !== '\r\n') throw malformed('a chunk of the body is longer than its size')
      this.#expects = 'size'
    } else if (line === '\r\n') this.isComplete = true
    else if (TRAILER_LINE.test(line)) this.#remainingBytes -= line.length
    else throw malformed('a trailer is not of the form "Name: value"')
  }
}

import { malformed, type RequestHead, type RequestHeaders, RequestProblem } from './request-head.ts'
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
  /** The same object for every request of a connection. */
  readonly connection: object
  /** The time at which the bytes of the request arrived, from `performance.now()`. */
  readonly receivedAt: number
  /**
   * Returns the whole body, or a promise if it has not arrived yet. Throws or rejects with a RequestProblem, for example
   * if the body is larger than `maxBytes` (64 KiB by default, at most 256 KiB).
   */
  body(maxBytes?: number): MaybePromise<Uint8Array>
}

/** The methods must not throw or reject. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<HttpResponse>
  /** Responds to malformed input, a timeout or a refused connection. The connection is closed after the response. */
  refuse(problem: RequestProblem, address: string): MaybePromise<HttpResponse>
}

const DEFAULT_MAX_BYTES = 64 * 1024
/** The largest body that is kept until the handler reads it. */
const MAX_KEPT_BYTES = 256 * 1024
const NO_BYTES = new Uint8Array()

/** The request that is being received or answered. A connection has at most one. */
export interface PendingRequest extends ResponseContext {
  readonly requestBody: RequestBody
  /** Whether the client waits for `100 Continue`. Its next bytes are the body or, if it gives up, another request. */
  readonly awaitsContinue: boolean
}

/** A request whose head is complete. Its body may still be arriving. */
export class IncomingRequest implements HttpRequest, PendingRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  readonly address: string
  readonly connection: object
  readonly receivedAt: number
  readonly isHttp10: boolean
  readonly requestBody: RequestBody
  isLast: boolean
  readonly #pipeline: { sendContinue(): void }
  #expectsContinue: boolean

  constructor(
    head: RequestHead,
    connection: { readonly address: string },
    receivedAt: number,
    pipeline: { sendContinue(): void },
  ) {
    this.method = head.method
    this.path = head.path
    this.query = head.query
    this.headers = head.headers
    this.isHttp10 = head.isHttp10
    this.isLast = !head.headers.wantsKeepAlive
    this.requestBody = new RequestBody(head.headers.bodyLength)
    this.address = connection.address
    this.connection = connection
    this.receivedAt = receivedAt
    this.#pipeline = pipeline
    this.#expectsContinue =
      !head.isHttp10 && head.headers.get('require_current')?.toLowerCase() === '100-continue'
  }

  get awaitsContinue(): boolean {
    return this.#expectsContinue && !this.requestBody.isComplete
  }

  body(maxBytes?: number): MaybePromise<Uint8Array> {
    const body = this.requestBody.read(maxBytes)
    if (this.awaitsContinue) {
      this.#expectsContinue = false
      this.#pipeline.sendContinue()
    }
    return body
  }
}

/** Represents input that is not a request, so that a response can be sent. */
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
  #kept: Uint8Array = NO_BYTES
  #size = 0
  #maxBytes = MAX_KEPT_BYTES
  #problem: RequestProblem | undefined
  #reader: PromiseWithResolvers<Uint8Array> | undefined
  #isDiscarded = false

  constructor(length: RequestHeaders['bodyLength']) {
    this.#chunkReader = length === 'chunked' ? new ChunkReader() : undefined
    this.#missingBytes = length === 'chunked' ? 0 : length
    this.#limitTo(MAX_KEPT_BYTES)
  }

  get isComplete(): boolean {
    return this.#chunkReader?.isComplete ?? this.#missingBytes === 0
  }

  /** Takes the bytes that belong to this body, and returns their number. */
  take(bytes: Uint8Array): number {
    const taken =
      this.#chunkReader === undefined
        ? this.#takeByLength(bytes)
        : this.#chunkReader.take(bytes, (data) => this.#keep(data))
    if (this.isComplete && this.#problem === undefined) this.#reader?.resolve(this.#bytes())
    return taken
  }

  read(maxBytes = DEFAULT_MAX_BYTES): MaybePromise<Uint8Array> {
    this.#limitTo(Math.min(maxBytes, MAX_KEPT_BYTES))
    if (this.#problem !== undefined) throw this.#problem
    if (this.isComplete) return this.#bytes()
    this.#reader ??= Promise.withResolvers<Uint8Array>()
    return this.#reader.promise
  }

  /** Drops the body, including bytes that arrive later. */
  discard(): void {
    this.#isDiscarded = true
    this.#kept = NO_BYTES
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
      this.#kept = data
    else {
      // Copied, because a subarray would keep the whole received buffer in memory.
      if (size > this.#kept.length) {
        const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(size, 2 * this.#kept.length)))
        larger.set(this.#bytes())
        this.#kept = larger
      }
      this.#kept.set(data, this.#size)
    }
    this.#size = size
  }

  #limitTo(maxBytes: number): void {
    this.#maxBytes = maxBytes
    // If the body was already too large for MAX_KEPT_BYTES, the message must name the limit of the handler instead.
    if (this.#problem?.kind === 'too_large') this.#problem = tooLarge(maxBytes)
    if (this.#size + this.#missingBytes > maxBytes) this.#fail(tooLarge(maxBytes))
  }

  #bytes(): Uint8Array {
    return this.#kept.length === this.#size ? this.#kept : this.#kept.subarray(0, this.#size)
  }

  #fail(problem: RequestProblem): void {
    this.#problem ??= problem
    this.#kept = NO_BYTES
    this.#reader?.reject(this.#problem)
  }
}

function tooLarge(maxBytes: number): RequestProblem {
  return new RequestProblem('too_large', `the request body is larger than ${maxBytes} bytes`)
}

const LINE_FEED = 0x0a
const MAX_SIZE_LINE_BYTES = 256
const MAX_TRAILER_BYTES = 8 * 1024
/** A hexadecimal size of up to 8 digits, and extensions, which are ignored. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[\t -~]*)?\r\n$/
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\u0080-\u00ff]*\r\n$/

/** Decodes a chunked body (RFC 9112, 7.1). Trailers are read and dropped. */
class ChunkReader {
  #expects: 'size' | 'data' | 'end_of_data' | 'trailer' = 'size'
  /** The received part of the current line. */
  #line = ''
  /** The bytes that are left of the current chunk or, after the last chunk, of MAX_TRAILER_BYTES. */
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

import type { Answer, AnswerContext } from './answer.ts'
import { ChunkReader } from './chunk-reader.ts'
import type { RequestHead, RequestHeaders } from './request-head.ts'
import { RequestProblem } from './request-problem.ts'

/** A value that may be here already. */
export type MaybePromise<T> = T | Promise<T>

/** One request, as those who answer it see it. */
export interface HttpRequest {
  readonly method: string
  /** Still percent-encoded. */
  readonly path: string
  /** What is behind the `?`; nothing where there is none. */
  readonly query: string
  readonly headers: RequestHeaders
  /** Of the other end of the connection. */
  readonly address: string
  /** The same object for all requests of a connection. */
  readonly connection: object
  /** When the bytes of the request arrived, by `performance.now()`. */
  readonly receivedAt: number
  /**
   * All of the body, at once where it is here; throws or rejects with a RequestProblem. One that is larger than
   * `maxBytes`, which is 64 KiB where it is not given and 256 KiB at the most, is refused.
   */
  body(maxBytes?: number): MaybePromise<Uint8Array>
}

/** Answers requests; never throws or rejects. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<Answer>
  /** For what is no request, did not come in time, or comes over one connection too many. The connection is closed after it. */
  refuse(problem: RequestProblem, address: string): MaybePromise<Answer>
}

const DEFAULT_MAX_BYTES = 64 * 1024
/** What is kept of a body before anybody asks for it. */
const MAX_KEPT_BYTES = 256 * 1024
const NOTHING = new Uint8Array()

/** The request that is being received or answered; a connection has one at a time. */
export interface PendingRequest extends AnswerContext {
  readonly incoming: RequestBody
  /** One that waits to be told to go on may send its body or leave it: what comes next could be either. */
  readonly awaitsContinue: boolean
}

/** A request whose head is here, while its body comes. */
export class IncomingRequest implements HttpRequest, PendingRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  readonly address: string
  readonly connection: object
  readonly receivedAt: number
  readonly isHttp10: boolean
  readonly incoming: RequestBody
  /** Whether the connection is closed after its answer. */
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
    this.isLast = !head.headers.isKeptAlive
    this.incoming = new RequestBody(head.headers.bodyLength)
    this.address = connection.address
    this.connection = connection
    this.receivedAt = receivedAt
    this.#pipeline = pipeline
    this.#expectsContinue = !head.isHttp10 && head.headers.get('expect')?.toLowerCase() === '100-continue'
  }

  get awaitsContinue(): boolean {
    return this.#expectsContinue && !this.incoming.isComplete
  }

  body(maxBytes?: number): MaybePromise<Uint8Array> {
    const body = this.incoming.read(maxBytes)
    if (this.awaitsContinue) {
      this.#expectsContinue = false
      this.#pipeline.sendContinue()
    }
    return body
  }
}

/** Stands for what is no request, and is answered all the same. */
export class RefusedRequest implements PendingRequest {
  readonly method = ''
  readonly isHttp10 = false
  readonly incoming = new RequestBody(0)
  readonly awaitsContinue = false
  isLast = true
}

/** The body of a request while it comes. What is larger than allowed, and what nobody wants, is read and dropped. */
export class RequestBody {
  readonly #chunks: ChunkReader | undefined
  /** Bytes still to come of a body whose length is known. */
  #left: number
  #kept: Uint8Array = NOTHING
  #size = 0
  #maxBytes = MAX_KEPT_BYTES
  #problem: RequestProblem | undefined
  #reader: PromiseWithResolvers<Uint8Array> | undefined
  #isWanted = true

  constructor(length: RequestHeaders['bodyLength']) {
    this.#chunks = length === 'chunked' ? new ChunkReader() : undefined
    this.#left = length === 'chunked' ? 0 : length
    this.#limitTo(MAX_KEPT_BYTES)
  }

  get isComplete(): boolean {
    return this.#chunks?.isComplete ?? this.#left === 0
  }

  /** Gives how many of the bytes belong to it. */
  take(bytes: Uint8Array): number {
    const taken =
      this.#chunks === undefined
        ? this.#takeKnown(bytes)
        : this.#chunks.take(bytes, (data) => this.#keep(data))
    if (this.isComplete && this.#problem === undefined) this.#reader?.resolve(this.#bytes())
    return taken
  }

  /** All of it, at once where it is here; throws or rejects with a RequestProblem. */
  read(maxBytes = DEFAULT_MAX_BYTES): MaybePromise<Uint8Array> {
    this.#limitTo(Math.min(maxBytes, MAX_KEPT_BYTES))
    if (this.#problem !== undefined) throw this.#problem
    if (this.isComplete) return this.#bytes()
    this.#reader ??= Promise.withResolvers<Uint8Array>()
    return this.#reader.promise
  }

  /** Nobody will read it any more. */
  discard(): void {
    this.#isWanted = false
    this.#kept = NOTHING
  }

  /** No more of it can come. */
  abort(
    problem = new RequestProblem('broken_off', 'the request body ended before it was whole; send it again'),
  ): void {
    if (!this.isComplete) this.#fail(problem)
  }

  #takeKnown(bytes: Uint8Array): number {
    const data = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= data.length
    this.#keep(data)
    return data.length
  }

  #keep(data: Uint8Array): void {
    if (this.#problem !== undefined || !this.#isWanted) return
    const size = this.#size + data.length
    if (size > this.#maxBytes) this.#fail(tooLarge(this.#maxBytes))
    // Almost every body comes in one piece.
    else if (this.#size === 0 && this.#chunks === undefined && this.#left === 0) this.#kept = data
    else {
      // Copied, since a piece holds on to all that came with it.
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
    // Told by the limit of the one who asks for it.
    if (this.#problem?.kind === 'too_large') this.#problem = tooLarge(maxBytes)
    if (this.#size + this.#left > maxBytes) this.#fail(tooLarge(maxBytes))
  }

  #bytes(): Uint8Array {
    return this.#kept.length === this.#size ? this.#kept : this.#kept.subarray(0, this.#size)
  }

  #fail(problem: RequestProblem): void {
    this.#problem ??= problem
    this.#kept = NOTHING
    this.#reader?.reject(this.#problem)
  }
}

function tooLarge(maxBytes: number): RequestProblem {
  return new RequestProblem('too_large', `the request body is larger than ${maxBytes} bytes`)
}

import type { AnswerWriter } from './answer-writer.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { RequestBody } from './request-body.ts'
import type { RequestHead, RequestHeaders } from './request-head.ts'

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
  /** All of the body, at once where it is here; throws or rejects with a RequestProblem. */
  body(): MaybePromise<Uint8Array>
}

/** A request whose head is here, while its body comes. */
export class IncomingRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: RequestHeaders
  readonly address: string
  readonly isHttp10: boolean
  readonly incoming: RequestBody
  /** Whether the connection is closed after its answer. */
  isLast: boolean
  readonly #writer: Pick<AnswerWriter, 'writeContinue'>
  #awaitsContinue: boolean

  /** A sender that waits for it is told by the writer to send the body. */
  constructor(
    head: RequestHead,
    incoming: RequestBody,
    address: string,
    writer: Pick<AnswerWriter, 'writeContinue'>,
  ) {
    this.method = head.method
    this.path = head.path
    this.query = head.query
    this.headers = head.headers
    this.isHttp10 = head.isHttp10
    this.isLast = !head.headers.isKeptAlive
    this.incoming = incoming
    this.address = address
    this.#writer = writer
    this.#awaitsContinue = !head.isHttp10 && head.headers.get('expect')?.toLowerCase() === '100-continue'
  }

  /** One that waits to be told to go on may send its body or leave it: what comes next could be either. */
  get awaitsContinue(): boolean {
    return this.#awaitsContinue && !this.incoming.isWhole
  }

  body(): MaybePromise<Uint8Array> {
    const body = this.incoming.read()
    if (this.awaitsContinue) {
      this.#awaitsContinue = false
      this.#writer.writeContinue()
    }
    return body
  }
}

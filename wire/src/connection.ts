import type { Socket } from 'bun'
import type { Answer } from './answer.ts'
import { type Addressee, AnswerWriter } from './answer-writer.ts'
import { type HttpRequest, IncomingRequest } from './http-request.ts'
import type { MaybePromise } from './maybe-promise.ts'
import { RequestBody } from './request-body.ts'
import { BEGINS_LIKE_A_REQUEST, parseHead, type RequestHead, type RequestHeaders } from './request-head.ts'
import { malformed, RequestProblem } from './request-problem.ts'

/** Answers requests; never throws or rejects. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<Answer>
  /** For what is no request. The connection is closed after it. */
  refuse(problem: RequestProblem, address: string): MaybePromise<Answer>
}

export interface ConnectionParts {
  readonly handler: Handler
  /** In whole seconds, from anywhere. */
  readonly now: () => number
  /** Whether answers ask for the next request to be sent elsewhere. */
  readonly isClosing: () => boolean
}

/** What is being received or answered. */
interface Exchange extends Addressee {
  readonly incoming: RequestBody
  readonly awaitsContinue: boolean
}

const MOST_HEAD_BYTES = 16 * 1024
/** Of requests that wait for the one before them. */
const MOST_UNREAD_BYTES = 64 * 1024
/** Requests that came together and are answered before others get a turn. */
const MOST_REQUESTS_IN_A_TURN = 100
/** How long the other side may take to send a request whole, to take an answer, and to come back with a request. */
const PATIENCE_SECONDS = 10

const NOTHING = Buffer.alloc(0)
const EMPTY_LINE = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/** One request after the other over one socket: what has come of the next waits until the one before is answered. */
export class Connection {
  readonly #socket: Socket<Connection>
  /** Of a closed socket it cannot be asked any more. */
  readonly #address: string
  readonly #parts: ConnectionParts
  readonly #writer: AnswerWriter
  #unread: Buffer = NOTHING
  /** Of the last request. */
  #headers: RequestHeaders | undefined
  #exchange: Exchange | undefined
  /** Whether nothing more is read, since it cannot be told where the next request would begin. */
  #isDeaf = false
  /** Whether the other side sends nothing more. */
  #hasHeardAll = false
  /** Whether we have said all that we will. */
  #isLeaving = false
  #isPaused = false
  #isProceeding = false
  /** Since when the other side has been keeping us waiting, if it has. */
  #since: number

  constructor(socket: Socket<Connection>, parts: ConnectionParts) {
    this.#socket = socket
    this.#address = socket.remoteAddress
    this.#parts = parts
    this.#since = parts.now()
    this.#writer = new AnswerWriter(socket, {
      onStall: () => {
        this.#since = parts.now()
      },
      onDone: () => this.#proceed(),
      onCut: () => socket.terminate(),
      onBug: this.#fail,
    })
  }

  get isBusy(): boolean {
    return this.#exchange !== undefined && !this.#writer.isDone
  }

  receive(bytes: Buffer): void {
    if (this.#isLeaving || this.#isDeaf) return
    if (this.#exchange === undefined && this.#unread.length === 0) this.#since = this.#parts.now()
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes])
    this.#proceed()
  }

  /** The other side sends nothing more. It may still read, unless it follows a stream: then it is gone. */
  receiveEnd(): void {
    this.#hasHeardAll = true
    if (this.#isLeaving || this.#writer.isLive) {
      this.#socket.end()
      return
    }
    if (this.#exchange?.incoming.isWhole === false) {
      this.#exchange.isLast = true
      this.#exchange.incoming.breakOff()
    }
    this.#proceed()
  }

  drain(): void {
    this.#since = this.#parts.now()
    try {
      this.#writer.flush()
    } catch (bug) {
      this.#fail(bug)
    }
  }

  close(): void {
    this.#isLeaving = true
    this.#exchange?.incoming.breakOff()
    this.#writer.close()
  }

  /** Ends once what is under way, if anything is, is answered. */
  leaveSoon(): void {
    if (this.#exchange !== undefined) this.#exchange.isLast = true
    else if (this.#isIdle()) this.#leave()
  }

  /** Gives up where the other side has kept us waiting for too long. */
  checkPatience(): void {
    const isWaiting =
      this.#isLeaving || this.#writer.unsentBytes > 0 || this.#exchange?.incoming.isWhole !== true
    if (!isWaiting || this.#parts.now() - this.#since <= PATIENCE_SECONDS) return
    if (this.#isIdle() && !this.#isLeaving) this.#leave()
    else this.#socket.terminate()
  }

  /** An empty line is no request. */
  #isIdle(): boolean {
    return this.#exchange === undefined && this.#unread.length <= EMPTY_LINE.length
  }

  /** For what should never happen: nobody can tell what was sent, so nothing more is. */
  readonly #fail = (bug: unknown): void => {
    console.error('petstore: an answer could not be given', bug)
    this.#socket.terminate()
  }

  /** Goes as far as it can with what has come. An answer that is done while this goes on is seen by it. */
  #proceed(): void {
    if (this.#isProceeding) return
    this.#isProceeding = true
    try {
      this.#goOn()
    } catch (bug) {
      this.#fail(bug)
    }
    this.#isProceeding = false
  }

  #goOn(): void {
    for (let begun = 0; !this.#isLeaving; ) {
      if (this.#exchange !== undefined) {
        if (!this.#isDoneWith(this.#exchange)) return
      } else if (begun++ === MOST_REQUESTS_IN_A_TURN) {
        setImmediate(() => this.#proceed())
        return
      } else if (!this.#begin()) {
        if (this.#hasHeardAll) this.#leave()
        return
      }
    }
  }

  #begin(): boolean {
    try {
      // Some senders end a body with an empty line that does not belong to it (RFC 9112, 2.2).
      const start = startsWith(this.#unread, EMPTY_LINE) ? EMPTY_LINE.length : 0
      const end = this.#unread.indexOf(HEAD_END, start)
      const size = (end === -1 ? this.#unread.length : end) - start
      if (size > MOST_HEAD_BYTES) {
        throw malformed(`request line and headers are larger than ${MOST_HEAD_BYTES} bytes`)
      }
      if (end !== -1) {
        const text = this.#unread.toString('latin1', start, end + EMPTY_LINE.length)
        this.#answer(parseHead(text, this.#headers), end + HEAD_END.length)
        return true
      }
      const text = this.#unread.toString('latin1', start)
      if (text === '' || text === '\r' || BEGINS_LIKE_A_REQUEST.test(text)) return false
      throw malformed('this is not an HTTP request')
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.#refuse(error)
      return true
    }
  }

  #answer(head: RequestHead, bodyStart: number): void {
    this.#headers = head.headers
    const incoming = new RequestBody(head.headers.bodyLength)
    const request = new IncomingRequest(head, incoming, this.#address, this.#writer)
    this.#exchange = request
    this.#pass(bodyStart)
    this.#writer.begin()
    this.#take(request)
    this.#sendWhenMade(request, this.#parts.handler.answer(request))
  }

  #refuse(problem: RequestProblem): void {
    this.#isDeaf = true
    this.#unread = NOTHING
    const exchange = {
      method: '',
      isHttp10: false,
      isLast: true,
      incoming: new RequestBody(0),
      awaitsContinue: false,
    }
    this.#exchange = exchange
    this.#writer.begin()
    this.#sendWhenMade(exchange, this.#parts.handler.refuse(problem, this.#address))
  }

  #sendWhenMade(exchange: Exchange, answer: MaybePromise<Answer>): void {
    if (answer instanceof Promise) {
      answer.then((made) => this.#sendLate(exchange, made), this.#fail)
    } else this.#send(exchange, answer)
  }

  #sendLate(exchange: Exchange, answer: Answer): void {
    try {
      this.#send(exchange, answer)
      this.#proceed()
    } catch (bug) {
      this.#fail(bug)
    }
  }

  #send(exchange: Exchange, answer: Answer): void {
    if (this.#parts.isClosing() || exchange.awaitsContinue) exchange.isLast = true
    exchange.incoming.passOver()
    this.#since = this.#parts.now()
    this.#writer.write(answer, exchange)
  }

  #take(exchange: Exchange): void {
    const { incoming } = exchange
    if (incoming.isWhole || this.#unread.length === 0) return
    try {
      this.#pass(incoming.take(this.#unread))
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.#isDeaf = true
      this.#unread = NOTHING
      exchange.isLast = true
      incoming.breakOff(error)
    }
  }

  #pass(bytes: number): void {
    this.#unread = bytes === this.#unread.length ? NOTHING : this.#unread.subarray(bytes)
  }

  #isDoneWith(exchange: Exchange): boolean {
    this.#take(exchange)
    const isAnswered = this.#writer.isDone
    if (isAnswered && exchange.isLast) {
      this.#leave()
      return false
    }
    if (!isAnswered || !exchange.incoming.isWhole) {
      if (this.#unread.length > MOST_UNREAD_BYTES) this.#pause(true)
      return false
    }
    this.#exchange = undefined
    this.#since = this.#parts.now()
    this.#pause(false)
    return true
  }

  /** The other side ends it as well, then it is closed: an end at once could overtake the answer (RFC 9112, 9.6). */
  #leave(): void {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#since = this.#parts.now()
    this.#unread = NOTHING
    this.#pause(false)
    if (this.#hasHeardAll) this.#socket.end()
    else this.#socket.shutdown()
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes[0] === start[0] && bytes[1] === start[1]
}

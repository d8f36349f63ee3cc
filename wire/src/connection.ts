import type { Socket } from 'bun'
import type { Answer, AnswerContext } from './answer.ts'
import { AnswerWriter } from './answer-writer.ts'
import { type HttpRequest, IncomingRequest, type MaybePromise, RequestBody } from './request.ts'
import { type RequestHead, RequestInput } from './request-head.ts'
import { RequestProblem } from './request-problem.ts'

/** Answers requests; never throws or rejects. */
export interface Handler {
  answer(request: HttpRequest): MaybePromise<Answer>
  /** For what is no request. The connection is closed after it. */
  refuse(problem: RequestProblem, address: string): MaybePromise<Answer>
}

/** What all connections of a listener share. */
export interface ConnectionParts {
  readonly handler: Handler
  /** In whole seconds, from anywhere. */
  readonly now: () => number
  /** Whether each answer is the last one of its connection. */
  readonly isStopping: () => boolean
}

/** The request that is being received or answered; a connection has one at a time. */
interface PendingRequest extends AnswerContext {
  readonly incoming: RequestBody
  readonly awaitsContinue: boolean
}

/** Of requests that wait for the one before them. */
const MAX_UNREAD_BYTES = 64 * 1024
/** Requests that came together and are answered before other connections get a turn. */
const MAX_REQUESTS_IN_A_TURN = 100
/** Between an answer, or the opening, and the first byte of the next request. */
const KEEP_ALIVE_SECONDS = 10
/** From the first byte of a request until all of it is here. */
const READ_TIMEOUT_SECONDS = 10
/** For a reader that takes nothing of what there is to send. */
const WRITE_TIMEOUT_SECONDS = 10
/** For the other side to close, once we have. */
const CLOSE_TIMEOUT_SECONDS = 10

/** One request after the other over one socket: what has come of the next waits until the one before is answered. */
export class Connection {
  readonly #socket: Socket<Connection>
  /** Of a closed socket it cannot be asked any more. */
  readonly #address: string
  readonly #parts: ConnectionParts
  readonly #writer: AnswerWriter
  readonly #input = new RequestInput()
  #pending: PendingRequest | undefined
  /** Whether nothing more is read, since it cannot be told where the next request would begin. */
  #ignoresInput = false
  /** Whether the other side sends nothing more. */
  #peerEnded = false
  /** Whether we send nothing more. */
  #isClosing = false
  #isPaused = false
  #isProcessing = false
  /** Since when the other side has been keeping us waiting, if it has. */
  #waitingSince: number

  constructor(socket: Socket<Connection>, parts: ConnectionParts) {
    this.#socket = socket
    this.#address = socket.remoteAddress
    this.#parts = parts
    this.#waitingSince = parts.now()
    this.#writer = new AnswerWriter(socket, {
      onStall: () => {
        this.#waitingSince = parts.now()
      },
      onDone: () => this.#process(),
      onCut: () => socket.terminate(),
      onFailure: this.#fail,
    })
  }

  get isBusy(): boolean {
    return this.#pending !== undefined && !this.#writer.isDone
  }

  onData(bytes: Buffer): void {
    if (this.#isClosing || this.#ignoresInput) return
    if (this.#pending === undefined && this.#input.length === 0) this.#waitingSince = this.#parts.now()
    this.#input.add(bytes)
    this.#process()
  }

  /** The other side sends nothing more. It may still read, unless it follows a stream: then it is gone. */
  onEnd(): void {
    this.#peerEnded = true
    if (this.#isClosing || this.#writer.isLive) {
      this.#socket.end()
      return
    }
    if (this.#pending?.incoming.isComplete === false) {
      this.#pending.isLast = true
      this.#pending.incoming.abort()
    }
    this.#process()
  }

  /** The network takes more again. */
  onDrain(): void {
    this.#waitingSince = this.#parts.now()
    try {
      this.#writer.flush()
    } catch (error) {
      this.#fail(error)
    }
  }

  onClosed(): void {
    this.#isClosing = true
    this.#pending?.incoming.abort()
    this.#writer.close()
  }

  /** Closes once what is under way, if anything is, is answered. */
  closeWhenAnswered(): void {
    if (this.#pending !== undefined) this.#pending.isLast = true
    else if (this.#isIdle()) this.#close()
  }

  /** Gives up where the other side has kept us waiting for too long. */
  checkTimeouts(): void {
    const seconds = this.#timeoutSeconds()
    if (seconds === undefined || this.#parts.now() - this.#waitingSince <= seconds) return
    if (this.#isIdle() && !this.#isClosing) this.#close()
    else this.#socket.terminate()
  }

  /** Of what the other side has to do next; `undefined` where it is our turn. */
  #timeoutSeconds(): number | undefined {
    if (this.#isClosing) return CLOSE_TIMEOUT_SECONDS
    if (this.#writer.unsentBytes > 0) return WRITE_TIMEOUT_SECONDS
    if (this.#isIdle()) return KEEP_ALIVE_SECONDS
    return this.#pending?.incoming.isComplete === true ? undefined : READ_TIMEOUT_SECONDS
  }

  #isIdle(): boolean {
    return this.#pending === undefined && this.#input.isBlank
  }

  /** For what should never happen: nobody can tell what was sent, so nothing more is. */
  readonly #fail = (error: unknown): void => {
    console.error('wire: an answer could not be given', error)
    this.#socket.terminate()
  }

  /** Goes as far as it can with what has come. An answer that is done while this goes on is seen by it. */
  #process(): void {
    if (this.#isProcessing) return
    this.#isProcessing = true
    try {
      this.#processRequests()
    } catch (error) {
      this.#fail(error)
    }
    this.#isProcessing = false
  }

  #processRequests(): void {
    for (let begun = 0; !this.#isClosing; ) {
      if (this.#pending !== undefined) {
        if (!this.#finish(this.#pending)) return
      } else if (begun++ === MAX_REQUESTS_IN_A_TURN) {
        setImmediate(() => this.#process())
        return
      } else if (!this.#beginRequest()) {
        if (this.#peerEnded) this.#close()
        return
      }
    }
  }

  /** Whether there was a request to begin with, or what is none and was refused. */
  #beginRequest(): boolean {
    try {
      const head = this.#input.readHead()
      if (head === undefined) return false
      this.#answer(head)
      return true
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.#refuse(error)
      return true
    }
  }

  #answer(head: RequestHead): void {
    const request = new IncomingRequest(head, this.#address, this.#writer)
    this.#pending = request
    this.#writer.begin()
    this.#readBody(request)
    this.#sendWhenMade(request, this.#parts.handler.answer(request))
  }

  #refuse(problem: RequestProblem): void {
    this.#ignoreInput()
    const refused = {
      method: '',
      isHttp10: false,
      isLast: true,
      incoming: new RequestBody(0),
      awaitsContinue: false,
    }
    this.#pending = refused
    this.#writer.begin()
    this.#sendWhenMade(refused, this.#parts.handler.refuse(problem, this.#address))
  }

  #sendWhenMade(pending: PendingRequest, answer: MaybePromise<Answer>): void {
    if (answer instanceof Promise) {
      answer.then((made) => this.#sendLate(pending, made), this.#fail)
    } else this.#send(pending, answer)
  }

  #sendLate(pending: PendingRequest, answer: Answer): void {
    try {
      this.#send(pending, answer)
      this.#process()
    } catch (error) {
      this.#fail(error)
    }
  }

  #send(pending: PendingRequest, answer: Answer): void {
    if (this.#parts.isStopping() || pending.awaitsContinue) pending.isLast = true
    pending.incoming.discard()
    this.#waitingSince = this.#parts.now()
    this.#writer.write(answer, pending)
  }

  #readBody(pending: PendingRequest): void {
    const { incoming } = pending
    if (incoming.isComplete || this.#input.length === 0) return
    try {
      this.#input.readInto(incoming)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.#ignoreInput()
      pending.isLast = true
      incoming.abort(error)
    }
  }

  #ignoreInput(): void {
    this.#ignoresInput = true
    this.#input.clear()
  }

  /** Whether all of it is received and answered, and the next one can begin. */
  #finish(pending: PendingRequest): boolean {
    this.#readBody(pending)
    const isAnswered = this.#writer.isDone
    if (isAnswered && pending.isLast) {
      this.#close()
      return false
    }
    if (!isAnswered || !pending.incoming.isComplete) {
      if (this.#input.length > MAX_UNREAD_BYTES) this.#pause(true)
      return false
    }
    this.#pending = undefined
    this.#waitingSince = this.#parts.now()
    this.#pause(false)
    return true
  }

  /** The other side closes as well, then the socket is gone: to drop it at once could overtake the answer (RFC 9112, 9.6). */
  #close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#waitingSince = this.#parts.now()
    this.#input.clear()
    this.#pause(false)
    if (this.#peerEnded) this.#socket.end()
    else this.#socket.shutdown()
  }

  #pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }
}

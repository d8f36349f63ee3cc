import type { Socket } from 'bun'
import { type Answer, AnswerWriter } from './answer.ts'
import {
  type Handler,
  IncomingRequest,
  type MaybePromise,
  type PendingRequest,
  RefusedRequest,
} from './request.ts'
import { type RequestHead, RequestInput, RequestProblem } from './request-head.ts'

/** The next task of the client. */
type PeerTask = 'handshake' | 'send_first_byte' | 'begin_request' | 'finish_request' | 'read_answer' | 'close'

/** Shared by all connections of a listener. */
interface ConnectionParts {
  readonly handler: Handler
  /** How long the client may take for each task. */
  readonly seconds: Readonly<Record<PeerTask, number>>
  /** In whole seconds, since any point in time. */
  readonly now: () => number
  /** The header that announces how long a connection stays open between requests. */
  readonly keepAliveLine: string
  /** Whether each answer is the last of its connection. */
  readonly isStopping: () => boolean
  /** An answer could not be sent completely. */
  readonly onUnsent: () => void
}

/** One socket, from its opening to its end. Its pipeline handles the requests. */
export class Connection {
  /** Kept here because a closed socket no longer knows it. */
  readonly address: string
  readonly pace = new ReaderPace()
  readonly #socket: Socket<Connection>
  readonly #parts: ConnectionParts
  readonly #pipeline: RequestPipeline
  readonly #refusal: RequestProblem | undefined
  /** With TLS, `true` once the handshake is complete. */
  #isOpen = false
  #hasPeerEnded = false
  #isClosing = false
  #isPaused = false
  #hasReceivedBytes = false
  /** When the current wait for the client began. */
  #waitingSince: number

  /** With a refusal, the connection is closed after that answer. */
  constructor(socket: Socket<Connection>, parts: ConnectionParts, refusal: RequestProblem | undefined) {
    this.#socket = socket
    this.#parts = parts
    this.#refusal = refusal
    this.address = socket.remoteAddress
    this.#waitingSince = parts.now()
    this.#pipeline = new RequestPipeline(socket, this, parts)
  }

  get writer(): AnswerWriter {
    return this.#pipeline.writer
  }

  get isBusy(): boolean {
    return this.#pipeline.isBusy
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  onOpen(): void {
    this.#isOpen = true
    this.restartTimeout()
    if (this.#refusal !== undefined) this.#pipeline.refuse(this.#refusal)
  }

  /** Whether it may be closed to make room for another: it is idle and has never served an authenticated client. */
  get isExpendable(): boolean {
    const isIdle = !this.#isOpen || this.#pipeline.isIdle
    return isIdle && !this.#isClosing && !this.#pipeline.hasKnownClient
  }

  onData(bytes: Buffer): void {
    this.#hasReceivedBytes = true
    if (!this.#isClosing) this.#pipeline.add(bytes)
  }

  /** The client sends nothing more. It may still read an answer, but a client that ends during a live body is gone. */
  onEnd(): void {
    this.#hasPeerEnded = true
    if (this.#isClosing || this.writer.isLive) this.#socket.end()
    else this.#pipeline.endInput()
  }

  /** The network accepts bytes again. */
  onDrain(): void {
    const before = this.writer.sentBytes
    this.#pipeline.flush()
    if (this.writer.sentBytes > before) this.restartTimeout()
  }

  onClosed(): void {
    this.#isClosing = true
    this.#pipeline.abort()
  }

  /** Called once a second. Enforces the timeouts. */
  onTick(): void {
    // The system calls `onDrain` only once there is plenty of room, which a slow client never makes.
    if (this.writer.unsentBytes > 0) this.onDrain()
    const now = this.#parts.now()
    const task = this.#peerTask()
    this.pace.measure(this.writer)
    // A paused socket reports a reset in no other way.
    if (this.writer.isBroken || this.pace.isTooSlow) this.terminate()
    else if (task !== undefined && now - this.#waitingSince > this.#parts.seconds[task]) this.#timeOut(task)
  }

  /** Closes the connection, after the answer if a request is pending. */
  closeWhenAnswered(): void {
    if (this.#pipeline.isIdle) this.close()
    else this.#pipeline.closeAfterPending()
  }

  /** Waits for the client to close as well: ending the socket at once could destroy the answer (RFC 9112, 9.6). */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.restartTimeout()
    this.setPaused(false)
    if (this.#hasPeerEnded) this.#socket.end()
    else this.#socket.shutdown()
  }

  /** Drops unsent bytes. */
  terminate(): void {
    this.#socket.terminate()
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return
    this.#isPaused = isPaused
    if (isPaused) this.#socket.pause()
    else this.#socket.resume()
  }

  restartTimeout(): void {
    this.#waitingSince = this.#parts.now()
  }

  /** `undefined` if the client is waiting for us. */
  #peerTask(): PeerTask | undefined {
    if (this.#isClosing) return 'close'
    if (this.writer.unsentBytes > 0) return 'read_answer'
    if (!this.#isOpen) return 'handshake'
    if (this.#pipeline.isIdle) return this.#hasReceivedBytes ? 'begin_request' : 'send_first_byte'
    return this.#pipeline.awaitsInput ? 'finish_request' : undefined
  }

  #timeOut(task: PeerTask): void {
    switch (task) {
      case 'handshake':
      case 'read_answer':
        this.terminate()
        break
      case 'send_first_byte':
      case 'begin_request':
        this.close()
        break
      case 'finish_request':
        this.#pipeline.breakOff(
          new RequestProblem('timeout', `request not received within ${this.#parts.seconds[task]} s`),
        )
        break
      case 'close':
        // The system still sends the bytes that it has accepted.
        this.#socket.end()
    }
  }
}

/** The number of unread bytes of pipelined requests. Beyond it, the socket is paused. */
const MAX_UNREAD_BYTES = 64 * 1024
/** The number of pipelined requests that are answered before other connections get a turn. */
const MAX_REQUESTS_PER_TURN = 20

/** Handles the requests of a connection one at a time, in order. */
class RequestPipeline {
  readonly writer: AnswerWriter
  readonly #connection: Connection
  readonly #parts: ConnectionParts
  readonly #input = new RequestInput()
  #pending: PendingRequest | undefined
  /** Set when the start of the next request cannot be known. */
  #ignoresInput = false
  #hasInputEnded = false
  /** An authenticated request was answered. */
  hasKnownClient = false
  /** When bytes last arrived. */
  #receivedAt = 0
  /** Also set while the next turn is scheduled, so that turns never overlap. */
  #isProcessing = false

  constructor(socket: Socket<Connection>, connection: Connection, parts: ConnectionParts) {
    this.#connection = connection
    this.#parts = parts
    this.writer = new AnswerWriter(socket, parts.keepAliveLine, {
      onStall: () => connection.restartTimeout(),
      onDone: () => this.#process(),
      onCut: () => connection.terminate(),
      onFailure: this.#fail,
    })
  }

  get isBusy(): boolean {
    return this.#pending !== undefined && !this.writer.isDone
  }

  /** No part of a request has arrived. */
  get isIdle(): boolean {
    return this.#pending === undefined && this.#input.isBlank
  }

  /** The rest of a request has not arrived yet. */
  get awaitsInput(): boolean {
    if (this.#pending === undefined) return !this.#input.isBlank
    return !this.#ignoresInput && !this.#pending.incoming.isComplete && !this.#pending.awaitsContinue
  }

  add(bytes: Buffer): void {
    if (this.#ignoresInput) return
    this.#receivedAt = performance.now()
    if (this.#pending === undefined && this.#input.length === 0) this.#connection.restartTimeout()
    this.#input.add(bytes)
    this.#process()
  }

  /** The client sends nothing more. Requests that have arrived are still answered. */
  endInput(): void {
    this.#hasInputEnded = true
    if (this.#pending?.incoming.isComplete === false) {
      this.#pending.isLast = true
      this.#pending.incoming.abort()
    }
    this.#process()
  }

  flush(): void {
    try {
      this.writer.flush()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Answers input that is not a request, and ignores everything after it. */
  refuse(problem: RequestProblem): void {
    this.#ignoreInput()
    const refused = new RefusedRequest()
    this.#pending = refused
    this.writer.begin()
    try {
      this.#sendWhenReady(refused, this.#parts.handler.refuse(problem, this.#connection.address))
    } catch (error) {
      this.#fail(error)
    }
    this.#process()
  }

  /** Stops waiting for the rest of a request. */
  breakOff(problem: RequestProblem): void {
    if (this.#pending === undefined) {
      this.refuse(problem)
      return
    }
    this.#ignoreInput()
    this.#pending.isLast = true
    this.#pending.incoming.abort(problem)
    this.#process()
  }

  /** Closes the connection after the pending request. */
  closeAfterPending(): void {
    if (this.#pending !== undefined) this.#pending.isLast = true
  }

  /** The connection is gone. */
  abort(): void {
    this.#pending?.incoming.abort()
    this.writer.close()
  }

  sendContinue(): void {
    this.#connection.restartTimeout()
    this.writer.writeContinue()
  }

  /** A bug. It is unknown which bytes were sent, so the connection cannot be used any more. */
  readonly #fail = (error: unknown): void => {
    console.error('wire: answering a request failed', error)
    this.#connection.terminate()
  }

  /** Handles as many requests as possible with the bytes that have arrived. */
  #process(): void {
    if (!this.#isProcessing) this.#takeTurn()
    this.#connection.setPaused(this.#input.length > MAX_UNREAD_BYTES)
  }

  #takeTurn(): void {
    this.#isProcessing = true
    try {
      this.#isProcessing = this.#processRequests()
    } catch (error) {
      this.#isProcessing = false
      this.#fail(error)
    }
    if (this.#isProcessing) setImmediate(this.#takeNextTurn)
  }

  readonly #takeNextTurn = (): void => {
    this.#isProcessing = false
    this.#process()
  }

  /** Returns whether another turn is needed. */
  #processRequests(): boolean {
    for (let started = 0; !this.#connection.isClosing; ) {
      if (this.#pending !== undefined) {
        if (!this.#finish(this.#pending)) return false
      } else if (started++ === MAX_REQUESTS_PER_TURN) {
        return true
      } else if (!this.#begin()) {
        if (this.#hasInputEnded) this.#close()
        return false
      }
    }
    return false
  }

  /** Returns whether a request was started or refused. */
  #begin(): boolean {
    try {
      const head = this.#input.readHead()
      if (head === undefined) return false
      this.#answer(head)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.refuse(error)
    }
    return true
  }

  #answer(head: RequestHead): void {
    const request = new IncomingRequest(head, this.#connection, this.#receivedAt, this)
    this.#pending = request
    this.writer.begin()
    this.#readBody(request)
    this.#sendWhenReady(request, this.#parts.handler.answer(request))
  }

  #sendWhenReady(pending: PendingRequest, answer: MaybePromise<Answer>): void {
    if (answer instanceof Promise) {
      answer.then((ready) => this.#sendLate(pending, ready), this.#fail)
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
    if (answer.isToKnownClient) this.hasKnownClient = true
    this.#connection.restartTimeout()
    this.writer.write(answer, pending)
    if (this.writer.unsentBytes > 0) this.#parts.onUnsent()
  }

  #readBody({ incoming }: PendingRequest): void {
    if (incoming.isComplete || this.#input.length === 0) return
    try {
      this.#input.readInto(incoming)
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      this.breakOff(error)
    }
  }

  #ignoreInput(): void {
    this.#ignoresInput = true
    this.#input.clear()
  }

  /** Returns whether the request is received and answered, so that the next one can start. */
  #finish(pending: PendingRequest): boolean {
    this.#readBody(pending)
    if (!this.writer.isDone) return false
    if (pending.isLast) this.#close()
    if (pending.isLast || !pending.incoming.isComplete) return false
    this.#pending = undefined
    this.#connection.restartTimeout()
    return true
  }

  #close(): void {
    this.#ignoreInput()
    this.#connection.close()
  }
}

/** Long, because the system accepts many bytes at once and then none for a while. */
const AVERAGED_SECONDS = 60
/** Assumed until it is measured. */
const FIRST_BYTES_PER_SECOND = 64 * 1024
const MIN_BYTES_PER_SECOND = 1024

/** The speed at which a client reads: an exponential moving average. */
export class ReaderPace {
  bytesPerSecond = FIRST_BYTES_PER_SECOND
  #sentBytes = 0

  get isTooSlow(): boolean {
    return this.bytesPerSecond < MIN_BYTES_PER_SECOND
  }

  /** Called once a second. Starts over when nothing is waiting to be sent. */
  measure({ unsentBytes, sentBytes }: Pick<AnswerWriter, 'unsentBytes' | 'sentBytes'>): void {
    const taken = sentBytes - this.#sentBytes
    this.#sentBytes = sentBytes
    if (unsentBytes === 0) this.bytesPerSecond = FIRST_BYTES_PER_SECOND
    else this.bytesPerSecond += (taken - this.bytesPerSecond) / AVERAGED_SECONDS
  }
}

import type { Answer } from './answer.ts'
import { AnswerWriter } from './answer-writer.ts'
import {
  type Handler,
  IncomingRequest,
  type MaybePromise,
  type PendingRequest,
  RefusedRequest,
} from './request.ts'
import { type RequestHead, RequestInput } from './request-head.ts'
import { RequestProblem } from './request-problem.ts'
import type { ByteSink } from './send-queue.ts'

/** What all pipelines of a listener share. */
export interface PipelineParts {
  readonly handler: Handler
  /** The line that tells how long a connection stays open between requests. */
  readonly keepAliveLine: string
  /** Whether each answer is the last one of its connection. */
  readonly isStopping: () => boolean
  /** An answer was given, and not all of it could be sent. */
  readonly onUnsent: () => void
}

/** What a pipeline needs of its connection. */
export interface PipelineConnection {
  readonly address: string
  readonly isClosing: boolean
  /** The other side has done something, or has something to do from now on. */
  restartTimeout(): void
  pause(isPaused: boolean): void
  /** All that was to be said is said. */
  close(): void
  terminate(): void
}

/** Of requests that wait for the one before them; beyond this nothing more is read. */
const MAX_UNREAD_BYTES = 64 * 1024
/** Requests that came together and are answered before other connections get a turn. */
const MAX_REQUESTS_IN_A_TURN = 20

/** One request after the other: what has come of the next waits until the one before is answered. */
export class RequestPipeline {
  readonly writer: AnswerWriter
  readonly #connection: PipelineConnection
  readonly #parts: PipelineParts
  readonly #input = new RequestInput()
  #pending: PendingRequest | undefined
  /** Whether nothing more is read, since it cannot be told where the next request would begin. */
  #ignoresInput = false
  #hasInputEnded = false
  /** Whether a request of a known client was answered. */
  hasKnownClient = false
  /** When bytes last arrived. */
  #receivedAt = 0
  /** Also while another turn is awaited, so that there is never more than one. */
  #isProcessing = false

  constructor(sink: ByteSink, connection: PipelineConnection, parts: PipelineParts) {
    this.#connection = connection
    this.#parts = parts
    this.writer = new AnswerWriter(sink, parts.keepAliveLine, {
      onStall: () => connection.restartTimeout(),
      onDone: () => this.#process(),
      onCut: () => connection.terminate(),
      onFailure: this.#fail,
    })
  }

  get isBusy(): boolean {
    return this.#pending !== undefined && !this.writer.isDone
  }

  /** Whether nothing of a request is here. */
  get isIdle(): boolean {
    return this.#pending === undefined && this.#input.isBlank
  }

  /** Whether it cannot go on without more of a request that has begun. */
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

  /** No more will come. What has come is answered. */
  endInput(): void {
    this.#hasInputEnded = true
    if (this.#pending?.incoming.isComplete === false) {
      this.#pending.isLast = true
      this.#pending.incoming.abort()
    }
    this.#process()
  }

  /** The network takes more again. */
  flush(): void {
    try {
      this.writer.flush()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Answers what is no request, and nothing after it. */
  refuse(problem: RequestProblem): void {
    this.#ignoreInput()
    const refused = new RefusedRequest()
    this.#pending = refused
    this.writer.begin()
    try {
      this.#sendWhenMade(refused, this.#parts.handler.refuse(problem, this.#connection.address))
    } catch (error) {
      this.#fail(error)
    }
    this.#process()
  }

  /** The rest of the request that has begun is not waited for. */
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

  /** The request that is pending is the last one. */
  answerNoMore(): void {
    if (this.#pending !== undefined) this.#pending.isLast = true
  }

  /** Nobody is there any more. */
  abort(): void {
    this.#pending?.incoming.abort()
    this.writer.close()
  }

  /** Tells a client that waits for it to send its body. */
  sendContinue(): void {
    this.#connection.restartTimeout()
    this.writer.writeContinue()
  }

  /** For what should never happen: nobody can tell what was sent, so nothing more is. */
  readonly #fail = (error: unknown): void => {
    console.error('wire: an answer could not be given', error)
    this.#connection.terminate()
  }

  /** Goes as far as it can with what has come. An answer that is done while this goes on is seen by it. */
  #process(): void {
    if (!this.#isProcessing) this.#takeTurn()
    this.#connection.pause(this.#input.length > MAX_UNREAD_BYTES)
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

  /** Whether there is more to do, in another turn. */
  #processRequests(): boolean {
    for (let begun = 0; !this.#connection.isClosing; ) {
      if (this.#pending !== undefined) {
        if (!this.#finish(this.#pending)) return false
      } else if (begun++ === MAX_REQUESTS_IN_A_TURN) {
        return true
      } else if (!this.#begin()) {
        if (this.#hasInputEnded) this.#close()
        return false
      }
    }
    return false
  }

  /** Whether there was a request to begin with, or what is none and was refused. */
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
    this.#sendWhenMade(request, this.#parts.handler.answer(request))
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

  /** Whether all of it is received and answered, and the next one can begin. */
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

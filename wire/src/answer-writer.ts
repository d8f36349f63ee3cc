import {
  type Answer,
  type AnswerBody,
  type AnswerContext,
  answerHead,
  framingOf,
  isLive,
  type LiveBody,
  type Outflow,
} from './answer.ts'
import { type ByteSink, SendQueue } from './send-queue.ts'

export interface WriterEvents {
  /** From now on the reader keeps us waiting, unless it takes something. */
  onStall(): void
  /** The answer is out, some time after it was given. */
  onDone(): void
  /** The connection must not go on. */
  onCut(): void
  /** A part of an answer could not be made. */
  onFailure(error: unknown): void
}

/** Of a body that comes part by part, before other connections get a turn. */
const MAX_BYTES_IN_A_TURN = 256 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Writes one answer after the other, each as fast as it is taken. */
export class AnswerWriter {
  readonly #queue: SendQueue
  readonly #keepAliveLine: string
  readonly #events: WriterEvents
  #isChunked = false
  #parts: Iterator<Uint8Array> | undefined
  /** What the parts that are still to be written hold in memory. */
  #held: readonly Uint8Array[] = []
  #live: LiveBody | undefined
  /** Whether all of the answer has been given to the queue. */
  #isWritten = true
  #isClosed = false

  /** `keepAliveLine` tells how long a connection stays open between requests. */
  constructor(sink: ByteSink, keepAliveLine: string, events: WriterEvents) {
    this.#queue = new SendQueue(sink)
    this.#keepAliveLine = keepAliveLine
    this.#events = events
  }

  get unsentBytes(): number {
    return this.#queue.unsentBytes
  }

  /** What the network has taken since the beginning. */
  get takenBytes(): number {
    return this.#queue.takenBytes
  }

  /** Whether nothing can be sent any more. */
  get isBroken(): boolean {
    return this.#queue.isBroken
  }

  /** Whether nothing is left of the last answer that was begun. */
  get isDone(): boolean {
    return this.#isWritten && this.#queue.unsentBytes === 0
  }

  get isLive(): boolean {
    return this.#live !== undefined
  }

  /** All that is kept for the reader. */
  collectUnsent(): Set<ArrayBufferLike> {
    return new Set([...this.#queue.unsent, ...this.#held].map(({ buffer }) => buffer))
  }

  /** An answer will come. */
  begin(): void {
    this.#isWritten = false
  }

  /** Tells a client that waits for it to send its body. */
  writeContinue(): void {
    this.#queue.writeText(CONTINUE)
  }

  write(answer: Answer, context: AnswerContext): void {
    const { body } = answer
    if (this.#isClosed) {
      if (isLive(body)) body.onClose()
      return
    }
    const framing = framingOf(body, context.isHttp10)
    if (framing === 'until_close') context.isLast = true
    this.#isChunked = framing === 'chunked'
    const head = answerHead(answer, framing, context, this.#keepAliveLine)
    if (context.method === 'HEAD' || body === null) {
      if (isLive(body)) body.onClose()
      this.#queue.writeText(head)
      this.#isWritten = true
    } else if (typeof body === 'string') {
      this.#queue.writeText(head + body)
      this.#isWritten = true
    } else if (body instanceof Uint8Array) {
      this.#queue.writeHeadAndBytes(head, body)
      this.#isWritten = true
    } else {
      this.#queue.writeText(head)
      this.#beginParts(body)
    }
  }

  /** Sends what the network takes, if it takes more by now. */
  flush(): void {
    if (this.#isClosed) return
    const before = this.#queue.takenBytes
    this.#queue.flush()
    if (this.#queue.takenBytes > before) this.#live?.onRoom()
    if (this.#queue.unsentBytes > 0) return
    if (this.#parts !== undefined) this.#writeParts()
    if (this.isDone) this.#events.onDone()
  }

  /** Nobody is there any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.drop()
    this.#parts?.return?.()
    this.#endParts()
    this.#live?.onClose()
    this.#live = undefined
  }

  #beginParts(body: Exclude<AnswerBody, string | Uint8Array | null>): void {
    if (isLive(body)) {
      this.#live = body
      body.begin(this.#outflowOf(body))
    } else {
      const left = Array.isArray(body) ? body.toReversed() : undefined
      this.#parts = left === undefined ? body[Symbol.iterator]() : takenOff(left)
      this.#held = left ?? body.madeOf ?? []
      this.#writeParts()
    }
  }

  /** It does nothing any more once its body is over, whatever is written then. */
  #outflowOf(body: LiveBody): Outflow {
    const queue = this.#queue
    return {
      get unsentBytes() {
        return queue.unsentBytes
      },
      send: (bytes) => {
        if (this.#live !== body) return
        if (queue.unsentBytes === 0) this.#events.onStall()
        this.#writePart(bytes)
      },
      end: () => {
        if (this.#live !== body) return
        this.#finish()
        if (this.isDone) this.#events.onDone()
      },
      cut: () => {
        if (this.#live === body) this.#events.onCut()
      },
    }
  }

  #writeParts(): void {
    let written = 0
    while (this.#parts !== undefined && this.#queue.unsentBytes === 0) {
      if (written >= MAX_BYTES_IN_A_TURN) {
        setImmediate(() => this.#writeMoreParts())
        return
      }
      const { value, done } = this.#parts.next()
      if (done === true) {
        this.#endParts()
        this.#finish()
      } else {
        this.#writePart(value)
        written += value.length
      }
    }
  }

  #endParts(): void {
    this.#parts = undefined
    this.#held = []
  }

  #writeMoreParts(): void {
    try {
      this.flush()
    } catch (error) {
      this.#events.onFailure(error)
    }
  }

  #writePart(bytes: Uint8Array): void {
    if (!this.#isChunked) this.#queue.writeBytes(bytes)
    // An empty chunk would be the last one.
    else if (bytes.length > 0) this.#queue.writeChunk(bytes)
  }

  #finish(): void {
    if (this.#isChunked) this.#queue.writeBytes(LAST_CHUNK)
    this.#live = undefined
    this.#isWritten = true
  }
}

/** From the end of the list, so that what is written is held no longer. */
function takenOff(left: Uint8Array[]): Iterator<Uint8Array> {
  return {
    next: () => {
      const value = left.pop()
      return value === undefined ? { value, done: true } : { value }
    },
  }
}

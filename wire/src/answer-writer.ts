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

/** What a writer needs of a socket. */
export interface ByteSink {
  /** Gives how many bytes it took, which may be fewer than there are; of one that is closed, -1. */
  write(data: string | Uint8Array): number
}

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
/**
 * Up to this, head and body go out in one piece, for the price of a copy: two writes cost more.
 * Figures: docs/decisions/2026-11-15-http-of-our-own.md
 */
const MAX_JOINED_BYTES = 256 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const LINE_END = '\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Writes one answer after the other, each as fast as it is taken. */
export class AnswerWriter {
  readonly #queue: SendQueue
  readonly #events: WriterEvents
  #isChunked = false
  #parts: Iterator<Uint8Array> | undefined
  #live: LiveBody | undefined
  /** Whether all of the answer has been given to the queue. */
  #isWritten = true
  #isClosed = false

  constructor(sink: ByteSink, events: WriterEvents) {
    this.#queue = new SendQueue(sink)
    this.#events = events
  }

  get unsentBytes(): number {
    return this.#queue.unsentBytes
  }

  /** Whether nothing is left of the last answer that was begun. */
  get isDone(): boolean {
    return this.#isWritten && this.#queue.unsentBytes === 0
  }

  get isLive(): boolean {
    return this.#live !== undefined
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
    const head = answerHead(answer, framing, context)
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

  /** The network takes more again. */
  flush(): void {
    if (this.#isClosed) return
    this.#queue.flush()
    this.#live?.onRoom()
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
    this.#parts = undefined
    this.#live?.onClose()
    this.#live = undefined
  }

  #beginParts(body: Exclude<AnswerBody, string | Uint8Array | null>): void {
    if (isLive(body)) {
      this.#live = body
      body.begin(this.#outflowOf(body))
    } else {
      this.#parts = body[Symbol.iterator]()
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
        this.#parts = undefined
        this.#finish()
      } else {
        this.#writePart(value)
        written += value.length
      }
    }
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

/** Where bytes are put together that go out at once; all connections share it. */
let scratch = Buffer.allocUnsafe(16 * 1024)

function ensureScratch(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafe(bytes)
}

/** Holds on to what the network does not take yet. */
class SendQueue {
  readonly #sink: ByteSink
  #unsent: Uint8Array[] = []
  #unsentBytes = 0

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** As UTF-8. */
  writeText(text: string): void {
    const sent = this.#write(text)
    if (sent < Buffer.byteLength(text)) this.#keep(Buffer.from(text).subarray(sent))
  }

  /** The bytes must stay as they are. */
  writeBytes(bytes: Uint8Array): void {
    const sent = this.#write(bytes)
    if (sent < bytes.length) this.#keep(bytes.subarray(sent))
  }

  /** The head is ASCII; the bytes must stay as they are, for a slow reader they are not copied. */
  writeHeadAndBytes(head: string, bytes: Uint8Array): void {
    const joined = Math.min(bytes.length, MAX_JOINED_BYTES)
    ensureScratch(head.length + joined)
    scratch.write(head, 'latin1')
    scratch.set(bytes.subarray(0, joined), head.length)
    const sent = this.#write(scratch.subarray(0, head.length + joined))
    if (sent < head.length) this.#keep(Buffer.from(head.slice(sent)))
    const rest = bytes.subarray(Math.max(0, sent - head.length))
    if (rest.length > 0) this.writeBytes(rest)
  }

  /** One part of a chunked body (RFC 9112, 7.1); the bytes can be changed as soon as this returns. */
  writeChunk(bytes: Uint8Array): void {
    const size = `${bytes.length.toString(16)}${LINE_END}`
    const length = size.length + bytes.length + LINE_END.length
    ensureScratch(length)
    scratch.write(size, 'latin1')
    scratch.set(bytes, size.length)
    scratch.write(LINE_END, size.length + bytes.length, 'latin1')
    const sent = this.#write(scratch.subarray(0, length))
    // Not `slice`, which of a Buffer gives a view.
    if (sent < length) this.#keep(new Uint8Array(scratch.subarray(sent, length)))
  }

  /** The network takes more again. */
  flush(): void {
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const sent = Math.max(0, this.#sink.write(first))
      this.#unsentBytes -= sent
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(sent)
        return
      }
      this.#unsent.shift()
    }
  }

  drop(): void {
    this.#unsent = []
    this.#unsentBytes = 0
  }

  #keep(bytes: Uint8Array): void {
    this.#unsent.push(bytes)
    this.#unsentBytes += bytes.length
  }

  /** Nothing, while something waits before it. */
  #write(data: string | Uint8Array): number {
    return this.#unsentBytes > 0 ? 0 : Math.max(0, this.#sink.write(data))
  }
}

import { type Answer, type AnswerBody, dateLine, type LiveBody, type Outflow, statusLine } from './answer.ts'
import { type ByteSink, Outbox } from './outbox.ts'

/** What the way an answer is written depends on. */
export interface Addressee {
  readonly method: string
  readonly isHttp10: boolean
  /** Whether the connection is closed after the answer. */
  isLast: boolean
}

export interface WriterEvents {
  /** From now on the other side keeps us waiting, unless it takes something. */
  onStall(): void
  /** The answer is out, some time after it was given. */
  onDone(): void
  /** The connection must not go on. */
  onCut(): void
  /** A part of an answer could not be made. */
  onBug(bug: unknown): void
}

/** Of a body that comes part by part, before others get a turn. */
const BYTES_IN_A_TURN = 256 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Writes one answer after the other, each as fast as it is taken. */
export class AnswerWriter {
  readonly #outbox: Outbox
  readonly #events: WriterEvents
  #isChunked = false
  #parts: Iterator<Uint8Array> | undefined
  #live: LiveBody | undefined
  /** Whether all of the answer has been given to the outbox. */
  #isWritten = true
  #isClosed = false

  constructor(sink: ByteSink, events: WriterEvents) {
    this.#outbox = new Outbox(sink)
    this.#events = events
  }

  get unsentBytes(): number {
    return this.#outbox.unsentBytes
  }

  /** Whether nothing is left of the last answer that was begun. */
  get isDone(): boolean {
    return this.#isWritten && this.#outbox.unsentBytes === 0
  }

  get isLive(): boolean {
    return this.#live !== undefined
  }

  /** An answer will come. */
  begin(): void {
    this.#isWritten = false
  }

  /** Tells one that waits for it to send its body. */
  writeContinue(): void {
    this.#outbox.writeText(CONTINUE, CONTINUE.length)
  }

  write({ status, lines, body }: Answer, to: Addressee): void {
    if (this.#isClosed) {
      if (isLive(body)) body.onClose()
      return
    }
    const size = sizeOf(body)
    // A reader of HTTP/1.0 knows the end of such a body by the end of the connection.
    if (size === undefined && to.isHttp10) to.isLast = true
    this.#isChunked = size === undefined && !to.isHttp10
    const framing = this.#isChunked
      ? 'Transfer-Encoding: chunked\r\n'
      : size === undefined || status === 204 || status === 304
        ? ''
        : `Content-Length: ${size}\r\n`
    const head = `${statusLine(status)}${lines}${dateLine()}${connectionLine(to)}${framing}\r\n`
    if (to.method === 'HEAD' || body === null) {
      if (isLive(body)) body.onClose()
      this.#outbox.writeText(head, head.length)
      this.#isWritten = true
    } else this.#writeBody(head, body, size ?? 0)
  }

  /** The network takes more again. */
  flush(): void {
    if (this.#isClosed) return
    this.#outbox.flush()
    this.#live?.onRoom()
    if (this.#outbox.unsentBytes > 0) return
    if (this.#parts !== undefined) this.#writeParts()
    if (this.isDone) this.#events.onDone()
  }

  /** Nobody is there any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#outbox.drop()
    this.#parts?.return?.()
    this.#parts = undefined
    this.#live?.onClose()
    this.#live = undefined
  }

  #writeBody(head: string, body: Exclude<AnswerBody, null>, size: number): void {
    if (typeof body === 'string') {
      this.#outbox.writeText(head + body, head.length + size)
      this.#isWritten = true
    } else if (body instanceof Uint8Array) {
      this.#outbox.writeHeadAndBytes(head, body)
      this.#isWritten = true
    } else {
      this.#outbox.writeText(head, head.length)
      if (isLive(body)) {
        this.#live = body
        body.begin(this.#outflowOf(body))
      } else {
        this.#parts = body[Symbol.iterator]()
        this.#writeParts()
      }
    }
  }

  /** It does nothing any more once its body is over, whatever is written then. */
  #outflowOf(body: LiveBody): Outflow {
    const outbox = this.#outbox
    return {
      get unsentBytes() {
        return outbox.unsentBytes
      },
      send: (bytes) => {
        if (this.#live !== body) return
        if (outbox.unsentBytes === 0) this.#events.onStall()
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
    while (this.#parts !== undefined && this.#outbox.unsentBytes === 0) {
      if (written >= BYTES_IN_A_TURN) {
        setImmediate(() => this.#writeOn())
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

  #writeOn(): void {
    try {
      this.flush()
    } catch (bug) {
      this.#events.onBug(bug)
    }
  }

  #writePart(bytes: Uint8Array): void {
    if (!this.#isChunked) this.#outbox.writeBytes(bytes)
    // An empty chunk would be the last one.
    else if (bytes.length > 0) this.#outbox.writeChunk(bytes)
  }

  #finish(): void {
    if (this.#isChunked) this.#outbox.writeBytes(LAST_CHUNK)
    this.#live = undefined
    this.#isWritten = true
  }
}

function isLive(body: AnswerBody): body is LiveBody {
  return body !== null && typeof body === 'object' && 'begin' in body
}

/** `undefined` where it is not known beforehand. */
function sizeOf(body: AnswerBody): number | undefined {
  if (body === null) return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof Uint8Array ? body.length : undefined
}

function connectionLine({ isLast, isHttp10 }: Addressee): string {
  return isLast ? 'Connection: close\r\n' : isHttp10 ? 'Connection: keep-alive\r\n' : ''
}

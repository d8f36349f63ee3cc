import { STATUS_CODES } from 'node:http'

export interface Answer {
  readonly status: number
  /** From `headerLines`. Headers about the body and the connection are added. */
  readonly lines: string
  readonly body: AnswerBody
  /** The client is authenticated, so its connection is never closed to make room for others. */
  readonly isToKnownClient?: boolean
}

/** Complete, or produced part by part as the client reads, or sent live. */
export type AnswerBody = string | Uint8Array | Parts | LiveBody | null

export interface Parts extends Iterable<Uint8Array> {
  /** The sources of the parts, in the same order, if each part is made when its turn comes. They count as unsent bytes. */
  readonly sources?: readonly Uint8Array[]
}

export interface LiveBody {
  begin(outflow: Outflow): void
  /** Some unsent bytes have been sent. */
  onRoom(): void
  /** The connection is closed. */
  onClose(): void
}

export interface Outflow {
  readonly unsentBytes: number
  send(bytes: Uint8Array): void
  /** Ends the body once all unsent bytes are sent. */
  end(): void
  /** Drops the unsent bytes and the connection. */
  cut(): void
}

/** The facts about a request that determine the form of its answer. */
export interface AnswerContext {
  readonly method: string
  readonly isHttp10: boolean
  /** Whether the connection is closed after the answer. */
  isLast: boolean
}

/** How the client finds the end of a body: by its length, its last chunk or the end of the connection. */
type Framing = number | 'chunked' | 'until_close'

const SECOND = 1_000
const INVALID_IN_LINE = /[^\t -~]/

/** Throws if a value is not one line of ASCII. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || INVALID_IN_LINE.test(value))
      throw new Error(`the header ${name} cannot have the value ${JSON.stringify(value)}`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** The status line, all headers and the empty line after them, in ASCII. */
function answerHead(
  { status, lines }: Answer,
  framing: Framing,
  { isLast, isHttp10 }: AnswerContext,
  keepAlive: string,
): string {
  const connection = isLast
    ? 'Connection: close\r\n'
    : isHttp10
      ? `Connection: keep-alive\r\n${keepAlive}`
      : keepAlive
  return `${statusLine(status)}${lines}${dateLine()}${connection}${framingLine(status, framing)}\r\n`
}

function isLive(body: AnswerBody): body is LiveBody {
  return body !== null && typeof body === 'object' && 'begin' in body
}

function framingOf(body: AnswerBody, isHttp10: boolean): Framing {
  if (body === null) return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (body instanceof Uint8Array) return body.length
  return isHttp10 ? 'until_close' : 'chunked'
}

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [
    Number(status),
    `HTTP/1.1 ${status} ${reason}\r\n`,
  ]),
)

function statusLine(status: number): string {
  return statusLines.get(status) ?? `HTTP/1.1 ${status} \r\n`
}

let dateSecond = 0
let dateText = ''

/** Formatted once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / SECOND)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * SECOND).toUTCString()}\r\n`
  }
  return dateText
}

function framingLine(status: number, framing: Framing): string {
  if (framing === 'chunked') return 'Transfer-Encoding: chunked\r\n'
  return framing === 'until_close' || status === 204 || status === 304 ? '' : `Content-Length: ${framing}\r\n`
}

interface WriterEvents {
  /** Unsent bytes now wait for the client. */
  onStall(): void
  /** The answer is sent, after it had to wait. */
  onDone(): void
  /** The connection must be dropped. */
  onCut(): void
  /** Producing a part of an answer failed. */
  onFailure(error: unknown): void
}

/** The number of bytes of one body that are written before other connections get a turn. */
const MAX_BYTES_PER_TURN = 256 * 1024
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Writes one answer after the other, each as fast as the client reads. */
export class AnswerWriter {
  readonly #queue: SendQueue
  readonly #keepAliveLine: string
  readonly #events: WriterEvents
  #isChunked = false
  #parts: Iterator<Uint8Array> | undefined
  /** The buffers that the remaining parts occupy. */
  #partSources: readonly Uint8Array[] = []
  #live: LiveBody | undefined
  /** Whether the whole answer has been passed to the queue. */
  #isWritten = true
  #isClosed = false

  constructor(sink: ByteSink, keepAliveLine: string, events: WriterEvents) {
    this.#queue = new SendQueue(sink)
    this.#keepAliveLine = keepAliveLine
    this.#events = events
  }

  get unsentBytes(): number {
    return this.#queue.unsentBytes
  }

  get sentBytes(): number {
    return this.#queue.sentBytes
  }

  get isBroken(): boolean {
    return this.#queue.isBroken
  }

  /** Whether the last answer is completely sent. */
  get isDone(): boolean {
    return this.#isWritten && this.#queue.unsentBytes === 0
  }

  get isLive(): boolean {
    return this.#live !== undefined
  }

  /** The buffers that are kept for the client. */
  collectUnsent(): Set<ArrayBufferLike> {
    return new Set([...this.#queue.unsent, ...this.#partSources].map(({ buffer }) => buffer))
  }

  /** Announces an answer, so that `isDone` is false until it is sent. */
  begin(): void {
    this.#isWritten = false
  }

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

  /** Sends as much as the network accepts now. */
  flush(): void {
    if (this.#isClosed) return
    const before = this.#queue.sentBytes
    this.#queue.flush()
    if (this.#queue.sentBytes > before) this.#live?.onRoom()
    if (this.#queue.unsentBytes > 0) return
    if (this.#parts !== undefined) this.#writeParts()
    if (this.isDone) this.#events.onDone()
  }

  /** The connection is gone. */
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
      this.#parts = left === undefined ? body[Symbol.iterator]() : drain(left)
      this.#partSources = left ?? body.sources ?? []
      this.#writeParts()
    }
  }

  /** Its methods do nothing once another body is written. */
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
      if (written >= MAX_BYTES_PER_TURN) {
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
    this.#partSources = []
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
    // An empty chunk would end the body.
    else if (bytes.length > 0) this.#queue.writeChunk(bytes)
  }

  #finish(): void {
    if (this.#isChunked) this.#queue.writeBytes(LAST_CHUNK)
    this.#live = undefined
    this.#isWritten = true
  }
}

/** Removes each part before it is written, so that its memory can be freed. */
function drain(left: Uint8Array[]): Iterator<Uint8Array> {
  return {
    next: () => {
      const value = left.pop()
      return value === undefined ? { value, done: true } : { value }
    },
  }
}

/** A socket. */
interface ByteSink {
  /** Returns how many bytes it accepted, or -1 if the connection is broken. */
  write(data: string | Uint8Array): number
}

/**
 * Up to this size, head and body are copied into one buffer, because two writes cost more than the copy.
 * Figures: docs/decisions/2026-11-15-http-of-our-own.md
 */
const MAX_JOINED_BYTES = 256 * 1024
const LINE_END = '\r\n'

/** Joins bytes for one write. All connections share it. */
let scratch = Buffer.allocUnsafe(16 * 1024)

function ensureScratch(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafe(bytes)
}

/** Keeps bytes that the network does not accept yet. */
class SendQueue {
  readonly #sink: ByteSink
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  #sentBytes = 0
  isBroken = false

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** Bytes that the network has accepted since the connection was opened. */
  get sentBytes(): number {
    return this.#sentBytes
  }

  get unsent(): readonly Uint8Array[] {
    return this.#unsent
  }

  writeText(text: string): void {
    const sent = this.#write(text)
    if (sent < Buffer.byteLength(text)) this.#keep(Buffer.from(text).subarray(sent))
  }

  /** The bytes are not copied and must not change. */
  writeBytes(bytes: Uint8Array): void {
    const sent = this.#write(bytes)
    if (sent < bytes.length) this.#keep(bytes.subarray(sent))
  }

  /** The head is ASCII. The bytes must not change, because unsent bytes are not copied. */
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

  /** Writes one chunk (RFC 9112, 7.1). The bytes may change as soon as this returns. */
  writeChunk(bytes: Uint8Array): void {
    const size = `${bytes.length.toString(16)}${LINE_END}`
    const length = size.length + bytes.length + LINE_END.length
    ensureScratch(length)
    scratch.write(size, 'latin1')
    scratch.set(bytes, size.length)
    scratch.write(LINE_END, size.length + bytes.length, 'latin1')
    const sent = this.#write(scratch.subarray(0, length))
    // A copy: `slice` of a Buffer would be a view of the shared buffer.
    if (sent < length) this.#keep(new Uint8Array(scratch.subarray(sent, length)))
  }

  flush(): void {
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const sent = this.#send(first)
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

  /** Sends nothing while earlier bytes are waiting. */
  #write(data: string | Uint8Array): number {
    return this.#unsentBytes > 0 ? 0 : this.#send(data)
  }

  #send(data: string | Uint8Array): number {
    const sent = this.#sink.write(data)
    if (sent < 0) this.isBroken = true
    this.#sentBytes += Math.max(0, sent)
    return Math.max(0, sent)
  }
}

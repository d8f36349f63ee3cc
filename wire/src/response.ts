import { STATUS_CODES } from 'node:http'
import type { Socket } from 'bun'
import type { SendTurns } from './send-turns.ts'

export interface HttpResponse {
  readonly status: number
  /** The result of `headerLines`. Headers about the body and the connection are added to it. */
  readonly lines: string
  readonly body: ResponseBody
  /** The connection of an authenticated client is never closed to make room for others. */
  readonly isClientAuthenticated?: boolean
}

/** A complete body, parts that are produced as the client reads, or a live body, which sends bytes at any time. */
export type ResponseBody = string | Uint8Array | Parts | LiveBody | null

export interface Parts extends Iterable<Uint8Array> {
  /** The buffers from which the parts are produced, if any. `collectUnsent` includes them until all parts are sent. */
  readonly sources?: readonly Uint8Array[]
}

export interface LiveBody {
  begin(output: BodyOutput): void
  /** Called when some of the unsent bytes have been sent. */
  onBytesSent(): void
  /**
   * Called when the connection is closed before the end of the body. Also called, without `begin`, for HEAD and if the
   * connection was closed before the response.
   */
  onClose(): void
}

export interface BodyOutput {
  readonly unsentBytes: number
  send(bytes: Uint8Array): void
  /** Ends the body after its unsent bytes. */
  end(): void
  /** Closes the connection at once. Unsent bytes are lost. */
  abort(): void
}

/** The facts about a request that determine the form of its response. */
export interface ResponseContext {
  readonly method: string
  readonly isHttp10: boolean
  /** Whether the connection is closed after the response. */
  isLast: boolean
}

/** How the client finds the end of a body: by its length, its last chunk or the end of the connection. */
type Framing = number | 'chunked' | 'until_close'

const SECOND = 1_000
const INVALID_IN_LINE = /[^\t -~]/

/** Formats headers for a response. Throws if a value is not one line of ASCII. */
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
function responseHead(
  { status, lines }: HttpResponse,
  framing: Framing,
  { isLast, isHttp10 }: ResponseContext,
  keepAliveLine: string,
): string {
  const connection = connectionLines(isLast, isHttp10, keepAliveLine)
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  return `${statusLine}${lines}${dateLine()}${connection}${framingLine(status, framing)}\r\n`
}

function connectionLines(isLast: boolean, isHttp10: boolean, keepAliveLine: string): string {
  if (isLast) return 'Connection: close\r\n'
  return isHttp10 ? `Connection: keep-alive\r\n${keepAliveLine}` : keepAliveLine
}

function isLive(body: ResponseBody): body is LiveBody {
  return body !== null && typeof body === 'object' && 'begin' in body
}

function framingOf(body: ResponseBody, isHttp10: boolean): Framing {
  if (body === null) return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (body instanceof Uint8Array) return body.length
  return isHttp10 ? 'until_close' : 'chunked'
}

let dateSecond = 0
let dateText = ''

/** Formats the date once a second. */
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
  if (framing === 'until_close' || status === 204 || status === 304) return ''
  return `Content-Length: ${framing}\r\n`
}

interface WriterEvents {
  /** Called when a live body sends bytes and has no unsent bytes before them. */
  onLiveWrite(): void
  /** Called when a response that could not be sent at once has been sent. */
  onDone(): void
  /** The connection must be closed at once. */
  onAbort(): void
  /** The turn that the writer has waited for. `takeTurn` must be called. */
  onTurn(): void
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Writes the responses of a connection, one after the other, as fast as the client reads. */
export class ResponseWriter {
  readonly #queue: SendQueue
  readonly #keepAliveLine: string
  readonly #turns: SendTurns
  readonly #events: WriterEvents
  #isChunked = false
  #parts: Iterator<Uint8Array> | undefined
  /** The buffers that the remaining parts keep in memory. */
  #partSources: readonly Uint8Array[] = []
  #live: LiveBody | undefined
  /** Whether the whole response has been passed to the queue. */
  #isWritten = true
  #isWaitingForTurn = false
  #isClosed = false

  constructor(socket: ByteSink, keepAliveLine: string, turns: SendTurns, events: WriterEvents) {
    this.#queue = new SendQueue(socket, turns)
    this.#keepAliveLine = keepAliveLine
    this.#turns = turns
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

  /** Whether the latest response is completely sent. */
  get isDone(): boolean {
    return this.#isWritten && this.#queue.unsentBytes === 0
  }

  get isLive(): boolean {
    return this.#live !== undefined
  }

  /** The buffers that are kept in memory until the client has read them. */
  collectUnsent(): Set<ArrayBufferLike> {
    return new Set([...this.#queue.unsent, ...this.#partSources].map(({ buffer }) => buffer))
  }

  /** Announces a response, so that `isDone` is false until it is sent. */
  begin(): void {
    this.#isWritten = false
  }

  writeContinue(): void {
    this.#queue.writeText(CONTINUE)
  }

  write(response: HttpResponse, context: ResponseContext): void {
    const { body } = response
    if (this.#isClosed) {
      if (isLive(body)) body.onClose()
      return
    }
    const framing = framingOf(body, context.isHttp10)
    if (framing === 'until_close') context.isLast = true
    this.#isChunked = framing === 'chunked'
    const head = responseHead(response, framing, context, this.#keepAliveLine)
    if (context.method === 'HEAD' || body === null) {
      if (isLive(body)) body.onClose()
      this.#queue.writeText(head)
    } else if (typeof body === 'string' && body.length <= this.#turns.sliceBytes) {
      this.#queue.writeText(head + body)
    } else if (typeof body === 'string' || body instanceof Uint8Array) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const slice = bytes.subarray(0, this.#turns.sliceBytes)
      this.#queue.writeHeadAndBytes(head, slice)
      if (slice.length < bytes.length) {
        this.#parts = this.#slicesOf(bytes, slice.length)
        this.#partSources = [bytes]
        this.#writeParts()
        return
      }
    } else {
      this.#queue.writeText(head)
      this.#beginParts(body)
      return
    }
    this.#isWritten = true
  }

  /** Sends as much as the network accepts now. */
  flush(): void {
    if (this.#isClosed) return
    const sentBefore = this.#queue.sentBytes
    this.#queue.flush()
    if (this.#queue.sentBytes > sentBefore) this.#live?.onBytesSent()
    this.#writeParts()
    if (this.isDone) this.#events.onDone()
  }

  takeTurn(): void {
    this.#isWaitingForTurn = false
    if (this.#isClosed) return
    this.#writeSlice()
    if (this.isDone) this.#events.onDone()
  }

  /** Called when the connection is closed. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.drop()
    this.#parts?.return?.()
    this.#endParts()
    this.#live?.onClose()
    this.#live = undefined
  }

  #beginParts(body: Parts | LiveBody): void {
    if (isLive(body)) {
      this.#live = body
      body.begin(this.#outputOf(body))
    } else {
      const remainingParts = Array.isArray(body) ? body.toReversed() : undefined
      this.#parts = remainingParts === undefined ? body[Symbol.iterator]() : popAll(remainingParts)
      this.#partSources = remainingParts ?? body.sources ?? []
      this.#writeSlice()
    }
  }

  /** The methods of the output do nothing after the end of its body. */
  #outputOf(body: LiveBody): BodyOutput {
    const queue = this.#queue
    return {
      get unsentBytes() {
        return queue.unsentBytes
      },
      send: (bytes) => {
        if (this.#live !== body) return
        if (queue.unsentBytes === 0) this.#events.onLiveWrite()
        this.#writePart(bytes)
      },
      end: () => {
        if (this.#live !== body) return
        this.#finish()
        if (this.isDone) this.#events.onDone()
      },
      abort: () => {
        if (this.#live === body) this.#events.onAbort()
      },
    }
  }

  /** For use in a turn of this connection: writes one part although others wait. */
  #writeSlice(): void {
    if (this.#parts !== undefined && this.#queue.unsentBytes === 0) this.#writeNextPart(this.#parts)
    this.#writeParts()
  }

  /** Writes parts until the network accepts no more, or until other connections have to have their turn. */
  #writeParts(): void {
    while (this.#parts !== undefined && this.#queue.unsentBytes === 0 && !this.#isWaitingForTurn) {
      if (this.#turns.isFree) this.#writeNextPart(this.#parts)
      else {
        this.#isWaitingForTurn = true
        this.#turns.wait(this.#events.onTurn)
      }
    }
  }

  #writeNextPart(parts: Iterator<Uint8Array>): void {
    const { value, done } = parts.next()
    if (done === true) {
      this.#endParts()
      this.#finish()
    } else this.#writePart(value)
  }

  *#slicesOf(bytes: Uint8Array, start: number): Generator<Uint8Array> {
    for (let at = start; at < bytes.length; ) {
      const slice = bytes.subarray(at, at + this.#turns.sliceBytes)
      at += slice.length
      yield slice
    }
  }

  #endParts(): void {
    this.#parts = undefined
    this.#partSources = []
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

/** Removes each part from the end of the array before it is written, so that its memory can be freed. */
function popAll(parts: Uint8Array[]): Iterator<Uint8Array> {
  return {
    next: () => {
      const value = parts.pop()
      return value === undefined ? { value, done: true } : { value }
    },
  }
}

/** `write` returns how many bytes it accepted, or -1 if the connection is broken. */
type ByteSink = Pick<Socket, 'write'>

const LINE_END = '\r\n'

/** A buffer in which bytes are joined for one write. All connections share it. */
let scratch = Buffer.allocUnsafe(16 * 1024)

function growScratch(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafe(bytes)
}

/** Sends bytes, and keeps those that the network does not accept yet. */
class SendQueue {
  readonly #socket: ByteSink
  readonly #turns: SendTurns
  unsent: Uint8Array[] = []
  unsentBytes = 0
  /** Bytes that the network has accepted since the connection was opened. */
  sentBytes = 0
  isBroken = false

  constructor(socket: ByteSink, turns: SendTurns) {
    this.#socket = socket
    this.#turns = turns
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

  /**
   * Copies both into one buffer, because a second write costs more than the copy. The head is ASCII. The bytes must not
   * change, because unsent bytes are not copied.
   */
  writeHeadAndBytes(head: string, bytes: Uint8Array): void {
    const length = head.length + bytes.length
    growScratch(length)
    scratch.write(head, 'latin1')
    scratch.set(bytes, head.length)
    const sent = this.#write(scratch.subarray(0, length))
    if (sent < head.length) this.#keep(Buffer.from(head.slice(sent)))
    if (sent < length) this.#keep(bytes.subarray(Math.max(0, sent - head.length)))
  }

  /** Writes one chunk (RFC 9112, 7.1). The bytes may change as soon as this returns. */
  writeChunk(bytes: Uint8Array): void {
    const size = `${bytes.length.toString(16)}${LINE_END}`
    const length = size.length + bytes.length + LINE_END.length
    growScratch(length)
    scratch.write(size, 'latin1')
    scratch.set(bytes, size.length)
    scratch.write(LINE_END, size.length + bytes.length, 'latin1')
    const sent = this.#write(scratch.subarray(0, length))
    // Copied, because the next write reuses the shared buffer.
    if (sent < length) this.#keep(new Uint8Array(scratch.subarray(sent, length)))
  }

  flush(): void {
    for (let first = this.unsent[0]; first !== undefined; first = this.unsent[0]) {
      const sent = this.#send(first)
      this.unsentBytes -= sent
      if (sent < first.length) {
        this.unsent[0] = first.subarray(sent)
        return
      }
      this.unsent.shift()
    }
  }

  drop(): void {
    this.unsent = []
    this.unsentBytes = 0
  }

  #keep(bytes: Uint8Array): void {
    this.unsent.push(bytes)
    this.unsentBytes += bytes.length
  }

  /** Sends nothing if earlier bytes are unsent. */
  #write(data: string | Uint8Array): number {
    return this.unsentBytes > 0 ? 0 : this.#send(data)
  }

  #send(data: string | Uint8Array): number {
    const sent = this.#socket.write(data)
    if (sent < 0) this.isBroken = true
    const sentBytes = Math.max(0, sent)
    this.sentBytes += sentBytes
    this.#turns.spend(sentBytes)
    return sentBytes
  }
}

import { STATUS_CODES } from 'node:http'

/** What is sent back for a request. */
export interface Answer {
  readonly status: number
  /** As `headerLines` gives them; those about the body and the connection are added to them. */
  readonly lines: string
  readonly body: AnswerBody
  /** Whether the client has shown who it is. Its connection is not closed to make room for others. */
  readonly isToKnownClient?: boolean
}

/** What is there already, or comes part by part as it is taken, or is sent whenever there is something. */
export type AnswerBody = string | Uint8Array | Parts | LiveBody | null

export interface Parts extends Iterable<Uint8Array> {
  /** Where a part is made of another when its turn comes: what is held until then, in the same order. */
  readonly madeOf?: readonly Uint8Array[]
}

export interface LiveBody {
  begin(outflow: Outflow): void
  /** Some of what was unsent is out. */
  onRoom(): void
  /** The reader is gone, or was let go. */
  onClose(): void
}

export interface Outflow {
  readonly unsentBytes: number
  send(bytes: Uint8Array): void
  /** What is unsent is sent, then the body is over. */
  end(): void
  /** What is unsent is dropped, and the connection with it. */
  cut(): void
}

/** What of a request the form of its answer depends on. */
export interface AnswerContext {
  readonly method: string
  readonly isHttp10: boolean
  /** Whether the connection is closed after the answer. */
  isLast: boolean
}

/** How a reader knows where a body ends: by its length, by its last chunk, or by the end of the connection. */
export type Framing = number | 'chunked' | 'until_close'

const SECOND = 1_000
const NOT_IN_A_LINE = /[^\t -~]/

/** Throws where a value does not fit on one line of ASCII. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || NOT_IN_A_LINE.test(value))
      throw new Error(`the header ${name} cannot have the value ${JSON.stringify(value)}`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** The status line and all headers, with the empty line after them; ASCII alone. */
export function answerHead(
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

export function isLive(body: AnswerBody): body is LiveBody {
  return body !== null && typeof body === 'object' && 'begin' in body
}

export function framingOf(body: AnswerBody, isHttp10: boolean): Framing {
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

/** Made once a second. */
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

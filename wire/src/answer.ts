import { STATUS_CODES } from 'node:http'

/** What is sent back for a request. */
export interface Answer {
  readonly status: number
  /** As `headerLines` gives them; those about the body and the connection are added to them. */
  readonly lines: string
  readonly body: AnswerBody
}

/** What is there already, or comes part by part as it is taken, or is sent whenever there is something. */
export type AnswerBody = string | Uint8Array | Iterable<Uint8Array> | LiveBody | null

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

const SECOND = 1_000
const NOT_IN_A_LINE = /[^\t -~]/

export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] as string
    if (NOT_IN_A_LINE.test(value))
      throw new Error(`the header ${name} cannot have the value ${JSON.stringify(value)}`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, reason]) => [
    Number(status),
    `HTTP/1.1 ${status} ${reason}\r\n`,
  ]),
)

export function statusLine(status: number): string {
  return statusLines.get(status) ?? `HTTP/1.1 ${status} \r\n`
}

let dateSecond = 0
let dateText = ''

/** Made once a second. */
export function dateLine(): string {
  const second = Math.floor(Date.now() / SECOND)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * SECOND).toUTCString()}\r\n`
  }
  return dateText
}

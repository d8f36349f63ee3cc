/** An event of a stream, not yet parsed. */
export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  /** The latest id that the stream sent, with this event or before it. */
  readonly id: string
}

/**
 * Parses an event stream in chunks of any size (HTML Living Standard, 9.2.6). It never returns an incomplete event:
 * the service sends it again when the stream resumes.
 */
export class EventParser {
  /** The reconnection time that the stream asks for, in milliseconds. */
  retry: number | undefined
  #rest = ''
  #event = ''
  #id = ''
  #data: string[] = []

  push(text: string): ServerSentEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/)
    // A carriage return at the end of a chunk may be the first half of a CRLF.
    this.#rest = lines.pop() ?? ''
    const events: ServerSentEvent[] = []
    for (const line of lines) {
      if (line !== '') this.#readField(line)
      else if (this.#data.length > 0) {
        events.push({ event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id })
        this.#event = ''
        this.#data = []
      } else this.#event = ''
    }
    return events
  }

  #readField(line: string): void {
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#event = value
    else if (name === 'data') this.#data.push(value)
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.retry = Number(value)
  }
}

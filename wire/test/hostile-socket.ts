import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'

export interface WireAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A connection that sends arbitrary bytes and keeps exactly the bytes that it receives. */
export class HostileSocket {
  readonly #socket: Socket
  /** One character per byte. */
  #received = ''
  #isClosed = false
  #changed = Promise.withResolvers<void>()
  readonly #closing = Promise.withResolvers<void>()

  static open(port: number, options: Partial<TcpNetConnectOpts> = {}): Promise<HostileSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...options })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new HostileSocket(socket)))
    })
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (bytes) => {
      this.#received += bytes
      this.#change()
    })
    // A reset also closes the connection.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      this.#closing.resolve()
      this.#change()
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves when the server has closed the connection. */
  get closed(): Promise<void> {
    return this.#closing.promise
  }

  /** The received bytes that `answer` has not returned yet. */
  get received(): string {
    return this.#received
  }

  /** A string is sent as one byte per character. */
  send(bytes: string | Uint8Array): void {
    if (!this.#socket.destroyed)
      this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** Sends the bytes several times, as fast as the server reads. Stops if the connection ends. */
  async sendAll(bytes: Uint8Array, times: number): Promise<void> {
    for (let sent = 0; sent < times && !this.#isClosed; sent++) {
      if (this.#socket.write(bytes)) continue
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#socket.once('drain', resolve)
      await Promise.race([promise, this.closed])
      this.#socket.off('drain', resolve)
    }
  }

  /** Stops reading, so that the server cannot send its response. */
  stopReading(): void {
    this.#socket.pause()
  }

  end(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  /**
   * Waits for the next complete response, or for the head of an event stream. Resolves to `undefined` if the connection is
   * closed before that. `method` is the method of the request, because a response to HEAD has no body.
   */
  async answer(method = 'GET'): Promise<WireAnswer | undefined> {
    for (;;) {
      const taken = takeAnswer(this.#received, method, this.#isClosed)
      if (taken !== undefined) {
        this.#received = this.#received.slice(taken.length)
        if (taken.answer.status >= 200) return taken.answer
      } else if (this.#isClosed) return undefined
      else await this.#changed.promise
    }
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

function takeAnswer(
  received: string,
  method: string,
  isClosed: boolean,
): { answer: WireAnswer; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n')
  const status = Number(statusLine.slice(9, 12))
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  const body = takeBody(received.slice(headEnd + 4), { status, headers, method, isClosed })
  if (body === undefined) return undefined
  return {
    answer: { status, headers, text: Buffer.from(body.bytes, 'latin1').toString('utf8') },
    length: headEnd + 4 + body.length,
  }
}

interface BodyFacts {
  readonly status: number
  readonly headers: Headers
  readonly method: string
  readonly isClosed: boolean
}

function takeBody(
  rest: string,
  { status, headers, method, isClosed }: BodyFacts,
): { bytes: string; length: number } | undefined {
  const hasNone = method === 'HEAD' || status === 304 || status === 204 || status < 200
  if (hasNone || headers.get('Content-Type') === 'text/event-stream') return { bytes: '', length: 0 }
  if (headers.get('Transfer-Encoding') === 'chunked') return takeChunks(rest)
  const declared = headers.get('Content-Length')
  if (declared === null) return isClosed ? { bytes: rest, length: rest.length } : undefined
  const length = Number(declared)
  return rest.length < length ? undefined : { bytes: rest.slice(0, length), length }
}

function takeChunks(rest: string): { bytes: string; length: number } | undefined {
  let bytes = ''
  let at = 0
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (rest.length < end) return undefined
    bytes += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = end
    if (size === 0) return { bytes, length: at }
  }
}

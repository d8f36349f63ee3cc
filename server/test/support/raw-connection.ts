export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** One connection, byte by byte: it shows what a client library hides, such as a truncated response. */
export class RawConnection {
  #received = ''
  #isClosed: boolean = false
  #changed = Promise.withResolvers<void>()
  #write: (text: string) => void = () => {}
  #end: () => void = () => {}

  static async open(address: string): Promise<RawConnection> {
    const { hostname, port } = new URL(address)
    const connection = new RawConnection()
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_, bytes) => {
          connection.#received += bytes.toString('latin1')
          connection.#change()
        },
        close: () => connection.#close(),
        error: () => connection.#close(),
      },
    })
    connection.#write = (text) => void socket.write(text)
    connection.#end = () => void socket.end()
    return connection
  }

  send(text: string): void {
    this.#write(text)
  }

  sendRequest(method: string, path: string, key: string, body = ''): void {
    this.send(headOf(method, path, key, [`Content-Length: ${body.length}`]) + body)
  }

  /** Sends a request without its body, and returns once the service waits for the body. */
  async sendHead(method: string, path: string, key: string, contentLength: number): Promise<void> {
    this.send(headOf(method, path, key, [`Content-Length: ${contentLength}`, 'Expect: 100-continue']))
    const answer = await this.answer()
    if (answer?.status !== 100) throw new Error(`expected 100 Continue, got ${answer?.head}`)
  }

  /** The next response, or `undefined` if the connection is closed. Throws on an incomplete response. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const answer = this.#takeAnswer()
      if (answer !== undefined) return answer
      if (this.#isClosed) {
        if (this.#received !== '') throw new Error(`the answer was cut short: ${this.#received}`)
        return undefined
      }
      await this.#changed.promise
    }
  }

  end(): void {
    this.#end()
  }

  #takeAnswer(): RawAnswer | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const head = this.#received.slice(0, headEnd)
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
    const end = headEnd + 4 + length
    if (this.#received.length < end) return undefined
    const body = this.#received.slice(headEnd + 4, end)
    this.#received = this.#received.slice(end)
    return { status: Number(head.slice(9, 12)), head, body }
  }

  #close(): void {
    this.#isClosed = true
    this.#change()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

function headOf(method: string, path: string, key: string, more: readonly string[]): string {
  const lines = ['Host: petstore.test', `Authorization: Bearer ${key}`, 'Content-Type: application/json']
  return [`${method} ${path} HTTP/1.1`, ...lines, ...more, '', ''].join('\r\n')
}

import type { Socket } from 'bun'

/** The parts of a response that matter to a load generator. */
export interface WireAnswer {
  readonly status: number
  readonly tag: string | undefined
  readonly ms: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/**
 * One keep-alive connection that sends prepared bytes and reads responses without parsing their bodies. fetch
 * would cost the generator more than the response costs the service, and the run would measure the generator.
 */
export class WireConnection {
  readonly #port: number
  readonly #onAnswer: (answer: WireAnswer) => void
  readonly #onLost: () => void
  #socket: Socket | undefined
  #head: Buffer = NOTHING
  #bodyLeft = 0
  #status = 0
  #tag: string | undefined
  readonly #sentAt: number[] = []

  static async open(
    port: number,
    onAnswer: (answer: WireAnswer) => void,
    onLost: () => void = () => {},
  ): Promise<WireConnection> {
    const connection = new WireConnection(port, onAnswer, onLost)
    await connection.#connect()
    return connection
  }

  private constructor(port: number, onAnswer: (answer: WireAnswer) => void, onLost: () => void) {
    this.#port = port
    this.#onAnswer = onAnswer
    this.#onLost = onLost
  }

  /**
   * Requests are small: they are sent in one write, or the service is so far behind that the connection is
   * useless.
   */
  send(request: string): void {
    this.#sentAt.push(performance.now())
    const written = this.#socket?.write(request) ?? 0
    if (written < request.length) this.close()
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  close(): void {
    this.#socket?.end()
    this.#socket = undefined
  }

  async #connect(): Promise<void> {
    this.#socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: this.#port,
      socket: {
        data: (_, bytes) => this.#read(bytes),
        close: () => this.#onLost(),
        error: () => this.#onLost(),
      },
    })
  }

  #read(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      if (this.#bodyLeft > 0) {
        const taken = Math.min(this.#bodyLeft, bytes.length - at)
        this.#bodyLeft -= taken
        at += taken
        if (this.#bodyLeft === 0) this.#finish()
        continue
      }
      const rest = bytes.subarray(at)
      const joined = this.#head.length === 0 ? rest : Buffer.concat([this.#head, rest])
      const end = joined.indexOf(HEAD_END)
      if (end === -1) {
        this.#head = Buffer.from(joined)
        return
      }
      at += end + HEAD_END.length - this.#head.length
      this.#head = NOTHING
      this.#readHead(joined.toString('latin1', 0, end))
      if (this.#bodyLeft === 0) this.#finish()
    }
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12))
    this.#tag = /\r\netag: ([^\r]+)/i.exec(head)?.[1]
    // The rest of the stream is discarded.
    if (/\r\ncontent-type: text\/event-stream/i.test(head)) this.#bodyLeft = Number.POSITIVE_INFINITY
    else this.#bodyLeft = this.#status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  }

  #finish(): void {
    const ms = performance.now() - (this.#sentAt.shift() ?? 0)
    this.#onAnswer({ status: this.#status, tag: this.#tag, ms })
  }
}

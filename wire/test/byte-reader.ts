import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface ReceivedAnswer {
  readonly head: string
  readonly body: Buffer
}

/** A connection for large responses. It reads nothing until `rest` is called, and then until the connection ends. */
export class ByteReader {
  readonly #socket: Socket

  /** Uses TLS if `ca` is given. */
  static open(port: number, ca?: string): Promise<ByteReader> {
    return new Promise((resolve, reject) => {
      const address = { port, host: '127.0.0.1' }
      const socket =
        ca === undefined ? connectPlain(address) : connectTls({ ...address, ca, servername: 'localhost' })
      socket.once('error', reject)
      socket.once(ca === undefined ? 'connect' : 'secureConnect', () => {
        socket.pause()
        resolve(new ByteReader(socket))
      })
    })
  }

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  send(text: string): void {
    this.#socket.write(Buffer.from(text, 'latin1'))
  }

  leave(): void {
    this.#socket.destroy()
  }

  /** Reads all bytes until the server closes the connection. */
  rest(): Promise<Buffer> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = []
      this.#socket.on('data', (piece) => void pieces.push(piece as Buffer))
      this.#socket.on('close', () => resolve(Buffer.concat(pieces)))
      this.#socket.resume()
    })
  }

  /** Reads the response to a request with `Connection: close`. A chunked body is not decoded. */
  async lastAnswer(): Promise<ReceivedAnswer> {
    const bytes = await this.rest()
    const headEnd = bytes.indexOf('\r\n\r\n')
    return { head: bytes.toString('latin1', 0, headEnd), body: bytes.subarray(headEnd + 4) }
  }
}

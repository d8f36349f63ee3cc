import type { Socket } from 'node:net'
import { openReader } from './steady-reader.ts'

export interface ReceivedAnswer {
  readonly head: string
  readonly body: Buffer
}

/** A connection for large responses. It reads nothing until `rest` is called, and then until the connection ends. */
export class ByteReader {
  readonly #socket: Socket

  /** With TLS, it accepts the test certificate. */
  static async open(port: number, isTls = false): Promise<ByteReader> {
    const socket = await openReader(port, isTls)
    socket.pause()
    return new ByteReader(socket)
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

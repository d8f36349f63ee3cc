import { malformed } from './request-problem.ts'

const LINE_FEED = 0x0a
const MAX_SIZE_LINE_BYTES = 256
const MAX_TRAILER_BYTES = 8 * 1024
/** A size, and extensions, which mean nothing to us. Eight digits are 4 GiB. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[\t -~]*)?\r\n$/
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\u0080-\u00ff]*\r\n$/

/** Takes a chunked body apart, however it is cut into pieces (RFC 9112, 7.1). Trailers are read and dropped. */
export class ChunkReader {
  #awaits: 'size' | 'data' | 'end_of_data' | 'trailer' = 'size'
  /** What has come of a line. */
  #line = ''
  /** Bytes still to come of a chunk, or that may still come in trailers. */
  #left = 0
  isComplete = false

  /** Hands the data on, and gives how many bytes belong to the body. */
  take(bytes: Uint8Array, onData: (data: Uint8Array) => void): number {
    let at = 0
    while (at < bytes.length && !this.isComplete) {
      if (this.#awaits === 'data') {
        const data = bytes.subarray(at, at + this.#left)
        onData(data)
        at += data.length
        this.#left -= data.length
        if (this.#left === 0) this.#awaits = 'end_of_data'
      } else {
        const lineFeed = bytes.indexOf(LINE_FEED, at)
        const end = lineFeed === -1 ? bytes.length : lineFeed + 1
        this.#checkLength(this.#line.length + end - at)
        this.#line += Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1')
        at = end
        if (lineFeed !== -1) this.#readLine()
      }
    }
    return at
  }

  #checkLength(lineLength: number): void {
    if (this.#awaits === 'trailer') {
      if (lineLength > this.#left) throw malformed(`the trailers are larger than ${MAX_TRAILER_BYTES} bytes`)
    } else if (lineLength > MAX_SIZE_LINE_BYTES) throw malformed('a chunk of the body is malformed')
  }

  #readLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#awaits === 'size') {
      const size = SIZE_LINE.exec(line)?.[1]
      if (size === undefined) throw malformed('a chunk of the body has no valid size')
      const length = Number.parseInt(size, 16)
      this.#awaits = length === 0 ? 'trailer' : 'data'
      this.#left = length === 0 ? MAX_TRAILER_BYTES : length
    } else if (this.#awaits === 'end_of_data') {
      if (line !== '\r\n') throw malformed('a chunk of the body is longer than its size')
      this.#awaits = 'size'
    } else if (line === '\r\n') this.isComplete = true
    else if (TRAILER_LINE.test(line)) this.#left -= line.length
    else throw malformed('a trailer is not of the form "Name: value"')
  }
}

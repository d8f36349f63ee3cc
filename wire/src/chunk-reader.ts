import { malformed } from './request-problem.ts'

const LINE_FEED = 0x0a
const MAX_LINE_BYTES = 256
/** A size, and extensions, which mean nothing to us. Eight digits are 4 GiB. */
const SIZE_LINE = /^([0-9A-Fa-f]{1,8})(?:;[\t -~]*)?\r\n$/

/** Takes a chunked body apart, however it is cut into pieces (RFC 9112, 7.1). Trailers are refused. */
export class ChunkReader {
  #awaits: 'size' | 'data' | 'end_of_data' | 'end' = 'size'
  /** What has come of a line. */
  #line = ''
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
        if (this.#line.length + end - at > MAX_LINE_BYTES) throw malformed('a chunk of the body is malformed')
        this.#line += Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1')
        at = end
        if (lineFeed !== -1) this.#readLine()
      }
    }
    return at
  }

  #readLine(): void {
    const line = this.#line
    this.#line = ''
    if (this.#awaits === 'size') {
      const size = SIZE_LINE.exec(line)?.[1]
      if (size === undefined) throw malformed('a chunk of the body has no valid size')
      this.#left = Number.parseInt(size, 16)
      this.#awaits = this.#left === 0 ? 'end' : 'data'
      return
    }
    if (line !== '\r\n') {
      throw malformed(
        this.#awaits === 'end'
          ? 'trailers after the last chunk are not accepted'
          : 'a chunk of the body is longer than its size',
      )
    }
    if (this.#awaits === 'end') this.isComplete = true
    else this.#awaits = 'size'
  }
}

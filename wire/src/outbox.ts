/** What an outbox needs of a socket. */
export interface ByteSink {
  /** Gives how many bytes it took, which may be fewer than there are. */
  write(data: string | Uint8Array): number
}

/**
 * Up to this, head and body go out in one piece, for the price of a copy: two writes cost more. A list of half a megabyte
 * was 1.15 times as fast with this as with 16 KiB.
 */
const MOST_BYTES_JOINED = 256 * 1024
const LINE_END = '\r\n'

/** Where bytes are put together that go out at once; all connections share it. */
let desk = Buffer.allocUnsafe(16 * 1024)

/** Holds on to what the network does not take yet. */
export class Outbox {
  readonly #sink: ByteSink
  #unsent: Uint8Array[] = []
  #unsentBytes = 0

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** `byteLength` is that of the text as UTF-8. */
  writeText(text: string, byteLength: number): void {
    const sent = this.#write(text)
    if (sent < byteLength) this.#keep(Buffer.from(text).subarray(sent))
  }

  /** The bytes must stay as they are. */
  writeBytes(bytes: Uint8Array): void {
    const sent = this.#write(bytes)
    if (sent < bytes.length) this.#keep(bytes.subarray(sent))
  }

  /** The head is ASCII; the bytes must stay as they are, for a slow reader they are not copied. */
  writeHeadAndBytes(head: string, bytes: Uint8Array): void {
    const joined = Math.min(bytes.length, MOST_BYTES_JOINED)
    makeRoom(head.length + joined)
    desk.write(head, 'latin1')
    desk.set(bytes.subarray(0, joined), head.length)
    const sent = this.#write(desk.subarray(0, head.length + joined))
    if (sent < head.length) this.#keep(Buffer.from(head.slice(sent)))
    const rest = bytes.subarray(Math.max(0, sent - head.length))
    if (rest.length > 0) this.writeBytes(rest)
  }

  /** One part of a chunked body (RFC 9112, 7.1); the bytes can be changed as soon as this returns. */
  writeChunk(bytes: Uint8Array): void {
    const size = `${bytes.length.toString(16)}${LINE_END}`
    const length = size.length + bytes.length + LINE_END.length
    makeRoom(length)
    desk.write(size, 'latin1')
    desk.set(bytes, size.length)
    desk.write(LINE_END, size.length + bytes.length, 'latin1')
    const sent = this.#write(desk.subarray(0, length))
    // Not `slice`, which of a Buffer gives a view.
    if (sent < length) this.#keep(new Uint8Array(desk.subarray(sent, length)))
  }

  /** The network takes more again. */
  flush(): void {
    while (this.#unsent.length > 0) {
      const [first] = this.#unsent as [Uint8Array]
      const sent = Math.max(0, this.#sink.write(first))
      this.#unsentBytes -= sent
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(sent)
        return
      }
      this.#unsent.shift()
    }
  }

  drop(): void {
    this.#unsent = []
    this.#unsentBytes = 0
  }

  #keep(bytes: Uint8Array): void {
    this.#unsent.push(bytes)
    this.#unsentBytes += bytes.length
  }

  /** Nothing, while something waits before it. */
  #write(data: string | Uint8Array): number {
    if (this.#unsentBytes > 0) return 0
    // A socket that is closed meanwhile says -1.
    return Math.max(0, this.#sink.write(data))
  }
}

function makeRoom(bytes: number): void {
  if (desk.length < bytes) desk = Buffer.allocUnsafe(bytes)
}

/** What a queue needs of a socket. */
export interface ByteSink {
  /** Gives how many bytes it took, which may be fewer than there are; of one that is broken, -1. */
  write(data: string | Uint8Array): number
}

/**
 * Up to this, head and body go out in one piece, for the price of a copy: two writes cost more.
 * Figures: docs/decisions/2026-11-15-http-of-our-own.md
 */
const MAX_JOINED_BYTES = 256 * 1024
const LINE_END = '\r\n'

/** Where bytes are put together that go out at once; all connections share it. */
let scratch = Buffer.allocUnsafe(16 * 1024)

function ensureScratch(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafe(bytes)
}

/** Holds on to what the network does not take yet. */
export class SendQueue {
  readonly #sink: ByteSink
  #unsent: Uint8Array[] = []
  #unsentBytes = 0
  #takenBytes = 0
  /** Whether nothing can be sent any more. */
  isBroken = false

  constructor(sink: ByteSink) {
    this.#sink = sink
  }

  get unsentBytes(): number {
    return this.#unsentBytes
  }

  /** What the network has taken since the beginning. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  get unsent(): readonly Uint8Array[] {
    return this.#unsent
  }

  /** As UTF-8. */
  writeText(text: string): void {
    const sent = this.#write(text)
    if (sent < Buffer.byteLength(text)) this.#keep(Buffer.from(text).subarray(sent))
  }

  /** The bytes must stay as they are. */
  writeBytes(bytes: Uint8Array): void {
    const sent = this.#write(bytes)
    if (sent < bytes.length) this.#keep(bytes.subarray(sent))
  }

  /** The head is ASCII; the bytes must stay as they are, for a slow reader they are not copied. */
  writeHeadAndBytes(head: string, bytes: Uint8Array): void {
    const joined = Math.min(bytes.length, MAX_JOINED_BYTES)
    ensureScratch(head.length + joined)
    scratch.write(head, 'latin1')
    scratch.set(bytes.subarray(0, joined), head.length)
    const sent = this.#write(scratch.subarray(0, head.length + joined))
    if (sent < head.length) this.#keep(Buffer.from(head.slice(sent)))
    const rest = bytes.subarray(Math.max(0, sent - head.length))
    if (rest.length > 0) this.writeBytes(rest)
  }

  /** One part of a chunked body (RFC 9112, 7.1); the bytes can be changed as soon as this returns. */
  writeChunk(bytes: Uint8Array): void {
    const size = `${bytes.length.toString(16)}${LINE_END}`
    const length = size.length + bytes.length + LINE_END.length
    ensureScratch(length)
    scratch.write(size, 'latin1')
    scratch.set(bytes, size.length)
    scratch.write(LINE_END, size.length + bytes.length, 'latin1')
    const sent = this.#write(scratch.subarray(0, length))
    // Not `slice`, which of a Buffer gives a view.
    if (sent < length) this.#keep(new Uint8Array(scratch.subarray(sent, length)))
  }

  /** The network takes more again. */
  flush(): void {
    for (let first = this.#unsent[0]; first !== undefined; first = this.#unsent[0]) {
      const sent = this.#give(first)
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
    return this.#unsentBytes > 0 ? 0 : this.#give(data)
  }

  #give(data: string | Uint8Array): number {
    const sent = this.#sink.write(data)
    if (sent < 0) this.isBroken = true
    this.#takenBytes += Math.max(0, sent)
    return Math.max(0, sent)
  }
}

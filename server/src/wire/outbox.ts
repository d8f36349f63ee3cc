/** What an outbox needs of a socket. */
export interface ByteSink {
  /** Gives how many bytes it took, which may be fewer than there are. */
  write(data: string | Uint8Array): number
}

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
    const sent = this.#unsentBytes === 0 ? this.#write(text) : 0
    if (sent < byteLength) this.#keep(Buffer.from(text).subarray(sent))
  }

  /** The bytes must stay as they are. */
  writeBytes(bytes: Uint8Array): void {
    const sent = this.#unsentBytes === 0 ? this.#write(bytes) : 0
    if (sent < bytes.length) this.#keep(bytes.subarray(sent))
  }

  /** The bytes can be changed as soon as this returns. */
  writeCopyOf(bytes: Uint8Array): void {
    const sent = this.#unsentBytes === 0 ? this.#write(bytes) : 0
    // Not `slice`, which of a Buffer gives a view.
    if (sent < bytes.length) this.#keep(new Uint8Array(bytes.subarray(sent)))
  }

  /** The network takes more again. */
  flush(): void {
    while (this.#unsent.length > 0) {
      const [first] = this.#unsent as [Uint8Array]
      const sent = this.#write(first)
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

  #write(data: string | Uint8Array): number {
    // A socket that is closed meanwhile says -1.
    return Math.max(0, this.#sink.write(data))
  }
}

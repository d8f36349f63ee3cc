import { ChunkReader } from './chunk-reader.ts'
import type { MaybePromise } from './maybe-promise.ts'
import type { RequestHeaders } from './request-head.ts'
import { RequestProblem } from './request-problem.ts'

const MOST_BODY_BYTES = 64 * 1024
const NOTHING = new Uint8Array()

/** The body of a request while it comes. What is larger than allowed, and what nobody wants, is passed over. */
export class RequestBody {
  readonly #chunks: ChunkReader | undefined
  /** Of a body whose length is known. */
  #left: number
  #kept: Uint8Array = NOTHING
  #size = 0
  #problem: RequestProblem | undefined
  #reader: PromiseWithResolvers<Uint8Array> | undefined
  #isWanted = true

  constructor(length: RequestHeaders['bodyLength']) {
    this.#chunks = length === 'chunked' ? new ChunkReader() : undefined
    this.#left = length === 'chunked' ? 0 : length
    if (this.#left > MOST_BODY_BYTES) this.#fail(tooLarge())
  }

  get isWhole(): boolean {
    return this.#chunks?.isWhole ?? this.#left === 0
  }

  /** Gives how many of the bytes belong to it. */
  take(bytes: Uint8Array): number {
    const taken =
      this.#chunks === undefined
        ? this.#takeKnown(bytes)
        : this.#chunks.take(bytes, (data) => this.#keep(data))
    if (this.isWhole && this.#problem === undefined) this.#reader?.resolve(this.#bytes())
    return taken
  }

  /** All of it, at once where it is here; throws or rejects with a RequestProblem. */
  read(): MaybePromise<Uint8Array> {
    if (this.#problem !== undefined) throw this.#problem
    if (this.isWhole) return this.#bytes()
    this.#reader ??= Promise.withResolvers<Uint8Array>()
    return this.#reader.promise
  }

  /** Nobody will read it any more. */
  passOver(): void {
    this.#isWanted = false
    this.#kept = NOTHING
  }

  /** No more of it can come. */
  breakOff(
    problem = new RequestProblem('broken_off', 'the request body ended before it was whole; send it again'),
  ): void {
    if (!this.isWhole) this.#fail(problem)
  }

  #takeKnown(bytes: Uint8Array): number {
    const data = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes
    this.#left -= data.length
    this.#keep(data)
    return data.length
  }

  #keep(data: Uint8Array): void {
    if (this.#problem !== undefined || !this.#isWanted) return
    const size = this.#size + data.length
    if (size > MOST_BODY_BYTES) this.#fail(tooLarge())
    // Almost every body comes in one piece.
    else if (this.#size === 0 && this.#chunks === undefined && this.#left === 0) this.#kept = data
    else {
      // Copied, since a piece holds on to all that came with it.
      if (size > this.#kept.length) {
        const larger = new Uint8Array(Math.min(MOST_BODY_BYTES, Math.max(size, 2 * this.#kept.length)))
        larger.set(this.#bytes())
        this.#kept = larger
      }
      this.#kept.set(data, this.#size)
    }
    this.#size = size
  }

  #bytes(): Uint8Array {
    return this.#kept.length === this.#size ? this.#kept : this.#kept.subarray(0, this.#size)
  }

  #fail(problem: RequestProblem): void {
    this.#problem ??= problem
    this.#kept = NOTHING
    this.#reader?.reject(this.#problem)
  }
}

function tooLarge(): RequestProblem {
  return new RequestProblem('too_large', `the request body is larger than ${MOST_BODY_BYTES} bytes`)
}

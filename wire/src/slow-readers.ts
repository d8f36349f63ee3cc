import type { AnswerWriter } from './answer-writer.ts'

/** Over how long a reader is measured: the system takes a lot at once and then nothing for a while. */
const MEASURED_SECONDS = 180
const MIN_BYTES_PER_SECOND = 1024

/** Measures how fast a reader takes what waits for it; nothing is measured while nothing waits. */
export class ReaderPace {
  readonly #writer: Pick<AnswerWriter, 'unsentBytes' | 'takenBytes'>
  /** Since something waits. */
  #whole: Measurement | undefined
  /** Of the last minutes. */
  #latest: Measurement | undefined

  constructor(writer: Pick<AnswerWriter, 'unsentBytes' | 'takenBytes'>) {
    this.#writer = writer
  }

  /** Whether the reader keeps on taking next to nothing; asked once a second. */
  isTooSlow(now: number): boolean {
    const { unsentBytes, takenBytes } = this.#writer
    if (unsentBytes === 0) {
      this.#whole = undefined
      this.#latest = undefined
      return false
    }
    this.#whole ??= { since: now, takenBefore: takenBytes }
    this.#latest ??= this.#whole
    if (now - this.#latest.since < MEASURED_SECONDS) return false
    const isTooSlow = this.#bytesPerSecond(this.#latest, now) < MIN_BYTES_PER_SECOND
    this.#latest = { since: now, takenBefore: takenBytes }
    return isTooSlow
  }

  /** One that was not measured yet is taken for fast. */
  bytesPerSecond(now: number): number {
    return this.#whole === undefined || this.#whole.since === now
      ? Number.MAX_VALUE
      : this.#bytesPerSecond(this.#whole, now)
  }

  #bytesPerSecond({ since, takenBefore }: Measurement, now: number): number {
    return (this.#writer.takenBytes - takenBefore) / (now - since)
  }
}

interface Measurement {
  readonly since: number
  readonly takenBefore: number
}

/** What of a connection is needed here. */
interface Reader {
  readonly writer: Pick<AnswerWriter, 'unsentBytes' | 'collectUnsent'>
  readonly pace: ReaderPace
  terminate(): void
}

/**
 * Ends the slowest readers where more than so many bytes are kept for all of them together. What several of them are
 * sent counts once.
 */
export function endSlowest(connections: Iterable<Reader>, maxBytes: number, now: number): void {
  const readers = [...connections]
    .filter(({ writer }) => writer.unsentBytes > 0)
    .map((reader) => ({ reader, bytesPerSecond: reader.pace.bytesPerSecond(now) }))
    .toSorted((a, b) => b.bytesPerSecond - a.bytesPerSecond)
  const kept = new Set<ArrayBufferLike>()
  let keptBytes = 0
  for (const { reader } of readers) {
    const buffers = new Set<ArrayBufferLike>()
    reader.writer.collectUnsent(buffers)
    const more = [...buffers].filter((buffer) => !kept.has(buffer))
    const moreBytes = more.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (keptBytes + moreBytes > maxBytes) reader.terminate()
    else {
      keptBytes += moreBytes
      for (const buffer of more) kept.add(buffer)
    }
  }
}

import type { AnswerWriter } from './answer-writer.ts'

/** Over about how long: the system takes a lot at once and then nothing for a while. */
const MEASURED_SECONDS = 60
/** One that was not measured yet is taken for fast. */
const FIRST_BYTES_PER_SECOND = 64 * 1024
const MIN_BYTES_PER_SECOND = 1024

/** Measures how fast a reader takes what waits for it: an average in which the past counts less and less. */
export class ReaderPace {
  bytesPerSecond = FIRST_BYTES_PER_SECOND
  #takenBytes = 0

  /** Whether the reader has been taking next to nothing for minutes. */
  get isTooSlow(): boolean {
    return this.bytesPerSecond < MIN_BYTES_PER_SECOND
  }

  /** Once a second; begins anew where nothing waits. */
  measure({ unsentBytes, takenBytes }: Pick<AnswerWriter, 'unsentBytes' | 'takenBytes'>): void {
    const taken = takenBytes - this.#takenBytes
    this.#takenBytes = takenBytes
    if (unsentBytes === 0) this.bytesPerSecond = FIRST_BYTES_PER_SECOND
    else this.bytesPerSecond += (taken - this.bytesPerSecond) / MEASURED_SECONDS
  }
}

/** What of a connection is needed here. */
interface Reader {
  readonly writer: Pick<AnswerWriter, 'unsentBytes' | 'collectUnsent'>
  readonly pace: Pick<ReaderPace, 'bytesPerSecond'>
  terminate(): void
}

/**
 * Ends the slowest readers where more than so many bytes are kept for all of them together. What several of them are
 * sent counts once.
 */
export function endSlowest(connections: Iterable<Reader>, maxBytes: number): void {
  const fastestFirst = [...connections]
    .filter(({ writer }) => writer.unsentBytes > 0)
    .sort((a, b) => b.pace.bytesPerSecond - a.pace.bytesPerSecond)
  const kept = new Set<ArrayBufferLike>()
  let keptBytes = 0
  for (const reader of fastestFirst) {
    const more = reader.writer.collectUnsent().difference(kept)
    const bytes = keptBytes + more.values().reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (bytes > maxBytes) reader.terminate()
    else {
      keptBytes = bytes
      for (const buffer of more) kept.add(buffer)
    }
  }
}

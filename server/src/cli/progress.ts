import { Presets, SingleBar } from 'cli-progress'
import { formatDuration, formatNumber } from './terminal.ts'

/** Shows progress on a terminal, and nothing elsewhere. Uses standard error; results go to standard output. */
export class Progress {
  readonly #noun: string
  readonly #stream: NodeJS.WritableStream
  #phase: string | undefined
  #bar: SingleBar | undefined

  constructor(noun: 'rows' | 'entries', stream: NodeJS.WritableStream = process.stderr) {
    this.#noun = noun
    this.#stream = stream
  }

  /** Each phase has its own bar. `fraction` is from 0 to 1. Without it, the phase shows only the count. */
  show(phase: string, count: number, fraction?: number): void {
    const texts = { count: formatNumber(count) }
    if (phase === this.#phase) {
      this.#bar?.update(fraction ?? 0, texts)
      return
    }
    this.end()
    this.#phase = phase
    const text = `{count} ${this.#noun}`
    const format = fraction === undefined ? text : `{bar} {percentage}%, ${text}, {eta_formatted} left`
    this.#bar = new SingleBar(
      {
        stream: this.#stream,
        format: `${phase.padEnd(9)} ${format}`,
        barsize: 24,
        linewrap: true,
        clearOnComplete: true,
        // The library passes a text while it has no estimate.
        formatTime: (seconds) => (Number.isFinite(seconds) ? formatDuration(seconds) : '?'),
      },
      Presets.shades_classic,
    )
    this.#bar.start(1, fraction ?? 0, texts)
  }

  end(): void {
    this.#bar?.stop()
    this.#bar = undefined
    this.#phase = undefined
  }
}

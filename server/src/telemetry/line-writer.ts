/** Where lines go. */
export interface Sink {
  /** Resolves when the text is on its way, and rejects when it cannot be written. */
  write(text: string): Promise<void>
  readonly isTerminal: boolean
  readonly hasColours: boolean
}

/** A reader that stands still must not fill the memory: beyond this, lines are dropped and counted. */
const MAX_WAITING_LINES = 20_000

/** How long the end of the service waits for the last lines to be read. */
const FLUSH_TIMEOUT_MS = 1_000

/** Collects lines and writes them once for each turn of the event loop, one write at a time. */
export class LineWriter {
  readonly #sink: Sink
  readonly #describeDropped: (lines: number) => string
  #waiting: string[] = []
  #dropped = 0
  #writing: Promise<void> | undefined

  constructor(sink: Sink, describeDropped: (lines: number) => string) {
    this.#sink = sink
    this.#describeDropped = describeDropped
  }

  add(line: string): void {
    if (this.#waiting.length >= MAX_WAITING_LINES) {
      this.#dropped++
      return
    }
    this.#waiting.push(line)
    this.#writing ??= this.#writeAll()
  }

  /** Resolves when everything so far is written, or when nobody reads it. */
  async flush(): Promise<void> {
    await Promise.race([this.#writing, Bun.sleep(FLUSH_TIMEOUT_MS)])
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      if (this.#dropped > 0) {
        this.#waiting.push(this.#describeDropped(this.#dropped))
        this.#dropped = 0
      }
      const text = `${this.#waiting.join('\n')}\n`
      this.#waiting = []
      // A log that cannot be written is no reason to stop serving, and there is nowhere to report it.
      await this.#sink.write(text).catch(() => {})
    }
    this.#writing = undefined
  }
}

export function stdoutSink(): Sink {
  // Without a listener, a reader that went away would end the process.
  process.stdout.on('error', () => {})
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
      }),
    isTerminal: process.stdout.isTTY === true,
    hasColours: process.stdout.isTTY === true && Bun.enableANSIColors,
  }
}

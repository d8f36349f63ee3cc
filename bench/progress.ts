/** What is left of a run: told on one line of a terminal, or on a line each in a log. */
export class Progress {
  readonly #started = performance.now()
  readonly #total: number
  #done = 0

  /** `plannedSeconds` is what all steps are meant to take, without what starting and stopping costs. */
  constructor(plannedSeconds: number) {
    this.#total = plannedSeconds
  }

  tell(what: string): void {
    const line = `[${this.#percent()} %] ${what} · ${this.#left()} left`
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${line}`)
    else process.stderr.write(`${line}\n`)
  }

  finished(seconds: number): void {
    this.#done += seconds
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K')
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000
  }

  #percent(): string {
    return String(Math.min(100, Math.round((100 * this.#done) / this.#total))).padStart(3)
  }

  /** As slow as it has been so far, once enough is done to tell. */
  #left(): string {
    const pace = this.#done < this.#total / 20 ? 1.2 : this.seconds / this.#done
    const seconds = Math.max(0, Math.round((this.#total - this.#done) * pace))
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  }
}

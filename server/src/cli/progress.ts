import { grouped } from './output.ts'

/** Where progress is shown: standard error, so that standard output stays for results. */
interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 100
const PLAIN_LINE_MS = 3_000
const BAR_WIDTH = 24

/** How far a long task is: a bar on a terminal, a plain line every few seconds elsewhere. */
export class Progress {
  readonly #output: Output
  readonly #now: () => number
  #phase = ''
  #phaseBegan = 0
  #shownAt: number
  #isDrawn = false

  constructor(output: Output = process.stderr, now: () => number = () => performance.now()) {
    this.#output = output
    this.#now = now
    this.#shownAt = now()
  }

  /** A new phase starts its own rate. `fraction` is from 0 to 1, or not known. */
  show(phase: string, rows: number, fraction?: number): void {
    const now = this.#now()
    const isNew = phase !== this.#phase
    if (isNew) {
      this.#phase = phase
      this.#phaseBegan = now
    }
    const isTerminal = this.#output.isTTY === true
    if (now - this.#shownAt < (isTerminal ? REDRAW_MS : PLAIN_LINE_MS) && !(isNew && isTerminal)) return
    this.#shownAt = now
    const facts = factsOf(rows, fraction, (now - this.#phaseBegan) / 1_000)
    if (!isTerminal) this.#output.write(`${phase}: ${facts}\n`)
    else {
      const bar = fraction === undefined ? '' : `${barOf(fraction)} `
      const line = `${phase.padEnd(9)} ${bar}${facts}`.slice(0, (this.#output.columns || 80) - 1)
      this.#output.write(`\r\x1b[K${line}`)
      this.#isDrawn = true
    }
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#isDrawn) this.#output.write('\r\x1b[K')
    this.#isDrawn = false
  }
}

function barOf(fraction: number): string {
  const full = Math.round(Math.min(1, fraction) * BAR_WIDTH)
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
}

function factsOf(rows: number, fraction: number | undefined, seconds: number): string {
  const facts = fraction === undefined ? [] : [`${Math.floor(fraction * 100)}%`]
  facts.push(`${grouped(rows)} rows`)
  if (seconds > 0 && rows > 0) facts.push(`${grouped(Math.round(rows / seconds))} rows/s`)
  if (fraction !== undefined && fraction > 0 && seconds > 0.5) {
    facts.push(`${duration((seconds * (1 - fraction)) / fraction)} left`)
  }
  return facts.join(', ')
}

/** `8 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}

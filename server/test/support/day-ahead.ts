/** Preloaded into the program: its wall clock is a day ahead, and its timers of a minute fire after 100 ms. */
const DAY = 86_400_000
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(given: number | string | Date = RealDate.now() + DAY) {
    super(given)
  }

  static override now(): number {
    return RealDate.now() + DAY
  }
} as DateConstructor

const realSetInterval = globalThis.setInterval
globalThis.setInterval = Object.assign(
  (work: () => void, ms?: number) => realSetInterval(work, ms === 60_000 ? 100 : ms),
  realSetInterval,
)

/** The slots with the lowest keys; of equal keys, those that came first. The worst one is the root of a binary heap. */
export class BestSlots {
  readonly #limit: number
  readonly #entries: { key: number; ordinal: number; slot: number }[] = []
  /** A key must be lower than this to be kept. */
  worst = Number.POSITIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
  }

  add(key: number, ordinal: number, slot: number): void {
    const entries = this.#entries
    const entry = { key, ordinal, slot }
    if (entries.length < this.#limit) {
      entries.push(entry)
      this.#rise(entries.length - 1)
    } else {
      entries[0] = entry
      this.#sink()
    }
    if (entries.length === this.#limit) this.worst = entries[0]?.key ?? this.worst
  }

  sorted(): number[] {
    return this.#entries
      .sort((one, other) => one.key - other.key || one.ordinal - other.ordinal)
      .map(({ slot }) => slot)
  }

  #isWorse(one: number, other: number): boolean {
    const [a, b] = [this.#entries[one], this.#entries[other]]
    if (a === undefined || b === undefined) return false
    return a.key > b.key || (a.key === b.key && a.ordinal > b.ordinal)
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#entries[one], this.#entries[other]]
    if (a === undefined || b === undefined) return
    this.#entries[one] = b
    this.#entries[other] = a
  }

  #rise(from: number): void {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >>> 1
      if (!this.#isWorse(child, parent)) return
      this.#swap(child, parent)
      child = parent
    }
  }

  #sink(): void {
    for (let parent = 0; ; ) {
      const left = parent * 2 + 1
      const worse = this.#isWorse(left + 1, left) ? left + 1 : left
      if (!this.#isWorse(worse, parent)) return
      this.#swap(worse, parent)
      parent = worse
    }
  }
}

import type { AdjustmentLine, ReversalReason } from '../../../src/core/stock/adjustment.ts'

/** What is known of one pet: units came in or went out, units were counted, or a count is taken back. */
interface StatedFact {
  readonly document: bigint
  readonly time: number
  /** Facts of one millisecond are in this order: that in which they were recorded. */
  readonly rank: bigint
  readonly delta: number | undefined
  readonly counted: number | undefined
}

/** The facts of one pet as a plain list, which needs no stock, no order of arrival and no effects. */
export class FactList {
  readonly #facts: StatedFact[] = []
  readonly #reversedUnits = new Map<bigint, number>()

  /** The stock is the latest count, plus all movements after it. */
  get quantity(): number {
    const sorted = this.#facts.toSorted(
      (one, other) =>
        one.time - other.time || Number(one.rank - other.rank) || Number(one.document - other.document),
    )
    const latest = sorted.findLastIndex(({ counted }) => counted !== undefined)
    const later = sorted.slice(latest + 1)
    return later.reduce((sum, { delta = 0 }) => sum + delta, sorted[latest]?.counted ?? 0)
  }

  get latestTime(): number {
    return Math.max(...this.#facts.map(({ time }) => time))
  }

  add(
    document: bigint,
    time: number,
    { delta, counted }: { readonly delta?: number | undefined; readonly counted?: number | undefined },
  ): void {
    this.#facts.push({ document, time, rank: document, delta, counted })
  }

  /** Undoes units of a movement, or a count as a whole. A correction comes right after what it corrects. */
  reverse(document: bigint, first: bigint, units: number, time: number, reason: ReversalReason): void {
    const index = this.#facts.findIndex((fact) => fact.document === first)
    const { delta } = this.#facts[index] ?? {}
    if (delta === undefined) this.#facts.splice(index, 1)
    else {
      const rank = reason === 'correction' ? first : document
      this.#facts.push({ document, time, rank, delta: -Math.sign(delta) * units, counted: undefined })
    }
    this.#reversedUnits.set(first, this.reversedUnits(first) + units)
  }

  reversedUnits(document: bigint): number {
    return this.#reversedUnits.get(document) ?? 0
  }

  copy(): FactList {
    const copy = new FactList()
    copy.#facts.push(...this.#facts)
    for (const [document, units] of this.#reversedUnits) copy.#reversedUnits.set(document, units)
    return copy
  }
}

export function reversibleUnits({ counted, delta }: AdjustmentLine): number {
  return counted === undefined ? Math.abs(delta) : 1
}

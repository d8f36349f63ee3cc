/**
 * Counts observations by size. The counts are not cumulative, as Prometheus wants them, until they are
 * rendered: one observation then touches one bucket.
 */
export class Histogram {
  /** Upper bounds, ascending; what is above the last one falls into the bucket +Inf. */
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds, counts } = this
    let bucket = 0
    // Most observations are small, so that a plain walk beats a binary search.
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    counts[bucket] = (counts[bucket] as number) + 1
    this.sum += value
  }
}

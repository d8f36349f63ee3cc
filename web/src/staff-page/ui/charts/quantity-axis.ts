const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const WHOLE = new Intl.NumberFormat('en')

/**
 * Whole, round numbers from 0 to at least `highest`, evenly spaced, with at most `most` steps. The axis begins at 0,
 * so that half the height is half the stock.
 */
export function quantityTicks(highest: number, most = 4): readonly number[] {
  const step = roundStep(Math.max(highest, 1) / most)
  const count = Math.max(1, Math.ceil(highest / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is at least `least`. */
function roundStep(least: number): number {
  if (least <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= least) ?? 10
  return factor * power
}

/** Short enough for an axis: 12, 1.5K, 3M. */
export function tickLabel(quantity: number): string {
  return quantity < 10_000 ? WHOLE.format(quantity) : COMPACT.format(quantity)
}

/** Exact if that is short, for a figure with little room. */
export function shortNumber(quantity: number): string {
  return quantity < 10_000_000 ? WHOLE.format(quantity) : COMPACT.format(quantity)
}

export function wholeNumber(quantity: number): string {
  return WHOLE.format(quantity)
}

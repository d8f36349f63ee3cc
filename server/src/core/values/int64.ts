const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
const CANONICAL = /^(?:0|-?[1-9][0-9]{0,18})$/

/** Accepts one spelling per number: `007`, `+7` and `-0` are rejected, so that every pet has exactly one address. */
export function parseInt64(text: string): bigint | undefined {
  if (!CANONICAL.test(text)) return undefined
  const value = BigInt(text)
  return value >= MIN && value <= MAX ? value : undefined
}

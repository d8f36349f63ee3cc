export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n
const CANONICAL = /^(?:0|-?[1-9][0-9]{0,18})$/

/** Rejects other spellings of a number, such as `007`, `+7` and `-0`, so that every pet has exactly one URL. */
export function parseInt64(text: string): bigint | undefined {
  if (!CANONICAL.test(text)) return undefined
  const value = BigInt(text)
  return value >= MIN_INT64 && value <= MAX_INT64 ? value : undefined
}

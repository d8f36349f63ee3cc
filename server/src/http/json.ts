declare global {
  interface JSON {
    /** In the language since ES2026, not yet in TypeScript's library. */
    rawJSON(text: string): unknown
  }
}

/** JSON with every `bigint` as its digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part,
  )
}

/** A JSON number that a double cannot hold as it was written; kept so that a message can show it. */
export class InexactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Only such numbers can lose something when they become a double. */
const MAY_LOSE = /[0-9][.eE]|[0-9]{16}/
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Reads JSON without rounding silently: 9007199254740993 and 1.00000000000000001 are not taken for neighbours. */
export function parseJson(text: string): unknown {
  if (!MAY_LOSE.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && isRounded(value, context.source)
      ? new InexactNumber(context.source)
      : value,
  )
}

/** Whether the double looks like an integer but the text is not one, or not that one. */
function isRounded(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (!Number.isInteger(value) || String(value) === source) return false
  if (!Number.isSafeInteger(value)) return true
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return false
  // The value is significant × 10^scale: an integer only if the scale is not negative. A safe integer of
  // the same digits has at most 16, so what is compared stays small.
  const scale = Number(exponent) - fraction.length + digits.length - significant.length
  return scale < 0 || significant + '0'.repeat(scale) !== String(Math.abs(value))
}

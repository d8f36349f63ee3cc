import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'

/** What is typed into the cell of a quantity asks for. */
export type TypedChange =
  | { readonly kind: 'set'; readonly quantity: number }
  /** `+12` or `-3`: so many more or fewer than there are, whoever changes it meanwhile. */
  | { readonly kind: 'add'; readonly delta: number }
  /** `+` or `--`: one more or one less for each. */
  | { readonly kind: 'step'; readonly delta: number }

const SIGNS = /^[+-]+$/

/** A whole number of 0 or more, with or without separators of thousands; `undefined` for anything else. */
export function readQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[\s_'](?=\d{3})/g, '')
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value <= MAX_QUANTITY ? value : undefined
}

/** `undefined` for what is no change at all. */
export function readChange(text: string): TypedChange | undefined {
  const typed = text.trim().replaceAll('−', '-')
  if (SIGNS.test(typed)) {
    const less = typed.replaceAll('+', '').length
    return { kind: 'step', delta: typed.length - 2 * less }
  }
  const isSigned = /^[+-]/.test(typed)
  const amount = readQuantity(isSigned ? typed.slice(1) : typed)
  if (amount === undefined) return undefined
  if (!isSigned) return { kind: 'set', quantity: amount }
  return { kind: 'add', delta: typed.startsWith('-') ? 0 - amount : amount }
}

/** So much more than there was that it may be a slip, or what a scanner typed: worth a question. */
export function isSurprising(before: number, after: number): boolean {
  return after > 1_000 && after > 100 * before
}

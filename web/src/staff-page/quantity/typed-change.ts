import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'

/** The change that a text in a quantity field stands for. */
export type TypedChange =
  | { readonly kind: 'set'; readonly quantity: number }
  /** `+12` or `-3`: a difference, which is right whatever others change meanwhile. */
  | { readonly kind: 'add'; readonly delta: number }

/** A quantity of ten digits is a barcode rather than a stock. */
const MAX_PLAUSIBLE = 999_999_999

/** A whole number of 0 or more, with or without thousands separators; `undefined` for anything else. */
export function readQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[\s_'](?=\d{3})/g, '')
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value <= MAX_QUANTITY ? value : undefined
}

/** `undefined` if the text is no change. */
export function readChange(text: string): TypedChange | undefined {
  const typed = text.trim().replaceAll('−', '-')
  const isSigned = /^[+-]/.test(typed)
  const amount = readQuantity(isSigned ? typed.slice(1) : typed)
  if (amount === undefined) return undefined
  if (!isSigned) return { kind: 'set', quantity: amount }
  return { kind: 'add', delta: typed.startsWith('-') ? 0 - amount : amount }
}

export function quantityAfter(before: number, change: TypedChange): number {
  return change.kind === 'set' ? change.quantity : before + change.delta
}

/** Whether a new quantity is so much more than the present one that it may be a slip or a scanned barcode. */
export function isImplausible(before: number, after: number): boolean {
  if (after <= before) return false
  return after > MAX_PLAUSIBLE || (after - before > 1_000 && after > 100 * before)
}

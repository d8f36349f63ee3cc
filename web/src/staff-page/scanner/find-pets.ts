import { searchTerms } from '../data/stock/search-text.ts'
import type { StockModel, StockRow } from '../data/stock/stock-model.ts'

/** Amounts and ids of a shop are shorter, or longer. */
const BARCODE = /^\d{8,14}$/
const MIN_LENGTH = 6

export interface ScannedText {
  /** The text that a person had typed before the barcode. */
  readonly before: string
  readonly barcode: string
}

/**
 * Finds a barcode at the end of a text, however fast it was typed or pasted: a slow scanner or a busy machine must not
 * turn a barcode into an amount.
 */
export function scannedIn(stock: StockModel, typed: string): ScannedText | undefined {
  const text = typed.trim()
  for (let start = 0; start <= text.length - MIN_LENGTH; start++) {
    const barcode = text.slice(start)
    if (stock.barcodes.find(barcode) !== undefined) return { before: text.slice(0, start), barcode }
  }
  return BARCODE.test(text) ? { before: '', barcode: text } : undefined
}

/** The pet with this barcode, or else with this id. */
export function petNamed(stock: StockModel, text: string): StockRow | undefined {
  const wanted = text.trim()
  const scanned = stock.barcodes.find(wanted)
  const row = scanned === undefined ? undefined : stock.find(scanned)
  if (row !== undefined) return row
  return /^-?\d{1,19}$/.test(wanted) ? stock.find(BigInt(wanted)) : undefined
}

/** The pets that match, at most `limit`: an exact barcode or id first, then names that start with the text. */
export function petsLike(stock: StockModel, text: string, limit: number): readonly StockRow[] {
  const terms = searchTerms(text)
  if (terms.length === 0) return []
  const named = petNamed(stock, text)
  const startMatches: StockRow[] = []
  const others: StockRow[] = []
  const start = terms.join(' ')
  for (const row of stock.get().rows) {
    if (row === named || !terms.every((term) => row.searchText.includes(term))) continue
    if (row.searchText.startsWith(start)) startMatches.push(row)
    else if (others.length < limit) others.push(row)
    if (startMatches.length === limit) break
  }
  return [...(named === undefined ? [] : [named]), ...startMatches, ...others].slice(0, limit)
}

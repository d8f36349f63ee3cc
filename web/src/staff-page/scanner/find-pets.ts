import { searchTerms } from '../data/stock/search-text.ts'
import type { StockModel, StockRow } from '../data/stock/stock-model.ts'

/** No amount and no id of a shop is that long; what a scanner reads is. */
const BARCODE = /^\d{8,14}$/
const MIN_LENGTH = 6

/** What a scanner has typed into a field, and what hands had typed there before it. */
export interface Scanned {
  readonly before: string
  readonly barcode: string
}

/**
 * To the browser a scanner is a keyboard that types into whatever has the focus. Told by what is there when Enter is
 * pressed, and not by how fast it came: a busy machine, or a slow scanner, must not cut a code in two. `undefined` where
 * nobody has scanned anything.
 */
export function scannedIn(stock: StockModel, typed: string): Scanned | undefined {
  const text = typed.trim()
  for (let start = 0; start <= text.length - MIN_LENGTH; start++) {
    const barcode = text.slice(start)
    if (stock.barcodes.find(barcode) !== undefined) return { before: text.slice(0, start), barcode }
  }
  return BARCODE.test(text) ? { before: '', barcode: text } : undefined
}

/** The one that this names: by its barcode first, then by its id. */
export function petNamed(stock: StockModel, text: string): StockRow | undefined {
  const wanted = text.trim()
  const scanned = stock.barcodes.find(wanted)
  const row = scanned === undefined ? undefined : stock.find(scanned)
  if (row !== undefined) return row
  return /^-?\d{1,19}$/.test(wanted) ? stock.find(BigInt(wanted)) : undefined
}

/** Those that fit, at most so many: the one that is named exactly, then names that begin so, then all others by id. */
export function petsLike(stock: StockModel, text: string, limit: number): readonly StockRow[] {
  const terms = searchTerms(text)
  if (terms.length === 0) return []
  const named = petNamed(stock, text)
  const begin: StockRow[] = []
  const others: StockRow[] = []
  const start = terms.join(' ')
  for (const row of stock.get().rows) {
    if (row === named || !terms.every((term) => row.searchText.includes(term))) continue
    if (row.searchText.startsWith(start)) begin.push(row)
    else if (others.length < limit) others.push(row)
    if (begin.length === limit) break
  }
  return [...(named === undefined ? [] : [named]), ...begin, ...others].slice(0, limit)
}

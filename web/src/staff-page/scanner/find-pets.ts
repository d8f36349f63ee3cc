import { useEffect, useState } from 'preact/compat'
import { matcherOf, searchable } from '../data/stock/search-text.ts'
import type { StockModel, StockRow } from '../data/stock/stock-model.ts'
import type { Session } from '../session/session.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { useDebounced } from '../ui/hooks.ts'

/** Amounts and ids of a shop are shorter, or longer. */
const BARCODE = /^\d{8,14}$/
const MIN_LENGTH = 6
/** A search on the server waits until the user has stopped typing for this long. */
const TYPING_MS = 200

interface ScannedText {
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

/** The pet with this barcode, or else with this id. A text with the form of a barcode is never an id. */
export function petNamed(stock: StockModel, text: string): StockRow | undefined {
  const wanted = text.trim()
  const scanned = stock.barcodes.find(wanted)
  const row = scanned === undefined ? undefined : stock.find(scanned)
  if (row !== undefined) return row
  return isId(wanted) && !BARCODE.test(wanted) ? stock.find(BigInt(wanted)) : undefined
}

/** The pets that match, at most `limit`: an exact barcode or id first, then names that start with the text. */
export function petsLike(stock: StockModel, text: string, limit: number): readonly StockRow[] {
  if (text.trim() === '') return []
  const matches = matcherOf(text)
  const named = petNamed(stock, text)
  const startMatches: StockRow[] = []
  const others: StockRow[] = []
  const start = searchable(text)
  for (const row of stock.get().rows) {
    if (row === named || !matches(row)) continue
    if (row.searchText.startsWith(start)) startMatches.push(row)
    else if (others.length < limit) others.push(row)
    if (startMatches.length === limit) break
  }
  return [...(named === undefined ? [] : [named]), ...startMatches, ...others].slice(0, limit)
}

/** Like `petsLike`, but a large store is searched on the server. Throws if the service does. */
export async function searchPets(
  { stock, feed, pets }: Pick<Session, 'stock' | 'feed' | 'pets'>,
  text: string,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly StockRow[]> {
  if (stock.get().isComplete) return petsLike(stock, text, limit)
  const q = text.trim()
  const { items, next } = await feed.read({ q, limit }, undefined, signal)
  // The pet with this id may come after many others with these digits in their names.
  if (next !== undefined && isId(q)) await pets.load(BigInt(q)).catch(() => {})
  const named = petNamed(stock, q)
  const found = items.flatMap(({ petId }) => stock.find(petId) ?? []).filter((row) => row !== named)
  return [...(named === undefined ? [] : [named]), ...found].slice(0, limit)
}

/** The pets that match while the user types. Without a connection, those of a large store that the page holds. */
export function usePetsLike(text: string, limit: number): readonly StockRow[] {
  const session = useSession()
  const { stock } = session
  const { isComplete } = useStock()
  const settled = useDebounced(text.trim(), TYPING_MS)
  const [petIds, setPetIds] = useState<readonly bigint[]>()
  useEffect(() => {
    if (isComplete || settled === '') return setPetIds(undefined)
    const ending = new AbortController()
    searchPets(session, settled, limit, ending.signal).then(
      (rows) => {
        if (!ending.signal.aborted) setPetIds(rows.map(({ petId }) => petId))
      },
      () => {
        if (!ending.signal.aborted) setPetIds(undefined)
      },
    )
    return () => ending.abort()
  }, [session, isComplete, settled, limit])
  if (text.trim() === '') return []
  if (isComplete || petIds === undefined) return petsLike(stock, text, limit)
  return petIds.flatMap((petId) => stock.find(petId) ?? [])
}

/** People type no leading zeros: `000169` is the rest of a barcode. */
function isId(text: string): boolean {
  return /^-?(0|[1-9]\d{0,17})$/.test(text)
}

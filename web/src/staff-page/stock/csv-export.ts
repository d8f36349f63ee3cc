import type { StockRow } from '../data/stock/stock-model.ts'

const HEADER = 'petId,name,categoryId,status,quantity'

/**
 * RFC 4180, with the very columns that `petstore import` takes. A name is written as it is, even where a spreadsheet
 * would take it for a formula: a sign put before it would come back with the next import and rename the pet, and
 * names are the shop's own, from its own import.
 */
export function csvOf(rows: readonly StockRow[]): string {
  const lines = rows.map(({ petId, name = '', categoryId = '', status, quantity }) =>
    [petId, field(name), categoryId, status, quantity].join(','),
  )
  return `${[HEADER, ...lines].join('\r\n')}\r\n`
}

function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Lets the browser save a file. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser may only begin to read it now.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

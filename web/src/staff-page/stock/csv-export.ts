import type { StockModel, StockRow } from '../data/stock/stock-model.ts'

const HEADER = 'petId,name,categoryId,status,quantity,lowStockAt,barcode'

/**
 * CSV of RFC 4180 with the columns that `petstore import` reads. Names that a spreadsheet would take for a formula are
 * written as they are: a character in front of the name would rename the pet at the next import.
 */
export function csvOf(rows: readonly StockRow[], { barcodes }: Pick<StockModel, 'barcodes'>): string {
  const lines = rows.map(({ petId, name = '', categoryId = '', status, quantity, lowStockAt = '' }) => {
    const barcode = barcodes.byPet().get(petId) ?? ''
    return [petId, field(name), categoryId, status, quantity, lowStockAt, field(barcode)].join(',')
  })
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
  // The browser may not have read it yet.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

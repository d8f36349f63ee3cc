import type { CatalogEntry, PetstoreClient } from '@petstore/client'
import { csvLine } from '../../../../server/src/core/transfer/csv.ts'
import {
  type FilePet,
  headerOf,
  isAlteredBySpreadsheets,
  PET_ROWS,
} from '../../../../server/src/core/transfer/rows.ts'
import { type CategoryList, categoryName } from './catalog/category-list.ts'
import { failureWords } from './failure-words.ts'
import type { Readable } from './observable.ts'
import type { StockRow } from './stock/stock-model.ts'
import { showToast } from './toasts.ts'

interface Source {
  readonly client: Pick<PetstoreClient, 'catalog'>
  readonly categories: Readable<CategoryList>
}

/** Saves a CSV file of these pets with every column. The import reads the same values from it. */
export async function exportPets(source: Source, rows: readonly StockRow[], fileName: string): Promise<void> {
  try {
    const pets = await withDetails(source, rows)
    saveFile(fileName, csvOf(pets))
    const altered = pets.filter(({ barcode }) => isAlteredBySpreadsheets(barcode ?? '')).length
    if (altered > 0) showToast({ name: 'export', text: barcodeWarning(altered) })
  } catch (error) {
    const text = `The pets could not be exported. ${failureWords(error)}`
    showToast({ name: 'export', tone: 'negative', text })
  }
}

async function withDetails({ client, categories }: Source, rows: readonly StockRow[]): Promise<FilePet[]> {
  const details = new Map<bigint, CatalogEntry>()
  for await (const entry of client.catalog.list()) details.set(entry.petId, entry)
  return rows.flatMap(({ petId, status, quantity }) => {
    const entry = details.get(petId)
    if (entry === undefined) return []
    const category = categoryName(categories.get(), entry.categoryId)
    return [{ ...entry, id: petId, status, quantity, category }]
  })
}

export function csvOf(pets: readonly FilePet[]): string {
  const lines = pets.map((pet) => csvLine(PET_ROWS.columns, PET_ROWS.write(pet)))
  return `${headerOf(PET_ROWS.columns)}\n${lines.join('')}`
}

function barcodeWarning(count: number): string {
  const barcodes = count === 1 ? '1 barcode' : `${count.toLocaleString('en')} barcodes`
  return `Excel shortens long numbers (4.00638E+12) and drops leading zeros, which would alter ${barcodes}. Open the file with Data, From text, and set the barcode column to text.`
}

/** Lets the browser save a CSV file. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser may read the file only after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

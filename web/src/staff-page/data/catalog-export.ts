import type { InventorySearch, PetstoreClient } from '@petstore/client'
import { csvLine } from '../../../../server/src/core/transfer/csv.ts'
import {
  type FilePet,
  headerOf,
  isAlteredBySpreadsheets,
  PET_ROW_KIND,
} from '../../../../server/src/core/transfer/rows.ts'
import { failureWords } from './failure-words.ts'
import { saveCsv } from './save-csv.ts'
import { showProblem, showToast } from './toasts.ts'

type Client = Pick<PetstoreClient, 'categories' | 'inventory'>

const PETS_PER_PAGE = 1_000

/**
 * Saves a CSV file of the pets that a search finds, with every column. The import reads the same values from it. With
 * `shown`, the file has only these pets.
 */
export async function exportPets(
  client: Client,
  query: InventorySearch,
  fileName: string,
  shown?: ReadonlySet<bigint>,
): Promise<void> {
  try {
    const pets = await loadPets(client, query, shown)
    saveCsv(fileName, csvOf(pets))
    const altered = pets.filter(({ barcode }) => isAlteredBySpreadsheets(barcode ?? '')).length
    if (altered > 0) showToast({ name: 'export', text: barcodeWarning(altered) })
  } catch (error) {
    showProblem('export', `The pets could not be exported. ${failureWords(error)}`)
  }
}

async function loadPets(
  client: Client,
  query: InventorySearch,
  shown?: ReadonlySet<bigint>,
): Promise<FilePet[]> {
  const categories = new Map<bigint, string>()
  for await (const { id, name } of client.categories.list({ limit: PETS_PER_PAGE })) categories.set(id, name)
  const pets: FilePet[] = []
  for await (const row of client.inventory.search({ ...query, limit: PETS_PER_PAGE })) {
    const { petId: id, name, categoryId, status, quantity, barcode, ownLowStockAt, metadata } = row
    if (shown?.has(id) === false) continue
    pets.push({
      id,
      name,
      categoryId,
      status,
      quantity,
      barcode: barcode ?? null,
      lowStockAt: ownLowStockAt ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      category: categories.get(categoryId) ?? '',
    } satisfies Record<keyof FilePet, unknown>)
  }
  return pets
}

export function csvOf(pets: readonly FilePet[]): string {
  const lines = pets.map((pet) => csvLine(PET_ROW_KIND.columns, PET_ROW_KIND.write(pet)))
  return `${headerOf(PET_ROW_KIND.columns)}\n${lines.join('')}`
}

function barcodeWarning(count: number): string {
  const barcodes = count === 1 ? '1 barcode' : `${count.toLocaleString('en')} barcodes`
  return `Excel shortens long numbers (4.00638E+12) and drops leading zeros, which would alter ${barcodes}. Open the file with Data, From text, and set the barcode column to text.`
}

import type { PetstoreClient } from '@petstore/client'
import type { StockModel } from './stock-model.ts'

interface Lookup {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly signal: AbortSignal
}

/**
 * Asks the service for the pet with a barcode that the page does not know: its names may still be on their way. One
 * request; what it tells is remembered. Throws where the service does.
 */
export async function askForBarcode(
  { client, stock, signal }: Lookup,
  barcode: string,
): Promise<bigint | undefined> {
  const { items } = await client.inventory.search({ q: barcode, signal })
  stock.barcodes.take(items)
  return stock.barcodes.find(barcode)
}

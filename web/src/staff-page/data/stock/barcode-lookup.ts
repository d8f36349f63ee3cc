import { type Lookup, takeFound } from './stock-search.ts'

/** Asks the service for the pet with a barcode that the page does not know. Throws if the service does. */
export async function askForBarcode(
  { client, stock, signal }: Lookup,
  barcode: string,
): Promise<bigint | undefined> {
  const { items } = await client.inventory.search({ q: barcode, signal })
  // Events keep the other rows current; this response may be older.
  takeFound(
    stock,
    items.filter(
      ({ petId }) => stock.find(petId) === undefined || stock.barcodes.byPet().get(petId) === undefined,
    ),
  )
  return stock.barcodes.find(barcode)
}

import {
  InsufficientStockError,
  isPetstoreError,
  type PetstoreClient,
  type StockLine,
} from '@petstore/client'

export interface Receipt {
  /** Unique among all tills, for example `till-3:1043`. */
  readonly number: string
  readonly lines: readonly StockLine[]
}

/**
 * Books a sale exactly once, however often requests or responses are lost: every attempt has the number of the receipt
 * as its idempotency key. Returns false if there is too little stock; then nothing was booked.
 */
export async function bookSale(client: PetstoreClient, { number, lines }: Receipt): Promise<boolean> {
  for (;;) {
    try {
      await client.inventory.sell(lines, { reference: `receipt ${number}`, idempotencyKey: number })
      return true
    } catch (error) {
      if (error instanceof InsufficientStockError) return false
      // No response in any attempt: the sale may have been booked, and repeating it is safe.
      if (!isPetstoreError(error, 'connection_failed')) throw error
    }
  }
}

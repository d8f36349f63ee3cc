import type { Locator, Page } from 'playwright-core'
import type { Shop } from './shop.ts'

export interface OrderDraft {
  readonly lines: readonly { readonly petId: number; readonly quantity: number }[]
  readonly reference?: string
  readonly holdSeconds?: number
  readonly shipDate?: string
  readonly customer?: string
  readonly note?: string
}

type OrderOfOnePet = Omit<OrderDraft, 'lines'> & { readonly petId: number; readonly quantity: number }

/** Creates an order, and returns its id. */
export async function makeOrder(shop: Shop, draft: OrderDraft | OrderOfOnePet): Promise<bigint> {
  return BigInt((await shop.send('POST', '/store/orders', draft)).id as number)
}

export async function stateOf(shop: Shop, orderId: bigint): Promise<unknown> {
  return (await shop.send('GET', `/store/orders/${orderId}`)).state
}

export function orderRow(page: Page, orderId: bigint): Locator {
  return page.getByRole('listitem', { name: `Order ${orderId}`, exact: true })
}

import type { Locator, Page } from 'playwright-core'
import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'
import type { TestService } from '../../../server/test/support/test-service.ts'

export interface OrderDraft {
  readonly petId: number
  readonly quantity: number
  readonly holdSeconds?: number
  readonly shipDate?: string
  readonly customer?: string
  readonly note?: string
}

interface WireOrder extends OrderDraft {
  readonly id: number
  readonly state: string
}

/** Ten of each, with ids from 1. */
export function petsNamed(...names: readonly string[]): readonly StockedPet[] {
  return names.map((name, index) => ({
    id: BigInt(index + 1),
    name,
    categoryId: 1n,
    status: 'available',
    quantity: 10,
  }))
}

/** Creates an order, and returns its id. */
export async function makeOrder(service: TestService, draft: OrderDraft): Promise<bigint> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await service.call('POST', '/store/orders', { body: JSON.stringify(draft), headers })
  if (answer.status !== 201) throw new Error(`the service answered ${answer.status}: ${answer.text}`)
  return BigInt((answer.json as WireOrder).id)
}

/** The order as the service has it. */
export async function stateOf(service: TestService, orderId: bigint): Promise<WireOrder> {
  return (await service.call('GET', `/store/orders/${orderId}`)).json as WireOrder
}

export function orderRow(page: Page, orderId: bigint): Locator {
  return page.getByRole('listitem', { name: `Order ${orderId}`, exact: true })
}

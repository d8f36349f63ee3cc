import { InsufficientStockError, OrderClosedError, PetstoreClient, type StockLine } from '@petstore/client'

const [baseUrl = 'http://127.0.0.1:8080/v1', apiKey = 'pst_demo_pro'] = process.argv.slice(2)
const client = new PetstoreClient({ baseUrl, apiKey })

/** Reserves the whole basket while the customer pays. If a line has too few units, reserves nothing and returns undefined. */
async function holdBasket(checkout: string, lines: readonly StockLine[], holdSeconds: number) {
  try {
    // The id of the checkout makes a second click on Pay the same order. A changed basket is another checkout.
    const order = { reference: checkout, lines, holdSeconds }
    return await client.orders.create(order, { idempotencyKey: checkout })
  } catch (error) {
    if (!(error instanceof InsufficientStockError)) throw error
    for (const { index, available } of error.details)
      console.log(`Line ${index + 1}: only ${available} left.`)
    return undefined
  }
}

/**
 * Called when the payment provider reports a payment: perhaps twice, perhaps after the hold has expired. A late payment gets
 * the units if they are still available; otherwise the customer gets the money back.
 */
async function completePaid(orderId: bigint): Promise<'sold' | 'refund'> {
  try {
    await client.orders.complete(orderId, { evenIfExpired: true })
    return 'sold'
  } catch (error) {
    if (error instanceof InsufficientStockError || error instanceof OrderClosedError) return 'refund'
    throw error
  }
}

async function holdUntilExpired(lines: readonly StockLine[]): Promise<bigint> {
  const { id } = await client.orders.create({ lines, holdSeconds: 1 })
  while ((await client.orders.get(id)).state === 'open') await new Promise((done) => setTimeout(done, 200))
  return id
}

const cage = await client.pets.create({ name: 'Cage', categoryId: 5, quantity: 3 })
const lamp = await client.pets.create({ name: 'Lamp', categoryId: 5, quantity: 3 })
const basket = (cages: number, lamps: number) => [
  { petId: cage.id, quantity: cages },
  { petId: lamp.id, quantity: lamps },
]

await holdBasket(crypto.randomUUID(), basket(1, 4), 900)

const order = await holdBasket(crypto.randomUUID(), basket(1, 1), 900)
if (order !== undefined) console.log(`Paid in time: ${await completePaid(order.id)}.`)

console.log(`Paid late: ${await completePaid(await holdUntilExpired(basket(1, 1)))}.`)

const late = await holdUntilExpired(basket(1, 1))
await client.inventory.sell({ petId: cage.id, quantity: 1 })
console.log(`Paid late, and the last cage is gone: ${await completePaid(late)}.`)

await Promise.all([cage, lamp].map(({ id }) => client.pets.remove(id)))

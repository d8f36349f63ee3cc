import { type AdjustmentChange, type Input, isPetstoreError, PetstoreClient } from '@petstore/client'

const [baseUrl = 'http://127.0.0.1:8080/v1', apiKey = 'pst_demo_pro'] = process.argv.slice(2)
const client = new PetstoreClient({ baseUrl, apiKey })

/** What a scanner recorded without a network. */
interface ScannedBatch {
  /** Unique among all scanners. */
  readonly id: string
  readonly reason: 'received' | 'counted' | 'lost'
  readonly occurredAt: Date
  readonly changes: readonly Input<AdjustmentChange>[]
}

/**
 * Sends a batch late, and once: its id is the Idempotency-Key, which the service remembers for 31 days. `occurredAt` keeps the
 * stock right: a delivery from before the latest count changes nothing, because that count includes it. Lines that cannot be
 * booked are left out, for a person to look at.
 */
async function sendBatch({ id, reason, occurredAt, changes }: ScannedBatch): Promise<void> {
  const body = {
    reason,
    reference: id,
    occurredAt: occurredAt.toISOString(),
    onConflict: 'skip',
    changes,
  } as const
  try {
    const { lines, skipped = [] } = await client.inventory.adjust(body, { idempotencyKey: id })
    for (const { before, after, effect } of lines) console.log(`${reason}: ${before} to ${after}, ${effect}`)
    for (const { index, code } of skipped) console.log(`${reason}: line ${index + 1} was left out, ${code}`)
  } catch (error) {
    // No line could be booked.
    if (!isPetstoreError(error) || error.details.length === 0) throw error
    for (const { index, message } of error.details) console.log(`${reason}: line ${index + 1}: ${message}`)
  }
}

const barcode = `W${Date.now()}`
const pet = await client.pets.create({ name: 'Hay, 1 kg', categoryId: 5, quantity: 10, barcode })

async function scan(reason: ScannedBatch['reason'], changes: ScannedBatch['changes']): Promise<ScannedBatch> {
  await new Promise((done) => setTimeout(done, 10))
  return { id: crypto.randomUUID(), reason, occurredAt: new Date(), changes }
}

const delivery = await scan('received', [
  { barcode, delta: 12 },
  { barcode: 'unknown', delta: 1 },
])
const count = await scan('counted', [{ barcode, quantity: 21 }])
const loss = await scan('lost', [{ barcode, delta: -1 }])
// In the wrong order, and the delivery twice.
for (const batch of [loss, count, delivery, delivery]) await sendBatch(batch)
console.log(`On the shelf: ${(await client.inventory.get(pet.id)).quantity}`)
await client.pets.remove(pet.id)

/**
 * Sends updates over connections that stay open, and prints which of them were not answered with 200. Runs in a process of
 * its own. With `retry`, an update without an answer from an instance is sent again with its Idempotency-Key.
 */
import { Agent, request } from 'node:http'
import { randomFrom } from '../../../scripts/torture-task.ts'

export interface ProxiedUpdates {
  readonly answered: number
  readonly failures: readonly string[]
}

const [address = '', connections = '1', minGapMs = '0', maxGapMs = '0', mode = 'once'] = process.argv.slice(2)
/** The answers of a proxy whose instance did not answer. */
const UNANSWERED = ['502', '503', '504']
const MAX_ATTEMPTS = 100
const RETRY_PAUSE_MS = 50
let isOver = false
let answered = 0
const failures: string[] = []

function update(agent: Agent, petId: number, quantity: number, idempotencyKey: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const body = JSON.stringify({ quantity })
  const sent = request(
    `${address}/v1/inventory/${petId}`,
    {
      agent,
      method: 'PATCH',
      headers: {
        Authorization: 'Bearer pst_demo_enterprise',
        'Content-Type': 'application/json',
        'Content-Length': body.length,
        'Idempotency-Key': idempotencyKey,
      },
    },
    (response) => response.resume().on('end', () => resolve(String(response.statusCode))),
  )
  sent.on('error', (error) => resolve(String(error)))
  sent.end(body)
  return promise
}

async function updateAndRetry(agent: Agent, petId: number, quantity: number): Promise<string> {
  const idempotencyKey = crypto.randomUUID()
  const attempts = mode === 'retry' ? MAX_ATTEMPTS : 1
  let outcome = ''
  for (let attempt = 0; attempt < attempts; attempt++) {
    outcome = await update(agent, petId, quantity, idempotencyKey)
    if (!UNANSWERED.includes(outcome) && !outcome.startsWith('Error')) break
    await Bun.sleep(RETRY_PAUSE_MS)
  }
  return outcome
}

/** Pauses between two updates. */
async function caller(index: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const random = randomFrom(index)
  const pause = () => Number(minGapMs) + random() * (Number(maxGapMs) - Number(minGapMs))
  // Not all at once.
  await Bun.sleep(random() * Number(maxGapMs))
  for (let quantity = 1; !isOver; quantity++) {
    const outcome = await updateAndRetry(agent, (index % 20) + 1, quantity)
    if (outcome === '200') answered++
    else failures.push(`${new Date().toISOString()} ${outcome}`)
    if (Number(maxGapMs) > 0 && !isOver) await Bun.sleep(pause())
  }
}

const callers = Promise.all(Array.from({ length: Number(connections) }, (_, index) => caller(index)))
// The end of standard input stops it; it does not wait for pausing callers.
await Bun.stdin.text()
isOver = true
await Promise.race([callers, Bun.sleep(5_000)])
console.log(JSON.stringify({ answered, failures } satisfies ProxiedUpdates))
process.exit(0)

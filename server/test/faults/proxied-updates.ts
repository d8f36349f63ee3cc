/** Sends updates over keep-alive connections, and prints how many did not get 200. Runs in its own process. */
import { Agent, request } from 'node:http'

export interface ProxiedUpdates {
  readonly answered: number
  readonly failures: readonly string[]
}

const [address = '', connections = '1', minGapMs = '0', maxGapMs = '0'] = process.argv.slice(2)
let isOver = false
let answered = 0
const failures: string[] = []

function update(agent: Agent, petId: number, quantity: number): Promise<string> {
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
      },
    },
    (response) => response.resume().on('end', () => resolve(String(response.statusCode))),
  )
  sent.on('error', (error) => resolve(String(error)))
  sent.end(body)
  return promise
}

/** Pauses between two updates. */
async function caller(index: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const pause = () => Number(minGapMs) + Math.random() * (Number(maxGapMs) - Number(minGapMs))
  // Not all at once.
  await Bun.sleep(Math.random() * Number(maxGapMs))
  for (let quantity = 1; !isOver; quantity++) {
    const outcome = await update(agent, (index % 20) + 1, quantity)
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

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InsufficientStockError, PetstoreClient } from '@petstore/client'

const PIECES = 20
const WAVES = 10
const WAVE_MS = 250
/** 2, 6, 10, and so on: 200 buyers altogether. All buyers of a wave order at the same moment. */
const buyersOfWave = (wave: number) => 4 * wave + 2
const BUYERS = 200
const BUYERS_PER_ROW = 50
const MARKS = { waiting: ' ', sold: '●', refused: '×' } as const

type Result = keyof typeof MARKS

/** How many lines the next drawing replaces. */
let drawnLines = 0

async function raceOnOwnDemo(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-race-'))
  const petstore = join(import.meta.dirname, '../node_modules/.bin/petstore')
  const demo = Bun.spawn([process.execPath, petstore, 'serve', '--demo', '--port', '0'], { cwd: folder })
  try {
    await race(`${await addressIn(demo.stdout)}/v1`)
  } finally {
    demo.kill()
    await demo.exited
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Without a terminal, the service logs its address. */
async function addressIn(output: AsyncIterable<Uint8Array>): Promise<string> {
  let log = ''
  for await (const chunk of output) {
    log += new TextDecoder().decode(chunk)
    const [, found] = /"address":"([^"]+)"/.exec(log) ?? []
    if (found !== undefined) return found
  }
  throw new Error('the demo did not start')
}

async function race(baseUrl: string, apiKey = 'pst_demo_enterprise'): Promise<void> {
  // A key with too few requests left fails soon, instead of waiting for its next minute.
  const client = new PetstoreClient({ baseUrl, apiKey, concurrency: 64, totalTimeout: 10_000 })
  const [first] = (await client.categories.list({ limit: 1 })).items
  const { id: categoryId } = first ?? (await client.categories.create({ name: 'Race' }))
  const { id: petId } = await client.pets.create({ name: 'The last 20', categoryId, quantity: PIECES })
  console.log(`${BUYERS} buyers want the last ${PIECES} pieces of pet ${petId}, on ${baseUrl}\n`)

  const results: Result[] = Array.from({ length: BUYERS }, () => 'waiting')
  let stock = PIECES
  const buy = async (buyer: number) => {
    results[buyer] = await order(client, petId)
    if (process.stdout.isTTY) redraw(results, stock)
  }
  for (let wave = 0, buyer = 0; wave < WAVES; wave++) {
    const buyers = Array.from({ length: buyersOfWave(wave) }, () => buyer++)
    const pause = Bun.sleep(WAVE_MS)
    await Promise.all(buyers.map(buy))
    stock = (await client.inventory.get(petId)).quantity
    if (process.stdout.isTTY) redraw(results, stock)
    else console.log(describe(results, stock))
    await pause
  }
  await prove(client, petId, results)
}

async function order(client: PetstoreClient, petId: bigint): Promise<Result> {
  try {
    await client.orders.create({ petId, quantity: 1, complete: true })
    return 'sold'
  } catch (error) {
    if (error instanceof InsufficientStockError) return 'refused'
    throw error
  }
}

function count(results: readonly Result[], result: Result): number {
  return results.filter((other) => other === result).length
}

function describe(results: readonly Result[], stock: number): string {
  return `${count(results, 'sold')} sold, ${count(results, 'refused')} refused, ${stock} in stock`
}

/** A mark for each buyer, over the previous drawing. */
function redraw(results: readonly Result[], stock: number): void {
  const marks = results.map((result) => MARKS[result]).join('')
  const rows = marks.match(new RegExp(`.{${BUYERS_PER_ROW}}`, 'g')) ?? []
  const lines = [...rows, '', describe(results, stock)]
  const back = drawnLines === 0 ? '' : `\x1b[${drawnLines}A`
  process.stdout.write(`${back}${lines.map((line) => `\x1b[2K${line}\n`).join('')}`)
  drawnLines = lines.length
}

/** Compares what the buyers were told with the documents of the service. */
async function prove(client: PetstoreClient, petId: bigint, results: readonly Result[]): Promise<void> {
  const { quantity } = await client.inventory.get(petId)
  const sales = await Array.fromAsync(client.adjustments.list({ petId, reason: 'sold' }))
  const soldUnits = -sales.flatMap(({ lines }) => lines).reduce((sum, { delta }) => sum + delta, 0)
  console.log(`\nThe documents: ${sales.length} sales of ${soldUnits} pieces, and ${quantity} left.`)
  if (count(results, 'sold') === soldUnits && soldUnits + quantity === PIECES) return
  console.error('They do not match what the buyers were told.')
  process.exitCode = 1
}

const [baseUrl, apiKey] = process.argv.slice(2)
if (baseUrl === undefined) await raceOnOwnDemo()
else await race(baseUrl, apiKey)

/** `npm run bench:webhooks`: a receiver that is down for 100,000 changes, and then catches up. */
import { join } from 'node:path'
import { freePort } from '../server/test/support/free-port.ts'
import { type LoadPlan, UPDATES } from './cases.ts'
import { createDataset } from './dataset.ts'
import type { Goal } from './goals.ts'
import { installTools } from './install.ts'
import { type Entrant, measure, measureInTurns, warmUp } from './measure.ts'
import { LOAD_CORE, memoryMbOf, pinned } from './processes.ts'
import { spreadOf } from './results.ts'
import { inRunFolder } from './run-folder.ts'
import type { RunningTarget } from './target.ts'
import { ours, prepareOurs, serveOurs } from './targets/ours.ts'

const BACKLOG = 100_000
const WARM_UP_MS = 3_000
const PETS = 10_000
const PLAN: LoadPlan = { title: 'updates', connections: 64, seconds: 2, rounds: 8, load: UPDATES }
const MIN_UPDATES = 0.97
const MIN_DELIVERIES = 2_000
const MAX_GROWTH_MB = 32

await inRunFolder(async (folder) => {
  await installTools()
  const goals = await run(folder)
  for (const { what, wanted, got, met } of goals)
    console.log(`${what}: ${got} (wanted: ${wanted})${met ? '' : '  NOT MET'}`)
  return goals.every(({ met }) => met)
})

async function run(folder: string): Promise<Goal[]> {
  const receiverPort = freePort()
  const [plain, withWebhook] = [await start(folder, 'plain'), await start(folder, 'with-webhook')]
  const { running } = withWebhook
  const { id } = await call(running, 'POST', '/webhooks', {
    url: `http://127.0.0.1:${receiverPort}/`,
    kinds: ['stock.changed'],
  })
  for (const entrant of [plain, withWebhook]) await warmUp(entrant, WARM_UP_MS)
  const memoryMb = memoryMbOf(running.pid)
  const ratios: number[] = []
  for (let round = 1; round <= PLAN.rounds; round++) {
    const [one, other] = await measureInTurns(plain, withWebhook, round)
    ratios.push(other.requestsPerSecond / one.requestsPerSecond)
    console.error(`round ${round} of ${PLAN.rounds}: ${ratios.at(-1)?.toFixed(3)}`)
  }
  await plain.running.stop()
  running.resume()
  let backlog = await backlogOf(running, id)
  for (let seed = 100; backlog < BACKLOG; seed++) {
    await measure(withWebhook, seed)
    backlog = await backlogOf(running, id)
    console.error(`backlog: ${backlog}`)
  }
  const grownMb = memoryMbOf(running.pid) - memoryMb
  const deliveries = await catchUp(running, id, receiverPort, backlog)
  const { median } = spreadOf(ratios)
  return [
    {
      what: 'updates with a webhook whose receiver is down / without a webhook',
      wanted: `at least ${MIN_UPDATES}x`,
      got: `${median.toFixed(3)}x`,
      met: median >= MIN_UPDATES,
    },
    {
      what: `memory that a backlog of ${backlog} changes adds`,
      wanted: `at most ${MAX_GROWTH_MB} MB`,
      got: `${Math.round(grownMb)} MB`,
      met: grownMb <= MAX_GROWTH_MB,
    },
    {
      what: 'deliveries per second once the receiver is back',
      wanted: `at least ${MIN_DELIVERIES}`,
      got: String(Math.round(deliveries)),
      met: deliveries >= MIN_DELIVERIES,
    },
  ]
}

async function start(folder: string, name: string): Promise<Entrant> {
  const dataset = createDataset(PETS, join(folder, name))
  const database = `sqlite:${join(dataset.folder, 'ours.db')}`
  const secrets = await prepareOurs(dataset, database)
  const flags = ['--webhook-private-addresses', 'on', '--webhook-retry-seconds', '1']
  const server = await serveOurs(name, database, { folder: dataset.folder }, flags)
  return { target: ours, running: { ...server, secrets }, dataset, plan: PLAN }
}

async function backlogOf(running: RunningTarget, id: number): Promise<number> {
  return (await call(running, 'GET', `/webhooks/${id}`)).behind.events
}

async function call({ url, secrets }: RunningTarget, method: string, path: string, body?: object) {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${secrets.unlimited}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (response.ok) return response.json()
  throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
}

/** Starts a receiver in its own process, and returns the deliveries per second until the backlog is empty. */
async function catchUp(running: RunningTarget, id: number, port: number, due: number): Promise<number> {
  const receiver = `let received = 0, first = 0, last = 0
    Bun.serve({ hostname: '127.0.0.1', port: ${port}, fetch: async (request) => {
      if (request.method === 'GET') return Response.json({ received, seconds: (last - first) / 1000 })
      await request.text()
      last = performance.now()
      if (received++ === 0) first = last
      return new Response(null, { status: 204 })
    } })`
  const child = Bun.spawn([...pinned(LOAD_CORE), process.execPath, '-e', receiver], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  try {
    let backlog = due
    while (backlog > 0) {
      await Bun.sleep(1_000)
      backlog = await backlogOf(running, id)
      console.error(`backlog: ${backlog} of ${due}`)
    }
    const { received, seconds } = await (await fetch(`http://127.0.0.1:${port}/`)).json()
    if (received < due) throw new Error(`${received} of ${due} deliveries arrived`)
    return received / seconds
  } finally {
    child.kill()
  }
}

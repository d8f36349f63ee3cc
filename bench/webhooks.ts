/**
 * A receiver that is down while 100,000 changes are made: what that costs updates, in memory too, and how fast it catches
 * up once it is back. `npm run bench:webhooks`
 */
import { join } from 'node:path'
import type { Case } from './cases.ts'
import { createDataset } from './dataset.ts'
import type { Goal } from './goals.ts'
import { installTools } from './install.ts'
import { type Loaded, measure, measureInTurns, warmUp } from './measure.ts'
import { freePort, LOAD_CORE, memoryOf, pinned, startServer } from './processes.ts'
import { inRunFolder } from './run-folder.ts'
import { spreadOf } from './statistics.ts'
import type { RunningTarget } from './target.ts'
import { ours, PETSTORE, prepareOurs } from './targets/ours.ts'

const PETS = 10_000
const BACKLOG = 100_000
const ROUNDS = 8
const WARM_UP_MS = 3_000
const UPDATES: Case = {
  name: 'updates',
  title: 'updates',
  section: 'embedded',
  pets: PETS,
  connections: 64,
  seconds: 2,
  rounds: ROUNDS,
  load: { kind: 'updates', onePet: false, readPercent: 0 },
}
const LEAST_UPDATES = 0.97
const LEAST_DELIVERIES = 2_000
const MAX_GROWTH_MB = 32

await inRunFolder(async (folder) => {
  await installTools((line) => console.error(line))
  const goals = await run(folder)
  for (const { what, wanted, got, met } of goals)
    console.log(`${what}: ${got} (wanted: ${wanted})${met ? '' : '  NOT MET'}`)
  return goals.every(({ met }) => met)
})

async function run(folder: string): Promise<Goal[]> {
  const receiverPort = await freePort()
  const alone = await start(folder, 'alone')
  const told = await start(folder, 'told')
  const { id } = await call(told, 'POST', '/webhooks', {
    url: `http://127.0.0.1:${receiverPort}/`,
    kinds: ['stock.changed'],
  })
  const facts = { unknownSecret: '' }
  const loaded = [alone, told].map((running): Loaded => ({ target: ours, running, loadCase: UPDATES, facts }))
  const [first, second] = loaded
  if (first === undefined || second === undefined) throw new Error('two are compared')
  for (const { running } of loaded) await warmUp(ours, running, UPDATES, facts, WARM_UP_MS)
  const before = memoryOf(told.pid).nowMb
  const ratios: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    const [plain, withWebhook] = await measureInTurns(first, second, round)
    ratios.push(withWebhook.requestsPerSecond / plain.requestsPerSecond)
    console.error(`round ${round} of ${ROUNDS}: ${ratios.at(-1)?.toFixed(3)}`)
  }
  for (const { running } of loaded) running.resume()
  await alone.stop()
  let { events } = (await call(told, 'GET', `/webhooks/${id}`)).behind
  for (let seed = 100; events < BACKLOG; seed++) {
    await measure(ours, told, UPDATES, facts, seed)
    events = (await call(told, 'GET', `/webhooks/${id}`)).behind.events
    console.error(`${events} are due`)
  }
  const grown = memoryOf(told.pid).nowMb - before
  const perSecond = await catchUp(told, id, receiverPort, events)
  const { median } = spreadOf(ratios)
  return [
    goal('updates beside one whose receiver is down / without a webhook', median, LEAST_UPDATES, 'x'),
    {
      what: `memory of the service after ${events} changes that nobody took, more than before`,
      ...{
        wanted: `at most ${MAX_GROWTH_MB} MB`,
        got: `${Math.round(grown)} MB`,
        met: grown <= MAX_GROWTH_MB,
      },
    },
    goal('deliveries a second once it is back', perSecond, LEAST_DELIVERIES, ''),
  ]
}

function goal(what: string, got: number, least: number, unit: string): Goal {
  const shown = (value: number) => (unit === 'x' ? `${value.toFixed(3)}x` : String(Math.round(value)))
  return { what, wanted: `at least ${shown(least)}`, got: shown(got), met: got >= least }
}

async function start(folder: string, name: string): Promise<RunningTarget> {
  const dataset = createDataset(PETS, join(folder, name))
  const database = `sqlite:${join(dataset.folder, 'ours.db')}`
  const secrets = await prepareOurs(dataset, database)
  const port = await freePort()
  const flags = ['--database-url', database, '--port', String(port), '--metrics-port', '0']
  const webhooks = ['--webhook-private-addresses', 'on', '--webhook-retry-seconds', '1']
  const command = [PETSTORE, 'serve', ...flags, ...webhooks]
  const server = await startServer(name, command, { folder: dataset.folder, port, readyPath: '/readyz' })
  return { ...server, secrets }
}

async function call({ url, secrets }: RunningTarget, method: string, path: string, body?: object) {
  const answer = await fetch(`${url}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${secrets.unlimited}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok)
    throw new Error(`${method} ${path} was answered with ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

/** Starts a receiver in a process of its own, and gives how many it is brought in a second until nothing is left. */
async function catchUp(told: RunningTarget, id: number, port: number, due: number): Promise<number> {
  const receiver = `let taken = 0, first = 0, last = 0
    Bun.serve({ hostname: '127.0.0.1', port: ${port}, fetch: async (request) => {
      if (request.method === 'GET') return Response.json({ taken, seconds: (last - first) / 1000 })
      await request.text()
      last = performance.now()
      if (taken++ === 0) first = last
      return new Response(null, { status: 204 })
    } })`
  const child = Bun.spawn([...pinned(LOAD_CORE), process.execPath, '-e', receiver], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  try {
    for (;;) {
      await Bun.sleep(1_000)
      const { events } = (await call(told, 'GET', `/webhooks/${id}`)).behind
      console.error(`${events} of ${due} are left`)
      if (events > 0) continue
      const { taken, seconds } = await (await fetch(`http://127.0.0.1:${port}/`)).json()
      if (taken < due) throw new Error(`${taken} of ${due} arrived`)
      return taken / seconds
    }
  } finally {
    child.kill()
  }
}

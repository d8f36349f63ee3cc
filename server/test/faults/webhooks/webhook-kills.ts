import { randomFrom, type TortureTask } from '../../../scripts/torture-task.ts'
import { type serve, serveTuned } from '../../cli/running-petstore.ts'
import { stockUp } from '../../postgres/shop.ts'
import { PostgresServer } from '../../support/postgres-server.ts'
import { until } from '../../support/until.ts'
import { FaultyReceiver } from './faulty-receiver.ts'

export interface WebhookKillOptions {
  readonly seed: number
  readonly changes: number
  /** How often the delivering instance is killed, and PostgreSQL is stopped as in a crash. */
  readonly kills: number
  readonly outages: number
  readonly say?: ((progress: string) => void) | undefined
}

export interface WebhookKillReport {
  readonly changes: number
  readonly arrived: number
  /** Repeated deliveries among the accepted ones. */
  readonly repeats: number
  readonly attempts: number
  readonly violations: readonly string[]
}

const PET_IDS = Array.from({ length: 50 }, (_, index) => index + 1)
const CALLERS = 16
const AWAY_MS = 500
/** Short retries, so that all deliveries finish within the run. */
const TUNED = { service: { retryDelaysMs: [0, 1_000] } }
const ENV = { WEBHOOK_PRIVATE_ADDRESSES: 'on', LOG_REQUESTS: 'none' }

type Instance = Awaited<ReturnType<typeof serve>>

/** Changes stock on two instances while the delivering one is killed, PostgreSQL crashes and the receiver fails. */
export async function deliverThroughKills(options: WebhookKillOptions): Promise<WebhookKillReport> {
  const { changes, kills, outages, say } = options
  const random = randomFrom(options.seed)
  const server = await PostgresServer.start()
  const url = server.url()
  const key = await stockUp(url, PET_IDS)
  const start = () => serveTuned(TUNED, { cwd: '/', env: { DATABASE_URL: url, ...ENV } })
  const pair: [Instance, Instance] = [await start(), await start()]
  const receiver = new FaultyReceiver(random)
  const call = (address: string, method: string, path: string, body?: object) =>
    fetch(`${address}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  try {
    const wanted = { url: await receiver.listen(), kinds: ['stock.changed'] }
    const made = await (await call(pair[0].address, 'POST', '/webhooks', wanted)).json()
    receiver.secret = made.secret
    let acknowledged = 0
    /** Distributes the faults over the changes. */
    let planned = changes / (kills + outages + 1)
    let value = 0
    const caller = async () => {
      while (acknowledged < changes) {
        await until(() => acknowledged < planned || acknowledged >= changes)
        const { address } = random() < 0.5 ? pair[0] : pair[1]
        const petId = PET_IDS[Math.floor(random() * PET_IDS.length)]
        const answer = await call(address, 'PATCH', `/inventory/${petId}`, { quantity: ++value }).catch(
          () => undefined,
        )
        if (answer?.status === 200) acknowledged++
        else await Bun.sleep(20)
      }
    }
    const calling = Promise.all(Array.from({ length: CALLERS }, caller))
    for (let done = 1; done <= kills + outages; done++) {
      await until(() => acknowledged >= planned)
      planned = (changes * (done + 1)) / (kills + outages + 1)
      const isOutage =
        Math.floor((done * outages) / (kills + outages)) >
        Math.floor(((done - 1) * outages) / (kills + outages))
      if (isOutage) {
        await server.stopAtOnce()
        await Bun.sleep(AWAY_MS)
        await server.startAgain()
      } else {
        const victim = await delivering(url, pair)
        pair[victim].program.kill('SIGKILL')
        await pair[victim].program.exited
        const before = receiver.taken.length
        pair[victim] = await start()
        await until(() => receiver.taken.length > before)
      }
      say?.(`${done} of ${kills + outages}, ${acknowledged} acknowledged, ${receiver.taken.length} arrived`)
    }
    await calling
    receiver.isFaulty = false
    await until(async () => {
      const shown = await call(pair[0].address, 'GET', `/webhooks/${made.id}`).then((answer) => answer.json())
      return shown.behind?.events === 0
    })
    const histories = await historiesOf(pair[0].address, key)
    const arrived = new Set(receiver.taken.map(({ id }) => id)).size
    return {
      changes: [...histories.values()].flat().length,
      arrived,
      attempts: receiver.attempts,
      repeats: receiver.taken.length - arrived,
      violations: [...receiver.violations, ...misfits(histories, receiver)],
    }
  } finally {
    receiver.close()
    for (const { program } of pair) program.kill('SIGKILL')
    await server.end()
  }
}

/** Which of the two holds the lease of the webhook, which names its process. */
async function delivering(databaseUrl: string, pair: readonly [Instance, Instance]): Promise<0 | 1> {
  const database = new Bun.SQL(databaseUrl)
  try {
    for (;;) {
      const [row] =
        await database`SELECT lease_owner FROM webhooks WHERE lease_until > extract(epoch FROM now()) * 1000`
      const pid = Number(String(row?.lease_owner).split(' ')[0])
      const index = pair.findIndex(({ program }) => program.pid === pid)
      if (index === 0 || index === 1) return index
      await Bun.sleep(50)
    }
  } finally {
    await database.close()
  }
}

/** The quantities of each pet, in order: every value is unique. */
async function historiesOf(address: string, key: string): Promise<Map<number, number[]>> {
  const histories = new Map<number, number[]>()
  for (const petId of PET_IDS) {
    const values: number[] = []
    let path: string | undefined = `/v1/inventory/${petId}/history?limit=100`
    while (path !== undefined) {
      const answer: Response = await fetch(address + path, { headers: { Authorization: `Bearer ${key}` } })
      for (const { after } of await answer.json()) values.push(after)
      path = /<(.*)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
    }
    histories.set(petId, values.reverse())
  }
  return histories
}

/** Each change arrived, and for each pet in the order of its history; repeats are ignored. */
function misfits(histories: ReadonlyMap<number, readonly number[]>, { taken }: FaultyReceiver): string[] {
  const seen = new Set<string>()
  const firsts = taken.filter(({ id }) => !seen.has(id) && seen.add(id))
  const byPet = Map.groupBy(firsts, ({ data }) => Number(data.petId))
  return PET_IDS.flatMap((petId) => {
    const arrived = (byPet.get(petId) ?? []).map(({ data }) => Number(data.after))
    const made = histories.get(petId) ?? []
    if (Bun.deepEquals(arrived, made)) return []
    const at = made.findIndex((value, index) => arrived[index] !== value)
    return [
      `pet ${petId}: change ${at} to ${made[at]} arrived as ${arrived[at]}; ${made.length} made, ${arrived.length} arrived`,
    ]
  })
}

export const webhooksTask: TortureTask = {
  name: 'webhooks',
  promise: 'Every change arrives at least once and in order for each pet, despite kills and failures.',
  share: 2,
  run: async ({ seed, say }) => {
    const { changes, arrived, repeats, attempts, violations } = await deliverThroughKills({
      seed,
      changes: 10_000,
      kills: 10,
      outages: 2,
      say,
    })
    const share = ((100 * repeats) / arrived).toFixed(2)
    return {
      figures: [
        ['changes', String(changes)],
        ['arrived', String(arrived)],
        ['attempts', String(attempts)],
        ['taken more than once', `${repeats} (${share} %)`],
        ['kills of the one that delivers, crashes of PostgreSQL', '10, 2'],
      ],
      violations,
    }
  },
}

import { randomFrom, type TortureTask } from '../../server/scripts/torture-task.ts'
import { startInstances, stockUp } from '../../server/test/postgres/shop.ts'
import { PostgresServer } from '../../server/test/support/postgres-server.ts'
import { until } from '../../server/test/support/until.ts'
import { findPgBouncer, PgBouncer, printedRoleSettings } from './pgbouncer.ts'

const KILLS = 50
const KILLS_IN_SHORT = 6
const PET_IDS = [1, 2, 3, 4, 5, 6]
/** How long the callers change and read before each kill. */
const LOAD_MS = 700
/** How long an instance without requests during the crash stays idle. */
const QUIET_MS = 1_300
/** Updates after each kill. Both instances read each of them. */
const UPDATES_AFTER = 12
/** A stale read is repeated after this time, to see whether it persists. */
const LASTING_MS = 1_000

export interface BackendKillOptions {
  readonly seed: number
  readonly kills: number
  readonly say: (progress: string) => void
}

export interface BackendKillReport {
  readonly kills: number
  readonly killsWithStaleReads: number
  readonly acknowledged: number
  readonly reads: number
  readonly refused: number
  readonly staleReads: readonly string[]
  /** Stale reads that were still stale a second later. */
  readonly lasting: number
}

/**
 * Kills PostgreSQL backends behind PgBouncer in transaction mode. PostgreSQL then restarts and loses
 * asynchronously committed transactions, but connections to PgBouncer without a transaction stay open, so an
 * instance may not notice.
 */
export async function killBackends(
  command: readonly string[],
  { seed, kills, say }: BackendKillOptions,
): Promise<BackendKillReport> {
  const random = randomFrom(seed)
  const server = await PostgresServer.start()
  const operator = new Bun.SQL({ adapter: 'postgres', url: server.url(), max: 1 })
  for (const statement of printedRoleSettings('postgres')) await operator.unsafe(statement)
  await operator.close()
  const pgbouncer = await PgBouncer.start(command, server.port)
  const key = await stockUp(server.url(), PET_IDS)
  const instances = await startInstances(pgbouncer.url, 2)
  const shop = new WatchedShop(
    instances.map(({ address }) => address),
    key,
  )
  let killsWithStaleReads = 0
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const before = shop.staleReads.length
      // In every second round, no request is in progress during the crash.
      const isQuiet = kill % 2 === 1
      let isOver = false
      const load = Promise.all(PET_IDS.map((petId) => shop.changeAndRead(petId, random, () => isOver)))
      await Bun.sleep(LOAD_MS)
      if (isQuiet) {
        isOver = true
        await load
      }
      await killOneBackend(server, random)
      await Bun.sleep(QUIET_MS)
      for (let count = 0; count < UPDATES_AFTER && isQuiet; count++) {
        await shop.changeAndReadOnce(PET_IDS[count % PET_IDS.length] ?? 0, random)
      }
      isOver = true
      await load
      if (shop.staleReads.length > before) killsWithStaleReads++
      say(`${kill} kills, ${shop.acknowledged} updates acknowledged, ${shop.staleReads.length} stale reads`)
    }
  } finally {
    for (const { program } of instances) program.kill('SIGKILL')
    await pgbouncer.end()
    await server.end()
  }
  const { acknowledged, reads, refused, staleReads, lasting } = shop
  return { kills, killsWithStaleReads, acknowledged, reads, refused, staleReads, lasting }
}

/** Kills a random backend that serves a client, and resolves when PostgreSQL accepts connections again. */
async function killOneBackend(server: PostgresServer, random: () => number): Promise<void> {
  const query = async <T>(text: string): Promise<T[]> => {
    const sql = new Bun.SQL({ adapter: 'postgres', url: server.url(), max: 1 })
    try {
      return await sql.unsafe(text)
    } finally {
      await sql.close()
    }
  }
  const backends = await query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
  )
  const victim = backends[Math.floor(random() * backends.length)]
  if (victim === undefined) throw new Error('PostgreSQL serves no client')
  process.kill(victim.pid, 'SIGKILL')
  await until(() =>
    query('SELECT 1').then(
      () => true,
      () => false,
    ),
  )
}

/** One caller per pet, so that the quantity of every acknowledged update must be shown until the next one. */
class WatchedShop {
  readonly staleReads: string[] = []
  acknowledged = 0
  reads = 0
  refused = 0
  lasting = 0
  readonly #addresses: readonly string[]
  readonly #key: string
  #quantity = 0

  constructor(addresses: readonly string[], key: string) {
    this.#addresses = addresses
    this.#key = key
  }

  async changeAndRead(petId: number, random: () => number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.changeAndReadOnce(petId, random)
      await Bun.sleep(random() * 20)
    }
  }

  /** Updates through one instance until the update is acknowledged, then reads on all of them. */
  async changeAndReadOnce(petId: number, random: () => number): Promise<void> {
    let quantity = 0
    await until(async () => {
      quantity = ++this.#quantity
      const address = this.#addresses[Math.floor(random() * this.#addresses.length)] ?? ''
      const isAcknowledged = (await this.#ask(address, petId, quantity)) !== undefined
      if (!isAcknowledged) this.refused++
      return isAcknowledged
    })
    this.acknowledged++
    for (const [index, address] of this.#addresses.entries()) {
      const shown = await this.#read(address, petId)
      if (shown === quantity) continue
      this.staleReads.push(`pet ${petId} was set to ${quantity}, and instance ${index + 1} showed ${shown}`)
      await Bun.sleep(LASTING_MS)
      if ((await this.#read(address, petId)) !== quantity) this.lasting++
    }
  }

  async #read(address: string, petId: number): Promise<number> {
    let shown: number | undefined
    await until(async () => {
      shown = await this.#ask(address, petId)
      return shown !== undefined
    })
    this.reads++
    return shown ?? Number.NaN
  }

  /** The quantity in the response; undefined if the request got 503. */
  async #ask(address: string, petId: number, quantity?: number): Promise<number | undefined> {
    const response = await fetch(`${address}/v1/inventory/${petId}`, {
      headers: { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' },
      ...(quantity === undefined ? {} : { method: 'PATCH', body: JSON.stringify({ quantity }) }),
    })
    const body = (await response.json()) as { quantity?: number }
    if (response.status !== 200 && response.status !== 503) {
      throw new Error(`pet ${petId} was answered ${response.status}: ${JSON.stringify(body)}`)
    }
    return body.quantity
  }
}

export const pgbouncerTask: TortureTask = {
  name: 'pgbouncer',
  promise:
    'Behind PgBouncer in transaction mode, both instances show every acknowledged update after a PostgreSQL backend was killed.',
  share: 2,
  run: async ({ seed, isFull, say }) => {
    const command = await findPgBouncer()
    if (typeof command === 'string') {
      say(`skipped: ${command}`)
      return { figures: [['skipped', 'no PgBouncer for transaction mode']], violations: [] }
    }
    const report = await killBackends(command, { seed, kills: isFull ? KILLS : KILLS_IN_SHORT, say })
    return {
      figures: [
        ['kills of a backend', String(report.kills)],
        ['acknowledged updates', String(report.acknowledged)],
        ['reads', String(report.reads)],
        ['refused with 503', String(report.refused)],
        ['stale reads', `${report.staleReads.length}, of them still stale a second later ${report.lasting}`],
        ['kills with stale reads', String(report.killsWithStaleReads)],
      ],
      violations: report.staleReads,
    }
  },
}

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { killProcessTree } from '../../server/test/support/kill-process-tree.ts'
import { memoryFolder } from '../../server/test/support/memory-folder.ts'
import { until } from '../../server/test/support/until.ts'
import { missingPackage } from '../../wire/test/debian-package.ts'
import { GuardedProgram, makeOwnedFolder } from './guarded-program.ts'

/** Debian's version of PostgreSQL 15, with the JIT compiler that the embedded one lacks. */
const POSTGRES_BINARIES = '/usr/lib/postgresql/15/bin'
const SCOPE = 'petstore'
const START_MS = 120_000
/** A failed primary is replaced once its lease has expired. Patroni wants ttl >= loop_wait + 2 * retry_timeout. */
const LEASE = { ttl: 8, loop_wait: 1, retry_timeout: 3 }

/** Why no Patroni cluster can be started here, after an attempt to install the Debian packages. */
export async function missingPatroni(): Promise<string | undefined> {
  for (const [name, program] of [
    ['postgresql-15', join(POSTGRES_BINARIES, 'postgres')],
    ['etcd-server', 'etcd'],
    ['patroni', 'patroni'],
  ] as const) {
    const advice = await missingPackage(name, program)
    if (advice !== undefined) return advice
  }
  return undefined
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** PostgreSQL servers with synchronous replication, run by Patroni with etcd on loopback. */
export class PatroniCluster {
  readonly #folder: string
  readonly #etcd: GuardedProgram
  readonly #nodes: readonly PatroniNode[]

  static async start(size: number): Promise<PatroniCluster> {
    const folder = mkdtempSync(join(memoryFolder(), 'petstore-patroni-'))
    const cluster = new PatroniCluster(folder, size)
    try {
      await cluster.#bootstrap()
      return cluster
    } catch (error) {
      await cluster.end()
      throw error
    }
  }

  private constructor(folder: string, size: number) {
    this.#folder = folder
    makeOwnedFolder(folder)
    const client = freePort()
    this.#etcd = new GuardedProgram(
      join(folder, 'etcd'),
      etcdCommand(join(folder, 'etcd'), client, freePort()),
      {
        // Debian's etcd refuses to start on ARM without it.
        ETCD_UNSUPPORTED_ARCH: process.arch,
      },
    )
    this.#nodes = Array.from(
      { length: size },
      (_, index) =>
        new PatroniNode(`node${index + 1}`, join(folder, `node${index + 1}`), {
          postgres: freePort(),
          api: freePort(),
          etcd: client,
        }),
    )
  }

  /** Names every server, as an operator would write it. */
  get url(): string {
    const hosts = this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return `postgres://postgres@${hosts}/postgres`
  }

  /** Stops the primary cleanly and promotes its synchronous standby. Resolves when the new primary accepts writes. */
  async switchOver(): Promise<void> {
    const { leader, standby } = await this.#pair()
    const answer = await fetch(`http://127.0.0.1:${leader.apiPort}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: leader.name, candidate: standby.name }),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`Patroni refused the switchover: ${answer.status} ${text}`)
    await waitFor(`${standby.name} to be the primary`, () => standby.isPrimary())
  }

  /**
   * Kills the primary and its Patroni. Resolves when another server accepts writes, with a function that
   * restarts the dead one.
   */
  async failOver(): Promise<{ restart: () => void }> {
    const { leader } = await this.#pair()
    leader.kill()
    await waitFor('another primary', async () => (await this.#primary(leader)) !== undefined)
    return { restart: () => leader.start() }
  }

  /** Resolves when all servers run and one of them is a synchronous standby. */
  async untilWhole(): Promise<void> {
    await waitFor('all servers to run, one of them as synchronous standby', async () => {
      const members = await this.#members()
      const isRunning = ({ state }: Member) => state === 'running' || state === 'streaming'
      return (
        members.length === this.#nodes.length &&
        members.every(isRunning) &&
        members.some(({ role }) => role === 'leader') &&
        members.some(({ role }) => role === 'sync_standby')
      )
    })
  }

  async end(): Promise<void> {
    await Promise.all([...this.#nodes, this.#etcd].map((one) => one.end()))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** The first server creates the database; the others copy it. */
  async #bootstrap(): Promise<void> {
    const [first, ...others] = this.#nodes
    first?.start()
    await waitFor('the first primary', async () => (await first?.isPrimary()) === true)
    for (const node of others) node.start()
    await this.untilWhole()
  }

  async #pair(): Promise<{ leader: PatroniNode; standby: PatroniNode }> {
    await this.untilWhole()
    const members = await this.#members()
    const named = (role: string) => {
      const name = members.find((member) => member.role === role)?.name
      const node = this.#nodes.find((one) => one.name === name)
      if (node === undefined) throw new Error(`no server of the cluster is the ${role}`)
      return node
    }
    return { leader: named('leader'), standby: named('sync_standby') }
  }

  async #primary(except: PatroniNode): Promise<PatroniNode | undefined> {
    for (const node of this.#nodes) if (node !== except && (await node.isPrimary())) return node
    return undefined
  }

  async #members(): Promise<readonly Member[]> {
    for (const { apiPort } of this.#nodes) {
      const answer = await ask(apiPort, '/cluster')
      if (answer?.status === 200) return ((await answer.json()) as { members: Member[] }).members
    }
    return []
  }
}

class PatroniNode {
  readonly name: string
  readonly port: number
  readonly apiPort: number
  readonly #folder: string
  readonly #configuration: string
  #patroni: GuardedProgram | undefined

  constructor(name: string, folder: string, ports: { postgres: number; api: number; etcd: number }) {
    this.name = name
    this.port = ports.postgres
    this.apiPort = ports.api
    this.#folder = folder
    this.#configuration = patroniConfiguration(name, folder, ports)
  }

  start(): void {
    if (this.#patroni !== undefined) {
      this.#patroni.startAgain()
      return
    }
    makeOwnedFolder(this.#folder)
    const file = join(this.#folder, 'patroni.yml')
    writeFileSync(file, this.#configuration)
    this.#patroni = new GuardedProgram(this.#folder, ['/usr/bin/patroni', file], {})
  }

  async isPrimary(): Promise<boolean> {
    return (await ask(this.apiPort, '/primary'))?.status === 200
  }

  kill(): void {
    const postmaster = Number(readFileSync(join(this.#folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
    this.#patroni?.kill()
    killProcessTree(postmaster)
  }

  async end(): Promise<void> {
    await this.#patroni?.end()
  }
}

function etcdCommand(folder: string, client: number, peer: number): string[] {
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  return [
    '/usr/bin/etcd',
    ...['--name', 'etcd', '--data-dir', join(folder, 'data'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
    ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ...['--initial-cluster', `etcd=${peerUrl}`],
  ]
}

/** JSON is YAML, too. */
function patroniConfiguration(
  name: string,
  folder: string,
  ports: { readonly postgres: number; readonly api: number; readonly etcd: number },
): string {
  const trust = (database: string) => `host ${database} all 127.0.0.1/32 trust`
  return JSON.stringify({
    scope: SCOPE,
    name,
    restapi: { listen: `127.0.0.1:${ports.api}`, connect_address: `127.0.0.1:${ports.api}` },
    etcd3: { host: `127.0.0.1:${ports.etcd}` },
    bootstrap: {
      dcs: {
        ...LEASE,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, use_slots: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums', 'no-sync'],
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres}`,
      connect_address: `127.0.0.1:${ports.postgres}`,
      data_dir: join(folder, 'data'),
      bin_dir: POSTGRES_BINARIES,
      pgpass: join(folder, 'pgpass'),
      authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
      pg_hba: [trust('all'), trust('replication')],
      parameters: {
        unix_socket_directories: '',
        max_connections: '100',
        // Only a power cut would show the difference, and the servers are killed instead.
        fsync: 'off',
        // JIT has its own test; with it, the service before the fix is too slow to be compared.
        jit: 'off',
      },
    },
  })
}

async function ask(port: number, path: string): Promise<Response | undefined> {
  try {
    return await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(2_000) })
  } catch {
    return undefined
  }
}

async function waitFor(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + START_MS
  await until(async () => {
    if (await isSo()) return true
    if (performance.now() > deadline) throw new Error(`waited ${START_MS / 1_000} s for ${what}`)
    await Bun.sleep(100)
    return false
  })
}

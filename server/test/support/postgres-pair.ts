import { tmpdir } from 'node:os'
import { FreezingProxy } from './freezing-proxy.ts'
import { PostgresServer } from './postgres-server.ts'
import { until } from './until.ts'

/** The folder of the first primary's socket. */
export const SOCKETS = tmpdir()

/**
 * A primary with a synchronous standby, and a proxy that sends new connections to one of them, like a balancer
 * that looks for the primary.
 */
export class PostgresPair {
  readonly proxy: FreezingProxy
  #primary: PostgresServer
  #standby: PostgresServer | undefined
  #lost: PostgresServer | undefined

  static async start(): Promise<PostgresPair> {
    const primary = await PostgresServer.start({ unix_socket_directories: SOCKETS })
    const pair = new PostgresPair(primary, await FreezingProxy.open(primary.port))
    await pair.addStandby()
    return pair
  }

  private constructor(primary: PostgresServer, proxy: FreezingProxy) {
    this.#primary = primary
    this.proxy = proxy
  }

  /** Through the proxy. */
  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.proxy.port}/postgres`
  }

  get primary(): PostgresServer {
    return this.#primary
  }

  get standby(): PostgresServer {
    if (this.#standby === undefined) throw new Error('there is no standby')
    return this.#standby
  }

  /** Cuts the existing connections, and sends new ones to the standby, before it is promoted. */
  async showStandby(): Promise<void> {
    this.proxy.switchTo(this.standby.port)
    await this.onPrimary(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'",
    )
  }

  /** Runs statements as an operator would. */
  async onPrimary(...statements: readonly string[]): Promise<void> {
    const sql = connect(this.#primary)
    for (const text of statements) await sql.unsafe(text)
    await sql.close()
  }

  /** From then on commits wait for it. */
  async addStandby(): Promise<void> {
    await this.#lost?.end()
    this.#lost = undefined
    this.#standby = await this.#primary.startStandby()
    const sql = connect(this.#primary)
    try {
      await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`
      await sql`SELECT pg_reload_conf()`
      await until(
        async () => (await sql`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`).length > 0,
      )
    } finally {
      await sql.close()
    }
  }

  killPrimary(): void {
    this.#primary.kill()
  }

  /** Resolves once the standby is the primary. The old one is gone permanently. */
  async promote(): Promise<void> {
    const sql = connect(this.standby)
    await sql`SELECT pg_promote()`
    await sql.close()
    this.#lost = this.#primary
    this.#primary = this.standby
    this.#standby = undefined
  }

  async end(): Promise<void> {
    this.proxy.close()
    await this.#lost?.end()
    await this.#standby?.end()
    await this.#primary.end()
  }
}

function connect({ port }: PostgresServer): Bun.SQL {
  return new Bun.SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port,
    username: 'postgres',
    database: 'postgres',
    max: 1,
  })
}

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM, petstore } from '../../cli/petstore.ts'
import { startInstances, stockUp } from '../../postgres/shop.ts'
import type { Random } from '../../sim/random.ts'
import { memoryFolder } from '../../support/memory-folder.ts'
import type { TestDatabase } from '../../support/postgres-databases.ts'
import { PostgresServer } from '../../support/postgres-server.ts'
import { sqliteDatabase } from '../../support/test-database.ts'

export const BASKET_PETS = Array.from({ length: 12 }, (_, index) => index + 1)

/** A deadlock is found before the service ends its brief wait for a lock. */
const DEADLOCK_TIMEOUT = '20ms'

/** The real program on a database of its own. Its processes and its database can crash and come back. */
export class BasketShop {
  readonly database: Pick<TestDatabase, 'url' | 'run' | 'drop'>
  readonly key: string
  readonly #server: PostgresServer | undefined
  #instances: Awaited<ReturnType<typeof startInstances>>

  static async onSqlite(): Promise<BasketShop> {
    const folder = mkdtempSync(join(memoryFolder(), 'petstore-baskets-'))
    const { url, run } = sqliteDatabase(join(folder, 'petstore.db'))
    const drop = async () => rmSync(folder, { recursive: true })
    return BasketShop.#open({ url, run, drop }, 1)
  }

  /** Two instances. */
  static async onPostgres(): Promise<BasketShop> {
    const server = await PostgresServer.start({ deadlock_timeout: DEADLOCK_TIMEOUT })
    const run = (sql: string) => server.run(sql)
    return BasketShop.#open({ url: server.url(), run, drop: () => server.end() }, 2, server)
  }

  static async #open(
    database: BasketShop['database'],
    instances: number,
    server?: PostgresServer,
  ): Promise<BasketShop> {
    const key = await stockUp(database.url, BASKET_PETS)
    return new BasketShop(database, key, await startInstances(database.url, instances), server)
  }

  private constructor(
    database: BasketShop['database'],
    key: string,
    instances: Awaited<ReturnType<typeof startInstances>>,
    server: PostgresServer | undefined,
  ) {
    this.database = database
    this.key = key
    this.#instances = instances
    this.#server = server
  }

  get addresses(): readonly string[] {
    return this.#instances.map(({ address }) => address)
  }

  /** Lets the database or some instances crash and come back. Returns what has crashed. */
  async crash(random: Random): Promise<'the database' | 'the program'> {
    if (this.#server !== undefined && random.chance(0.3)) {
      await this.#server.stopAtOnce()
      await Bun.sleep(random.integer(0, 500))
      await this.#server.startAgain()
      return 'the database'
    }
    const survivors = this.#instances.filter(() => random.chance(0.5)).slice(1)
    const killed = this.#instances.filter((instance) => !survivors.includes(instance))
    for (const { program } of killed) program.kill('SIGKILL')
    await Promise.all(killed.map(({ program }) => program.exited))
    this.#instances = [...survivors, ...(await startInstances(this.database.url, killed.length))]
    return 'the program'
  }

  /** What `petstore check` finds. */
  async findDamage(): Promise<readonly string[]> {
    const env = { DATABASE_URL: this.database.url }
    const { exitCode, stdout, stderr } = await petstore(['check'], { cwd: '/', env, program: PROGRAM })
    return exitCode === 0 ? [] : [`petstore check: ${stdout}${stderr}`]
  }

  /** How often PostgreSQL has ended a deadlock. */
  countDeadlocks(): number {
    return this.#server?.log().match(/deadlock detected/g)?.length ?? 0
  }

  async close(): Promise<void> {
    for (const { program } of this.#instances) program.kill('SIGKILL')
    await Promise.all(this.#instances.map(({ program }) => program.exited))
    await this.database.drop()
  }
}

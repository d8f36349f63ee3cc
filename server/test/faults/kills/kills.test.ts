import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open-store.ts'
import { startInstances, stockUp } from '../../postgres/shop.ts'
import { createDatabase } from '../../support/postgres-databases.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { historyOf } from '../../support/whole-store.ts'

setDefaultTimeout(120_000)

const AT_ONCE = 100

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Instances of the real program on one database, which are killed and restarted together. */
class Instances {
  readonly url: string
  readonly #count: number
  readonly #key: string
  #running: Awaited<ReturnType<typeof startInstances>> = []

  static async start(url: string, count: number): Promise<Instances> {
    const instances = new Instances(url, count, await stockUp(url))
    closing.push(() => instances.kill())
    await instances.start()
    return instances
  }

  private constructor(url: string, count: number, key: string) {
    this.url = url
    this.#count = count
    this.#key = key
  }

  async start(): Promise<void> {
    this.#running = await startInstances(this.url, this.#count)
  }

  async kill(): Promise<void> {
    for (const { program } of this.#running) program.kill('SIGKILL')
    await Promise.all(this.#running.map(({ program }) => program.exited))
  }

  /** The response of one instance to the same change; `undefined` if there was none. */
  async ask(index: number, idempotencyKey: string): Promise<string | undefined> {
    const { address } = this.#running[index % this.#count] ?? {}
    try {
      const answer = await fetch(`${address}/v1/inventory/adjustments`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${this.#key}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': idempotencyKey,
        },
        body: '{"reason":"received","changes":[{"petId":1,"delta":1},{"petId":2,"delta":3}]}',
      })
      const text = await answer.text()
      // On a slow machine, an instance may shed load. A request that it sheds changes nothing.
      return answer.status === 503 ? this.ask(index, idempotencyKey) : `${answer.status} ${text}`
    } catch {
      return undefined
    }
  }

  askAtOnce(idempotencyKey: string): Promise<string | undefined>[] {
    return Array.from({ length: AT_ONCE }, (_, index) => this.ask(index, idempotencyKey))
  }

  async changesMade(): Promise<number[]> {
    const store = await openStore(this.url, { tables: 'migrate' })
    const histories = await Promise.all([1n, 2n].map((petId) => historyOf(store, petId)))
    await store.close()
    return histories.map((history) => history.length)
  }
}

async function onSqlite(): Promise<Instances> {
  const folder = temporaryFolder()
  return Instances.start(`sqlite:${join(folder, 'petstore.db')}`, 1)
}

async function onTwoInstances(): Promise<Instances> {
  const database = await createDatabase()
  closing.push(() => database.drop())
  return Instances.start(database.url, 2)
}

/** The part of the response to the n-th change that has its items. */
const itemsAfter = (count: number) =>
  `"items":[{"petId":1,"quantity":${count},"status":"available"},{"petId":2,"quantity":${3 * count},"status":"available"}]`

describe.each([
  ['SQLite', onSqlite],
  ['two instances on PostgreSQL', onTwoInstances],
])('an Idempotency-Key sent 100 times at once to %s', (_, open) => {
  test('makes one change despite a kill -9 during the requests', async () => {
    const instances = await open()
    const untilKilled = [
      (asked: readonly Promise<unknown>[]) => Promise.race(asked),
      () => Bun.sleep(1),
      () => Bun.sleep(5),
    ]
    for (const [index, until] of untilKilled.entries()) {
      const key = `round-${index}`
      const asked = instances.askAtOnce(key)
      await until(asked)
      await instances.kill()
      const before = await Promise.all(asked)
      await instances.start()
      const after = await Promise.all(instances.askAtOnce(key))
      const answered = before.filter((answer) => answer !== undefined)
      const [answer, ...others] = new Set([...answered, ...after])
      expect([answer, others]).toEqual([expect.stringContaining(itemsAfter(index + 1)), []])
      expect(answer).toStartWith('200 ')
    }
    expect(await instances.changesMade()).toEqual([3, 3])
  })
})

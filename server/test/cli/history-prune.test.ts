import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { withoutPassword } from '../../src/store/opening.ts'
import type { Store } from '../../src/store/store.ts'
import { EventReader } from '../support/event-reader.ts'
import type { TestDatabase } from '../support/postgres-databases.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { petstore, petstoreInTerminal } from './petstore.ts'
import { serve } from './running-petstore.ts'

setDefaultTimeout(120_000)

const CHANGES = 2_500

describe.each([
  ['SQLite', false],
  ['PostgreSQL', true],
])('petstore history prune on %s', (_, onPostgres) => {
  let cwd: string
  let database: TestDatabase
  let store: Store
  let running: Awaited<ReturnType<typeof serve>> | undefined
  beforeEach(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'petstore-prune-'))
    database = await createTestDatabase(cwd, onPostgres)
    store = await openStore(database.url, { tables: 'migrate' })
    await store.addPets([
      { id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 0 },
      { id: 2n, name: 'Rex', categoryId: 1n, status: 'sold', quantity: 7 },
    ])
    const at = Date.now() - 60_000
    for (let made = 0; made < CHANGES; made += 500) {
      await store.changeStock(
        Array.from({ length: 500 }, (_, index) => ({
          type: 'set_quantity' as const,
          petId: 1n,
          quantity: made + index + 1,
          keyId: 'k',
          at,
        })),
      )
    }
  })
  afterEach(async () => {
    await running?.stop()
    running = undefined
    await store.close()
    await database.drop()
    rmSync(cwd, { recursive: true, force: true })
  })

  const env = () => ({ DATABASE_URL: database.url })
  const name = () => withoutPassword(database.url).replace(/^sqlite:/, '')
  const prune = (...args: string[]) => petstore(['history', 'prune', ...args], { cwd, env: env() })
  const history = () => historyOf(store, 1n)
  const createKey = async () => {
    const limits = ['--per-minute', '999999', '--per-day', '999999']
    const made = await petstore(['keys', 'create', '--name', 'a', '--plan', 'enterprise', ...limits], {
      cwd,
      env: env(),
    })
    return made.stdout.trim()
  }
  const quantities = async () => (await stockOf(store)).map(({ quantity }) => quantity)

  async function dryRun(...args: string[]) {
    const { exitCode, stdout } = await prune(...args, '--dry-run')
    expect(exitCode).toBe(0)
    expect(stdout).toEndWith('Nothing was changed.\n')
    const [, prunable = '', total = ''] =
      /^Would delete ([\d,]+) entr(?:y|ies) .+, out of ([\d,]+)\./.exec(stdout) ?? []
    return { prunable, total, counts: [prunable, total].map((text) => Number(text.replaceAll(',', ''))) }
  }

  test('removes all but the newest, and no quantity changes', async () => {
    const before = await quantities()
    const { prunable, counts } = await dryRun('--keep', '10')
    expect(counts[0]).toBe((counts[1] ?? 0) - 10)
    expect(await history()).toHaveLength(CHANGES)

    const { exitCode, stdout } = await prune('--keep', '10', '--yes')
    expect([exitCode, stdout]).toEqual([
      0,
      `Deleted ${prunable} entries from ${name()}; 10 entries are left.\n`,
    ])
    expect((await history()).map(({ after }) => after)).toEqual(
      Array.from({ length: 10 }, (_, index) => CHANGES - 9 + index),
    )
    expect(await quantities()).toEqual(before)
    const check = await petstore(['check'], { cwd, env: env() })
    expect([check.exitCode, check.stdout]).toEqual([0, expect.stringContaining('the database is intact')])
  })

  test('removes changes older than a duration or a time, and says if there are none', async () => {
    const old = await prune('--before', '30d', '--yes')
    expect([old.exitCode, old.stdout]).toEqual([
      0,
      expect.stringMatching(/^There are no entries before .*; the history has [\d,]+ entries\.\n$/),
    ])
    expect(await history()).toHaveLength(CHANGES)
    const { exitCode, stdout } = await prune('--before', '0s', '--yes')
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^Deleted .*; 0 entries are left\.\n$/)])
    expect(await history()).toEqual([])
    expect(await quantities()).toEqual([CHANGES, 7])
  })

  test.each([
    ['y\n', 0, 1],
    ['n\n', 1, CHANGES],
  ])('on a terminal it asks, and follows the answer %j', async (answer, code, left) => {
    const { exitCode, shown } = await petstoreInTerminal(
      ['history', 'prune', '--keep', '1', '--database-url', database.url],
      '[y/N]',
      (program) => program.type(answer),
    )
    expect(shown).toContain(code === 0 ? '1 entry is left' : 'nothing was changed')
    expect([exitCode, (await history()).length]).toEqual([code, left])
  })

  test('shows on a terminal that it is counting entries', async () => {
    const { shown } = await petstoreInTerminal(
      ['history', 'prune', '--keep', '10', '--dry-run'],
      undefined,
      undefined,
      { env: env() },
    )
    expect(shown).toMatch(/counting +0 entries.*Would delete/s)
  })

  test('while the service runs: updates continue, and followers of pruned changes list again', async () => {
    const key = await createKey()
    const service = await serve([], { cwd, env: env() })
    running = service
    const set = async (quantity: number) => {
      const answer = await service.call('/inventory/2', key, {
        method: 'PATCH',
        body: `{"quantity": ${quantity}}`,
      })
      expect(answer.status).toBe(200)
    }
    const events = `${service.address}/v1/inventory/events`
    const follower = await EventReader.open(events, key)
    await follower.until(() => follower.lastId !== undefined)
    const from = follower.lastId ?? ''
    await set(100)
    let quantity = 100
    let isOver = false
    const updating = (async () => {
      while (!isOver) await set(++quantity)
    })()
    const { exitCode } = await prune('--keep', '0', '--yes')
    isOver = true
    await updating
    expect(exitCode).toBe(0)
    await prune('--keep', '0', '--yes')
    await set(++quantity)
    // A follower that was behind must list again, like those who come later.
    await follower.until(() => {
      const last = follower.events.at(-1)
      return last?.name === 'relist' || last?.data.includes(`"after":${quantity},`) === true
    })
    follower.close()

    const late = await EventReader.open(events, key, { 'Last-Event-ID': from })
    await late.until(() => late.events.length > 0)
    expect(late.events[0]?.name).toBe('relist')
    late.close()
    const items = (await (await service.call('/inventory', key)).json()) as { quantity: number }[]
    expect(items.map((item) => item.quantity)).toEqual([CHANGES, quantity])
  })

  test('after deleting all history by hand under a running service, every quantity stays, and check passes', async () => {
    const key = await createKey()
    const start = async () => {
      running = await serve([], { cwd, env: env() })
      return running
    }
    const shownBy = async ({ call }: Awaited<ReturnType<typeof serve>>) => {
      const items = (await (await call('/inventory', key)).json()) as { quantity: number }[]
      return items.map(({ quantity }) => quantity)
    }
    const service = await start()
    for (const quantity of [41, 42, 43]) {
      for (const petId of [1, 2]) {
        await service.call(`/inventory/${petId}`, key, { method: 'PATCH', body: `{"quantity": ${quantity}}` })
      }
    }
    await database.run('DELETE FROM log')
    expect(await shownBy(service)).toEqual([43, 43])
    await service.stop()
    const check = await petstore(['check'], { cwd, env: env() })
    expect([check.exitCode, check.stdout]).toEqual([0, expect.stringContaining('the database is intact')])
    expect(await shownBy(await start())).toEqual([43, 43])
    expect(await history()).toEqual([])
  })
})

test.each([
  [[], 'give either --before or --keep'],
  [['--keep', '1', '--before', '1d'], 'give either --before or --keep'],
  [['--keep', '-1'], '--keep must be a whole number of 0 or more, got "-1"'],
  [['--keep', '1.5'], '--keep must be a whole number of 0 or more'],
  [['--before', 'soon'], '--before must be like 90d, 12h or 2027-01-31, got "soon"'],
  [['--before', '2025-02-29'], '--before must be like 90d, 12h or 2027-01-31, got "2025-02-29"'],
  [['--before', '2127-01-31'], '--before must be in the past'],
  [['--keep', '1'], 'there is no terminal to ask for confirmation; --yes deletes the entries without asking'],
])('petstore history prune %j is wrong usage: one line and exit code 2', async (args, message) => {
  const { exitCode, stdout, stderr } = await petstore(['history', 'prune', ...args])
  expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { withoutPassword } from '../../src/store/opening.ts'
import type { Store } from '../../src/store/store.ts'
import { change } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import type { TestDatabase } from '../support/postgres-databases.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createTestDatabase } from '../support/test-database.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { runCommand } from './run-command.ts'

setDefaultTimeout(120_000)

/** Two commits of a pruning. */
const CHANGES = 1_500

/** Counts the quantity of pet 1 up, a minute ago. */
async function addChanges(store: Store): Promise<void> {
  for (let made = 0; made < CHANGES; made += 500) {
    await store.changeStock(
      Array.from({ length: 500 }, (_, index) => change(1n, made + index + 1, { at: Date.now() - 60_000 })),
    )
  }
}

interface PrunableShop {
  readonly database: TestDatabase
  readonly store: Store
  prune(...args: string[]): ReturnType<typeof runCommand>
  /** The quantities of pet 1 in its history. */
  history(): Promise<number[]>
  close(): Promise<void>
}

async function openPrunableShop(): Promise<PrunableShop> {
  const cwd = temporaryFolder()
  const database = await createTestDatabase(cwd, false)
  const store = await openStore(database.url, { tables: 'migrate' })
  await addPets(store, [
    { id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 0 },
    { id: 2n, name: 'Rex', categoryId: 1n, status: 'sold', quantity: 7 },
  ])
  await addChanges(store)
  return {
    database,
    store,
    prune: (...args) =>
      runCommand(['history', 'prune', ...args], { cwd, env: { DATABASE_URL: database.url } }),
    history: async () => (await historyOf(store, 1n)).map(({ after }) => after),
    close: async () => {
      await store.close()
      await database.drop()
    },
  }
}

describe('petstore history prune', () => {
  let shop: PrunableShop
  beforeEach(async () => {
    shop = await openPrunableShop()
  })
  afterEach(() => shop.close())

  const quantities = async () => (await stockOf(shop.store)).map(({ quantity }) => quantity)

  test('removes all but the newest, and no quantity changes', async () => {
    const before = await quantities()
    const dryRun = await shop.prune('--keep', '10', '--dry-run')
    const [, prunable = '', total = ''] =
      /^Would delete ([\d,]+) entries .+, out of ([\d,]+)\. Nothing was changed\.\n$/.exec(dryRun.stdout) ??
      []
    const count = (text: string) => Number(text.replaceAll(',', ''))
    expect([dryRun.exitCode, count(prunable)]).toEqual([0, count(total) - 10])
    expect(await shop.history()).toHaveLength(CHANGES)

    const name = withoutPassword(shop.database.url).replace(/^sqlite:/, '')
    expect(await shop.prune('--keep', '10', '--yes')).toEqual({
      exitCode: 0,
      stdout: `Deleted ${prunable} entries from ${name}; 10 entries are left.\n`,
      stderr: '',
    })
    expect(await shop.history()).toEqual(Array.from({ length: 10 }, (_, index) => CHANGES - 9 + index))
    expect(await quantities()).toEqual(before)
    expect(await shop.store.findDamage()).toEqual([])
  })

  test('removes changes older than a duration or a time, and says if there are none', async () => {
    const creation = await shop.prune('--before', '30d', '--yes')
    expect([creation.exitCode, creation.stdout]).toEqual([
      0,
      expect.stringMatching(/^Deleted .*; [\d,]+ entries are left\.\n$/),
    ])
    const none = await shop.prune('--before', '30d', '--yes')
    expect([none.exitCode, none.stdout]).toEqual([
      0,
      expect.stringMatching(/^There are no entries before .*; the history has [\d,]+ entries\.\n$/),
    ])
    expect(await shop.history()).toHaveLength(CHANGES)
    const { exitCode, stdout } = await shop.prune('--before', '0s', '--yes')
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^Deleted .*; 0 entries are left\.\n$/)])
    expect(await shop.history()).toEqual([])
    expect(await quantities()).toEqual([CHANGES, 7])
  })
})

import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSecret, type Limits, PERMISSIONS, toStoredSecret } from '../../src/core/keys/api-key.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { fromCursor } from '../../src/core/stock/log-cursor.ts'
import { WEBHOOK_KINDS } from '../../src/core/webhooks/webhook.ts'
import { startService } from '../../src/service/compose.ts'
import { readConfig } from '../../src/service/config.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { logTo } from '../support/log-to.ts'
import { memoryFolder } from '../support/memory-folder.ts'
import { operatorOf } from '../support/operator.ts'
import { COUNTED_PETS, SCARCE_PETS } from './callers.ts'
import { FEW_REQUESTS } from './limited-caller.ts'

/** The time at which every simulation begins. */
export const START = Date.UTC(2026, 10, 15, 12)
const FIXED_CATEGORY = 1
const FIXED_THRESHOLD = 3
const MOVED_CATEGORY = 2
const ROOMY = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

export const RECEIVERS = [
  { id: 1n, url: 'https://receiver-of-all.example/', kinds: WEBHOOK_KINDS },
  { id: 2n, url: 'https://receiver-of-changes.example/', kinds: ['stock.changed'] },
] as const

/** A database that every simulation begins with. */
export interface Fixture {
  readonly databaseFile: string
  /** The secret of a key without practical limits. */
  readonly secret: string
  /** The secret of a key that may send few requests. */
  readonly limitedSecret: string
  /** The cursor before the first event. */
  readonly firstCursor: string
  /** The number of events in the database. */
  readonly firstEvents: number
  remove(): void
}

export async function createFixture(): Promise<Fixture> {
  const folder = mkdtempSync(join(memoryFolder(), 'petstore-sim-fixture-'))
  const databaseFile = join(folder, 'petstore.db')
  await openSqliteStore(databaseFile).close()
  // The same in every process, so that all answers of a seed are the same.
  const database = new Database(databaseFile)
  database.run("UPDATE log_state SET identity = '0123456789abcdef'")
  database.close()
  const store = openSqliteStore(databaseFile, { clock: () => START })
  const firstCursor = await store.latestEventCursor()
  for (const receiver of RECEIVERS) await addWebhook(store, receiver)
  await store.changeStock(firstCommands())
  const secret = await addKey(store, 'key_shop', ROOMY)
  const limitedSecret = await addKey(store, 'key_limited', FEW_REQUESTS)
  const position = fromCursor(await store.latestEventCursor())?.position ?? 0n
  // Reads the pages, which it caches, so that no simulation has to wait for a real file.
  const config = readConfig({ port: '0', metricsPort: 'off' }, {})
  await (await startService(config, store, { stopGraceMs: 0, logOutput: logTo(() => {}) })).stop()
  return {
    databaseFile,
    secret,
    limitedSecret,
    firstCursor,
    firstEvents: Number(position),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

async function addKey(store: Store, id: string, limits: Limits): Promise<string> {
  const secret = createSecret('production')
  const key = {
    id,
    name: 'Shop',
    plan: 'enterprise',
    limits,
    permissions: PERMISSIONS,
    createdAt: START,
  } as const
  await operatorOf(store).addKey(key, toStoredSecret(secret, START), { at: START, actor: 'test' })
  return secret
}

function firstCommands(): Command[] {
  const by = { keyId: 'key_first', at: START }
  const categories = [
    { id: BigInt(FIXED_CATEGORY), name: 'Fixed', lowStockAt: FIXED_THRESHOLD },
    { id: BigInt(MOVED_CATEGORY), name: 'Moved' },
  ]
  const pets = [...COUNTED_PETS, ...SCARCE_PETS].map((id, index) => ({
    id: BigInt(id),
    name: `Pet${id}`,
    categoryId: BigInt(index % 2 === 0 ? FIXED_CATEGORY : MOVED_CATEGORY),
    status: 'available' as const,
    quantity: SCARCE_PETS.includes(id) ? 6 : 0,
  }))
  return [
    ...categories.map((category): Command => ({ type: 'create_category', ...by, category })),
    ...pets.map((pet): Command => ({ type: 'create_pet', ...by, pet })),
  ]
}

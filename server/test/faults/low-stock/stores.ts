import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { createDatabase } from '../../support/postgres-databases.ts'
import { killAmongThresholds, killOneOfTwoAmongThresholds } from './kills.ts'
import { type LowStockRun, lowStockTask } from './low-stock.ts'

type LowStockStores = Pick<LowStockRun, 'open'> & { readonly discard: () => Promise<void> }

export async function onSqlite(): Promise<LowStockStores> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-low-stock-'))
  return {
    open: async (clock) => openSqliteStore(join(folder, 'petstore.db'), { clock }),
    discard: async () => rmSync(folder, { recursive: true }),
  }
}

export async function onPostgres(): Promise<LowStockStores> {
  const { url, drop } = await createDatabase()
  return { open: (clock) => openPostgresStore(url, { ...DEFAULT_POSTGRES_SETTINGS, clock }), discard: drop }
}

export const lowStockSqliteTask = lowStockTask('low-stock', 'On SQLite', onSqlite, killAmongThresholds)
export const lowStockPostgresTask = lowStockTask(
  'low-stock-postgres',
  'On PostgreSQL',
  onPostgres,
  killOneOfTwoAmongThresholds,
)

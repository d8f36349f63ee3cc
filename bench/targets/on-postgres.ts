import { join } from 'node:path'
import { type Dataset, PEER_SECRETS, writePeerPostgres } from '../dataset.ts'
import { createPostgresDatabase, vacuum } from '../postgres.ts'
import { freePort, startServer } from '../processes.ts'
import type { RunningTarget, SharedTarget } from '../target.ts'
import { ours, prepareOurs, serveOurs } from './ours.ts'

/**
 * As many for each instance of ours, by default. Of 10, which is Bun.SQL's own as well, and 20 the one with which
 * PostgreSQL spent less processor time on each request.
 */
const PEER_POOL_SIZE = '10'

/** What `petstore serve` starts with the address of a PostgreSQL. */
export const oursOnPostgres: SharedTarget = {
  ...ours,
  name: 'ours-postgres',
  section: 'postgres',
  stockTable: 'stock',
  prepare: prepareOurs,
  startInstance: serveOurs,
  start: (dataset) => startAlone(oursOnPostgres, `ours_${dataset.pets}`, dataset),
}

export const honoOnPostgres: SharedTarget = {
  name: 'hono-postgres',
  label: 'Hono on Bun, Bun.SQL',
  kind: 'peer',
  section: 'postgres',
  listPath: '/v1/inventory',
  listEquals: 'bytes',
  takesUpdates: true,
  takesAdjustments: false,
  takesOrders: true,
  takesSearches: false,
  checksKeys: true,
  stockTable: 'inventory',
  prepare: async (dataset, database) => {
    await writePeerPostgres(dataset, database)
    return PEER_SECRETS
  },
  startInstance: async (name, database, where) => {
    const port = await freePort()
    const program = join(import.meta.dir, '..', 'peers', 'hono-postgres.ts')
    const command = [process.execPath, program, database, String(port), PEER_POOL_SIZE]
    return startServer(name, command, {
      ...where,
      port,
      readyPath: '/',
      environment: { NODE_ENV: 'production' },
    })
  },
  start: (dataset) => startAlone(honoOnPostgres, `hono_${dataset.pets}`, dataset),
}

export const SHARED_TARGETS: readonly SharedTarget[] = [oursOnPostgres, honoOnPostgres]

async function startAlone(target: SharedTarget, name: string, dataset: Dataset): Promise<RunningTarget> {
  const database = await createPostgresDatabase(name)
  const secrets = await target.prepare(dataset, database)
  await vacuum(database)
  return { ...(await target.startInstance(target.name, database, { folder: dataset.folder })), secrets }
}

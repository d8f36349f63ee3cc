import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { type Dataset, PEER_SECRETS, writePeerPostgres } from '../dataset.ts'
import { createPostgresDatabase, vacuum } from '../postgres.ts'
import { startServer } from '../processes.ts'
import type { RunningTarget, SharedTarget } from '../target.ts'
import { ours, prepareOurs, serveOurs } from './ours.ts'
import { PEER_ENVIRONMENT } from './peers.ts'

/** The default of ours and of Bun.SQL. With 20, PostgreSQL used more processor time per request of the peer. */
const PEER_POOL_SIZE = '10'

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
  loads: ['list', 'updates', 'orders', 'unknown-key'],
  stockTable: 'inventory',
  prepare: async (dataset, database) => {
    await writePeerPostgres(dataset, database)
    return PEER_SECRETS
  },
  startInstance: async (logName, database, place) => {
    const port = freePort()
    const program = join(import.meta.dir, '..', 'peers', 'hono-postgres.ts')
    const command = [process.execPath, program, database, String(port), PEER_POOL_SIZE]
    return startServer(logName, command, { ...place, port, readyPath: '/', environment: PEER_ENVIRONMENT })
  },
  start: (dataset) => startAlone(honoOnPostgres, `hono_${dataset.pets}`, dataset),
}

async function startAlone(target: SharedTarget, name: string, dataset: Dataset): Promise<RunningTarget> {
  const database = await createPostgresDatabase(name)
  const secrets = await target.prepare(dataset, database)
  await vacuum(database)
  return { ...(await target.startInstance(target.name, database, { folder: dataset.folder })), secrets }
}

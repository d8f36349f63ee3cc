import { join } from 'node:path'
import { PEER_SECRETS, writePeerPostgres } from '../dataset.ts'
import { createPostgresDatabase, vacuum } from '../postgres.ts'
import { freePort, startServer } from '../processes.ts'
import type { Target } from '../target.ts'
import { ours, startOurs } from './ours.ts'

/** Of 10, which is Bun.SQL's own, and 20 the one with which PostgreSQL spent less processor time on each request. */
const PEER_POOL_SIZE = '10'

/** What `petstore serve` starts with the address of a PostgreSQL. */
export const oursOnPostgres: Target = {
  ...ours,
  name: 'ours-postgres',
  section: 'postgres',
  start: async (dataset) => {
    const database = await createPostgresDatabase(`ours_${dataset.pets}`)
    const running = await startOurs(dataset, database)
    await vacuum(database)
    return running
  },
}

export const honoOnPostgres: Target = {
  name: 'hono-postgres',
  label: 'Hono on Bun, Bun.SQL',
  kind: 'peer',
  section: 'postgres',
  listPath: '/v1/inventory',
  listEquals: 'bytes',
  takesUpdates: true,
  checksKeys: true,
  start: async (dataset) => {
    const database = await createPostgresDatabase(`hono_${dataset.pets}`)
    await writePeerPostgres(dataset, database)
    await vacuum(database)
    const port = await freePort()
    const program = join(import.meta.dir, '..', 'peers', 'hono-postgres.ts')
    const command = [process.execPath, program, database, String(port), PEER_POOL_SIZE]
    const place = { port, folder: dataset.folder, readyPath: '/', environment: { NODE_ENV: 'production' } }
    return { ...(await startServer('hono-postgres', command, place)), secrets: PEER_SECRETS }
  },
}

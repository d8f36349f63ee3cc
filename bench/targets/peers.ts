import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { PEER_SECRETS, writePeerDatabase, writePeerPostgres } from '../dataset.ts'
import { createPostgresDatabase, vacuum } from '../postgres.ts'
import { startInstances, startServer } from '../processes.ts'
import type { Target } from '../target.ts'

const BENCH = join(import.meta.dir, '..')
const ENVIRONMENT = { NODE_ENV: 'production' }
/** The default of ours and of Bun.SQL. With 20, PostgreSQL used more processor time per request of the peer. */
const POOL_SIZE = '10'

export const hono = peer('hono', 'Hono', [process.execPath, join(BENCH, 'peers', 'hono.ts')])
export const elysia = peer('elysia', 'Elysia', [process.execPath, join(BENCH, 'peers', 'elysia.ts')])
export const fastify = peer('fastify', 'Fastify', ['node', join(BENCH, 'dist', 'fastify.js')])

export const honoOnPostgres: Target = {
  name: 'hono-postgres',
  label: 'Hono',
  kind: 'peer',
  database: 'postgres',
  loads: ['list', 'updates', 'orders', 'baskets'],
  start: async (dataset, store) => {
    const database = await createPostgresDatabase('hono', store)
    await writePeerPostgres(dataset, database)
    await vacuum(database)
    const program = join(BENCH, 'peers', 'hono-postgres.ts')
    const start = (name: string) => {
      const port = freePort()
      const command = [process.execPath, program, database, String(port), POOL_SIZE]
      const place = { folder: dataset.folder, cores: store.cores, environment: ENVIRONMENT }
      return startServer(name, command, { ...place, port, readyPath: '/' })
    }
    return { instances: await startInstances('hono', store.instances, start), secrets: PEER_SECRETS }
  },
}

/** Node 20 cannot run TypeScript. */
export async function buildNodePeers(): Promise<void> {
  await Bun.build({
    entrypoints: [join(BENCH, 'peers', 'fastify.ts')],
    outdir: join(BENCH, 'dist'),
    target: 'node',
    packages: 'external',
  })
}

function peer(name: string, label: string, command: readonly string[]): Target {
  return {
    name,
    label,
    kind: 'peer',
    database: 'sqlite',
    loads: ['list', 'updates', 'adjustments', 'orders', 'baskets', 'unknown-key'],
    start: async (dataset, { cores }) => {
      const port = freePort()
      const database = writePeerDatabase(dataset, name)
      const place = { folder: dataset.folder, cores, environment: ENVIRONMENT }
      const server = await startServer(name, [...command, database, String(port)], {
        ...place,
        port,
        readyPath: '/',
      })
      return { instances: [server], secrets: PEER_SECRETS }
    },
  }
}

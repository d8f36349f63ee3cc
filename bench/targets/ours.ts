import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import type { StoreOptions } from '../cases.ts'
import { type Dataset, UNKNOWN_SECRET, writeCsv } from '../dataset.ts'
import { createPostgresDatabase, vacuum } from '../postgres.ts'
import { run, type ServerProcess, startInstances, startServer } from '../processes.ts'
import type { Secrets, Target } from '../target.ts'

const PROJECT = join(import.meta.dir, '..', '..')
const PETSTORE = join(PROJECT, 'node_modules', '.bin', 'petstore')
const UNLIMITED = '1000000000'

/** With everything on: keys, limits, history, metrics, logging. */
export const ours: Target = {
  name: 'ours',
  label: 'Petstore Inventory',
  kind: 'ours',
  database: 'sqlite',
  loads: ['list', 'updates', 'adjustments', 'orders', 'baskets', 'unknown-key'],
  start: async (dataset, store) => {
    const database = `sqlite:${join(dataset.folder, 'ours.db')}`
    const secrets = await fill(database, dataset)
    return { instances: [await serve('ours', database, dataset, store)], secrets }
  },
}

export const oursOnPostgres: Target = {
  ...ours,
  name: 'ours-postgres',
  database: 'postgres',
  start: async (dataset, store) => {
    const database = await createPostgresDatabase('ours', store)
    const secrets = await fill(database, dataset)
    await vacuum(database)
    const start = (name: string) => serve(name, database, dataset, store)
    return { instances: await startInstances('ours', store.instances, start), secrets }
  },
}

async function fill(database: string, dataset: Dataset): Promise<Secrets> {
  await run([PETSTORE, 'migrate', '--database-url', database], PROJECT)
  await run([PETSTORE, 'import', 'pets', await writeCsv(dataset), '--database-url', database], PROJECT)
  const limits = ['--plan', 'enterprise', '--per-minute', UNLIMITED, '--per-day', UNLIMITED]
  const createKey = [PETSTORE, 'keys', 'create', '--name', 'bench', ...limits, '--database-url', database]
  return { unlimited: (await run(createKey, PROJECT)).trim(), unknown: UNKNOWN_SECRET }
}

function serve(
  name: string,
  database: string,
  { folder }: Dataset,
  { cores }: StoreOptions,
): Promise<ServerProcess> {
  const port = freePort()
  const command = [
    ...[PETSTORE, 'serve', '--database-url', database, '--port', String(port)],
    // Each instance needs its own port for metrics.
    ...['--metrics-port', '0'],
    // A flood of unknown keys comes from many addresses: each gets 429 after 300 requests.
    ...['--trust-proxy', 'on'],
  ]
  return startServer(name, command, { port, folder, cores, readyPath: '/readyz' })
}

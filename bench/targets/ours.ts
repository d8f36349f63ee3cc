import { join } from 'node:path'
import { type Dataset, writeCsv } from '../dataset.ts'
import { freePort, run, type ServerProcess, startServer } from '../processes.ts'
import type { InstancePlace, Secrets, Target } from '../target.ts'

const PROJECT = join(import.meta.dir, '..', '..')
export const PETSTORE = join(PROJECT, 'node_modules', '.bin', 'petstore')
const UNLIMITED = '1000000000'

/** Everything on, as it comes: keys, limits, history, metrics, logging. */
export const ours: Target = {
  name: 'ours',
  label: 'Petstore Inventory',
  kind: 'ours',
  section: 'embedded',
  listPath: '/v1/inventory',
  listEquals: 'bytes',
  takesUpdates: true,
  takesAdjustments: true,
  takesOrders: true,
  takesSearches: true,
  checksKeys: true,
  start: async (dataset) => {
    const database = `sqlite:${join(dataset.folder, 'ours.db')}`
    const secrets = await prepareOurs(dataset, database)
    return { ...(await serveOurs('ours', database, { folder: dataset.folder })), secrets }
  },
}

/** Fills an empty database, wherever that is. */
export async function prepareOurs(dataset: Dataset, database: string): Promise<Secrets> {
  await run([PETSTORE, 'migrate', '--database-url', database], PROJECT)
  await run([PETSTORE, 'import', await writeCsv(dataset), '--database-url', database], PROJECT)
  const limits = ['--per-minute', UNLIMITED, '--per-day', UNLIMITED]
  return {
    unlimited: await createKey(database, ['--plan', 'enterprise', ...limits]),
    free: await createKey(database, ['--plan', 'free']),
  }
}

/** An instance. `name` is for its log. */
export async function serveOurs(
  name: string,
  database: string,
  where: InstancePlace,
): Promise<ServerProcess> {
  const port = await freePort()
  return startServer(
    name,
    [
      ...(where.through ?? []),
      ...[PETSTORE, 'serve', '--database-url', database, '--port', String(port)],
      // Several of ours are started in one run: each takes a port of its own for its metrics.
      ...['--metrics-port', '0'],
      // Else a flood of unknown keys would turn into 429 after 300 requests.
      ...['--anonymous-per-minute', UNLIMITED],
    ],
    { ...where, port, readyPath: '/readyz' },
  )
}

/** A key of the right form that no target knows, because it belongs to another database. */
export async function createUnknownKey(folder: string): Promise<string> {
  const database = `sqlite:${join(folder, 'elsewhere.db')}`
  await run([PETSTORE, 'migrate', '--database-url', database], PROJECT)
  return createKey(database, ['--plan', 'free'])
}

async function createKey(database: string, plan: readonly string[]): Promise<string> {
  const output = await run(
    [PETSTORE, 'keys', 'create', '--name', 'bench', ...plan, '--database-url', database],
    PROJECT,
  )
  return output.trim()
}

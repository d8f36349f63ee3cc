import { join } from 'node:path'
import { type Dataset, writeCsv } from '../dataset.ts'
import { freePort, run, startServer } from '../processes.ts'
import type { RunningTarget, Target } from '../target.ts'

const PROJECT = join(import.meta.dir, '..', '..')
const PETSTORE = join(PROJECT, 'node_modules', '.bin', 'petstore')
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
  checksKeys: true,
  start: (dataset) => startOurs(dataset, `sqlite:${join(dataset.folder, 'ours.db')}`),
}

/** On an empty database, wherever that is. */
export async function startOurs(dataset: Dataset, database: string): Promise<RunningTarget> {
  await run([PETSTORE, 'import', await writeCsv(dataset), '--database-url', database], PROJECT)
  const limits = ['--per-minute', UNLIMITED, '--per-day', UNLIMITED]
  const secrets = {
    unlimited: await createKey(database, ['--plan', 'enterprise', ...limits]),
    free: await createKey(database, ['--plan', 'free']),
  }
  const port = await freePort()
  const server = await startServer(
    'ours',
    [
      ...[PETSTORE, 'serve', '--database-url', database, '--port', String(port)],
      // Several of ours are started in one run: each takes a port of its own for its metrics.
      ...['--metrics-port', '0'],
      // Else a flood of unknown keys would turn into 429 after 300 requests.
      ...['--anonymous-per-minute', UNLIMITED],
    ],
    { port, folder: dataset.folder, readyPath: '/readyz' },
  )
  return { ...server, secrets }
}

/** A key of the right form that no target knows, because it belongs to another database. */
export function createUnknownKey(folder: string): Promise<string> {
  return createKey(`sqlite:${join(folder, 'elsewhere.db')}`, ['--plan', 'free'])
}

async function createKey(database: string, plan: readonly string[]): Promise<string> {
  const output = await run(
    [PETSTORE, 'keys', 'create', '--name', 'bench', ...plan, '--database-url', database],
    PROJECT,
  )
  return output.trim()
}

import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { type Dataset, UNKNOWN_SECRET, writeCsv } from '../dataset.ts'
import { run, type ServerProcess, startServer } from '../processes.ts'
import type { InstancePlace, Secrets, Target } from '../target.ts'

const PROJECT = join(import.meta.dir, '..', '..')
const PETSTORE = join(PROJECT, 'node_modules', '.bin', 'petstore')
const UNLIMITED = '1000000000'

/** With everything on: keys, limits, history, metrics, logging. */
export const ours: Target = {
  name: 'ours',
  label: 'Petstore Inventory',
  kind: 'ours',
  section: 'embedded',
  loads: ['list', 'updates', 'adjustments', 'orders', 'search', 'unknown-key'],
  start: async (dataset) => {
    const database = `sqlite:${join(dataset.folder, 'ours.db')}`
    const secrets = await prepareOurs(dataset, database)
    return { ...(await serveOurs('ours', database, { folder: dataset.folder })), secrets }
  },
}

/** Fills an empty database. */
export async function prepareOurs(dataset: Dataset, database: string): Promise<Secrets> {
  await run([PETSTORE, 'migrate', '--database-url', database], PROJECT)
  await run([PETSTORE, 'import', await writeCsv(dataset), '--database-url', database], PROJECT)
  const limits = ['--plan', 'enterprise', '--per-minute', UNLIMITED, '--per-day', UNLIMITED]
  const createKey = [PETSTORE, 'keys', 'create', '--name', 'bench', ...limits, '--database-url', database]
  return { unlimited: (await run(createKey, PROJECT)).trim(), unknown: UNKNOWN_SECRET }
}

export async function serveOurs(
  logName: string,
  database: string,
  place: InstancePlace,
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const port = freePort()
  return startServer(
    logName,
    [
      ...(place.launcher ?? []),
      ...[PETSTORE, 'serve', '--database-url', database, '--port', String(port)],
      // Each instance needs its own port for metrics.
      ...['--metrics-port', '0'],
      // Otherwise a flood of unknown keys would be answered with 429 after 300 requests.
      ...['--anonymous-per-minute', UNLIMITED],
      ...flags,
    ],
    { ...place, port, readyPath: '/readyz' },
  )
}

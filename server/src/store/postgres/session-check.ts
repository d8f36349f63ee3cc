import type { SqlDatabase } from '../sql.ts'
import { ReadOnly } from './failures.ts'
import type { Session } from './session-pool.ts'

/**
 * Throws where the server takes no changes: what a standby shows may be late, and a read here never is. No server becomes a
 * standby under an open connection, so it is enough to ask each once, as far as standbys go.
 */
export async function checkTakesWrites(session: Session): Promise<void> {
  const [row] = await session<{ isReadOnly: boolean }[]>`
    SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`
  if (row?.isReadOnly !== false) throw new ReadOnly()
}

/** What the server does not have as it was asked for with each connection: something on the way has dropped it. */
export async function findDroppedSettings(
  database: Pick<SqlDatabase, 'rows'>,
  wanted: Readonly<Record<string, string | number>>,
): Promise<string[]> {
  const found = await database.rows<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings',
  )
  const inForce = new Map(found.map(({ name, setting }) => [name, setting]))
  const dropped = Object.entries(wanted).filter(([name, value]) => inForce.get(name) !== String(value))
  if (dropped.length === 0) return []
  const list = dropped.map(([name, value]) => `${name} is ${inForce.get(name)} instead of ${value}`)
  return [
    `settings of the connections to PostgreSQL are not in force: ${list.join(', ')}. What is in between, such as PgBouncer, has dropped them: set them for the role (ALTER ROLE … SET), as docs/scaling.md says under Connections`,
  ]
}

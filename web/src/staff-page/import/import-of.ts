import type { Session } from '../session/session.ts'
import { ImportRun } from './import-run.ts'

const runs = new WeakMap<Session, ImportRun>()

/** The import of a session. It continues while the user looks at another view. */
export function importOf(session: Session): ImportRun {
  const known = runs.get(session)
  if (known !== undefined) return known
  const { client, saving, categories } = session
  const run = new ImportRun({ client, saving, categories })
  runs.set(session, run)
  return run
}

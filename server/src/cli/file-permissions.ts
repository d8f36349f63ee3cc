import { statSync } from 'node:fs'

/** What stands in a SQLite database also stands, in parts, in the files beside it. */
const BESIDE = ['', '-wal', '-shm', '-journal']

/** Which files of a SQLite database others than their owner can use, and what to do; `undefined` where all is well. */
export function exposureText(databasePath: string): { text: string; advice: string } | undefined {
  const exposed = BESIDE.map((ending) => databasePath + ending)
    .map((path) => ({ path, mode: (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
  if (exposed.length === 0) return undefined
  const named = exposed.map(({ path, mode }) => `${path} (mode ${mode.toString(8).padStart(3, '0')})`)
  return {
    text: `others can read the database: ${named.join(', ')}`,
    advice: `chmod 600 ${exposed.map(({ path }) => path).join(' ')}`,
  }
}

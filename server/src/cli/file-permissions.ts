import { statSync } from 'node:fs'

/** What stands in a SQLite database also stands, in parts, in the files beside it. */
const BESIDE = ['', '-wal', '-shm', '-journal']

interface ExposedFile {
  readonly path: string
  /** In octal, as chmod takes it. */
  readonly mode: string
}

/** Those files of a SQLite database that others than their owner can read or write. */
export function exposedFiles(databasePath: string): ExposedFile[] {
  return BESIDE.map((ending) => databasePath + ending)
    .map((path) => ({ path, permissions: (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777 }))
    .filter(({ permissions }) => (permissions & 0o077) !== 0)
    .map(({ path, permissions }) => ({ path, mode: permissions.toString(8).padStart(3, '0') }))
}

/** One line that says which files, and what to do; `undefined` where all is well. */
export function exposureText(databasePath: string): { text: string; advice: string } | undefined {
  const exposed = exposedFiles(databasePath)
  if (exposed.length === 0) return undefined
  const named = exposed.map(({ path, mode }) => `${path} (mode ${mode})`).join(', ')
  return {
    text: `others can read the database: ${named}`,
    advice: `chmod 600 ${exposed.map(({ path }) => path).join(' ')}`,
  }
}

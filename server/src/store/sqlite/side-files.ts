import { chmodSync, statSync } from 'node:fs'

const RIGHTS = 0o777

/**
 * SQLite gives the files beside a database the rights that it has when they are made. If those were others, and the
 * process that made them was killed, nobody could write to them, however the rights of the database were mended.
 */
export function alignSideFiles(path: string): void {
  const rights = statSync(path).mode & RIGHTS
  for (const side of [`${path}-wal`, `${path}-shm`]) {
    // Another process that closes the database takes them away.
    const mode = statSync(side, { throwIfNoEntry: false })?.mode
    if (mode === undefined || (mode & RIGHTS) === rights) continue
    try {
      chmodSync(side, rights)
    } catch {
      // They are somebody else's: SQLite will say whether they can be used.
    }
  }
}

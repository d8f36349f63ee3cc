import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { WritePause } from '../../core/transfer/transfer-store.ts'
import { SECOND } from '../../core/values/clock.ts'
import { isServed, realPathOf } from './serve-lock.ts'

/** An import that was killed leaves its announcement behind. It is ignored this long after the announced end. */
const STALE_AFTER_MS = 60 * SECOND

/**
 * The announcement is a file beside the database that holds the expected end of the import. It cannot be a row: others
 * do not see what the import writes before it commits.
 */
const fileOf = (path: string) => `${realPathOf(path)}-importing`

export function writePause(path: string): WritePause {
  return {
    isServed: () => isServed(path),
    announce: (seconds) => {
      const file = fileOf(path)
      // Renamed into place, so that the service never reads half of it.
      writeFileSync(`${file}.new`, JSON.stringify({ endsAt: Date.now() + seconds * SECOND }))
      renameSync(`${file}.new`, file)
    },
    withdraw: () => rmSync(fileOf(path), { force: true }),
  }
}

/** How many seconds the announced import still takes, at least 1; undefined if no import is announced. */
export function announcedSeconds(path: string): number | undefined {
  try {
    const { endsAt }: { endsAt?: unknown } = JSON.parse(readFileSync(fileOf(path), 'utf8'))
    if (typeof endsAt !== 'number') return undefined
    const leftMs = endsAt - Date.now()
    return leftMs < -STALE_AFTER_MS ? undefined : Math.max(1, Math.ceil(leftMs / SECOND))
  } catch {
    return undefined
  }
}

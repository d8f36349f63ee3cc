import { dirname } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'
import { freeBytes } from './failures.ts'

const CHECKED_EVERY_MS = 100
const MEBIBYTE = 1024 * 1024

/**
 * Returns a check that throws while the disk of the file has less free space than `minBytes`. A disk that is completely full
 * leaves no room for a checkpoint, a backup or the log of the service.
 */
export function freeSpaceCheck(path: string, minBytes: number): () => void {
  const folder = dirname(path)
  let checkedAt = Number.NEGATIVE_INFINITY
  let free = Number.POSITIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - checkedAt >= CHECKED_EVERY_MS) {
      free = freeBytes(folder)
      checkedAt = now
    }
    if (free >= minBytes) return
    throw new ServiceError(
      'service_unavailable',
      `the disk of the database has less than ${minBytes / MEBIBYTE} MiB free, so nothing can be changed; reads go on`,
      {
        cause: new Error(
          `the disk is nearly full: free some space in ${folder} (${Math.floor(free / MEBIBYTE)} MiB free), or lower MIN_FREE_DISK_MEBIBYTES`,
        ),
      },
    )
  }
}

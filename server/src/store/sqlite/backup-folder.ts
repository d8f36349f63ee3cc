import { promises } from 'node:fs'
import { join } from 'node:path'
import { lockForServing } from './database-files.ts'

const { open, readdir, rename, rm, stat } = promises

/**
 * The folder of a continuous backup. Logs that follow each other without a gap have consecutive numbers. A snapshot has the
 * number of the log that was in use while it was copied: that log and all later ones lead from it to any later commit. The name
 * of a complete file has its CRC-32. Only the last log of a run of the service is without.
 */
export interface BackupFolder {
  list(): Promise<string[]>
  /** Throws if another process writes to the folder. */
  lock(): void
  /** Writes and flushes bytes. Position 0 begins a new file. */
  write(name: string, bytes: Uint8Array, position: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(name: string): Promise<void>
  close(): void
}

const numberText = (number: number) => String(number).padStart(9, '0')
export const crcText = (crc: number) => crc.toString(16).padStart(8, '0')

export function logName(number: number, crc?: number): string {
  return `${numberText(number)}${crc === undefined ? '' : `-${crcText(crc)}`}.wal`
}

const PARTIAL_SNAPSHOT = '.db.partial'

export function partialSnapshotName(number: number): string {
  return `${numberText(number)}${PARTIAL_SNAPSHOT}`
}

/** `at`: the time at which the copy was complete. */
export function snapshotName(number: number, at: number, crc: number): string {
  return `${numberText(number)}-${new Date(at).toISOString().replaceAll(/[-:.]/g, '')}-${crcText(crc)}.db`
}

interface CopiedFile {
  readonly name: string
  readonly number: number
}

export interface CopiedLog extends CopiedFile {
  /** `undefined` if the log may still grow. */
  readonly crc: string | undefined
}

export interface Snapshot extends CopiedFile {
  readonly at: number
  readonly crc: string | undefined
}

const NAME = /^(\d{9})(?:-(\d{8}T\d{9}Z))?(?:-([0-9a-f]{8}))?\.(db|wal)$/
const COMPACT_TIME = /^(....)(..)(..)T(..)(..)(..)(...)Z$/

/** The complete snapshots and the logs, ascending. Ignores other files. */
export function parseNames(names: readonly string[]) {
  const files = names.toSorted().flatMap((name) => {
    const [, number, time, crc, type] = NAME.exec(name) ?? []
    return number === undefined ? [] : [{ name, number: Number(number), time, crc, type }]
  })
  const snapshots: readonly Snapshot[] = files.flatMap(({ time, ...file }) =>
    time === undefined
      ? []
      : [{ ...file, at: Date.parse(time.replace(COMPACT_TIME, '$1-$2-$3T$4:$5:$6.$7Z')) }],
  )
  const logs: readonly CopiedLog[] = files.filter(({ type }) => type === 'wal')
  return { snapshots, logs }
}

export function isPartialSnapshot(name: string): boolean {
  return name.endsWith(PARTIAL_SNAPSHOT)
}

/** Some commits are neither in the folder nor in the log any more: the copy continues with a new snapshot. */
export class BackupGap extends Error {
  override readonly name = 'BackupGap'
}

/** Never creates the folder: a missing folder on a share that is not mounted must not be taken for the backup. */
export function openBackupFolder(path: string): BackupFolder {
  let lock: { close(): void } | undefined
  const sync = async (name: string) => {
    const handle = await open(join(path, name), 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  return {
    list: () => readdir(path),
    lock: () => {
      lock ??= lockForServing(join(path, 'backup'), {
        text: `another process writes to ${path}`,
        advice: 'give each service a folder of its own',
      })
    },
    write: async (name, bytes, position) => {
      const file = join(path, name)
      // If the folder itself is missing, it may come back with its files.
      if (position > 0 && !(await readdir(path)).includes(name)) throw new BackupGap(`${file} is gone`)
      const handle = await open(file, position === 0 ? 'w' : 'r+', 0o600)
      try {
        if ((await handle.stat()).size < position) throw new BackupGap(`${file} has become shorter`)
        for (let written = 0; written < bytes.length; ) {
          const rest = bytes.length - written
          written += (await handle.write(bytes, written, rest, position + written)).bytesWritten
        }
        await handle.sync()
      } finally {
        await handle.close()
      }
      if (position === 0) await sync('.')
    },
    rename: async (from, to) => {
      // An earlier attempt may have failed after the rename.
      await rename(join(path, from), join(path, to)).catch(async (error: unknown) => {
        await stat(join(path, to)).catch(() => Promise.reject(error))
      })
      await sync('.')
    },
    remove: (name) => rm(join(path, name), { force: true }),
    close: () => lock?.close(),
  }
}

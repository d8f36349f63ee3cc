import { Database } from 'bun:sqlite'
import { closeSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpenRefused } from '../opening.ts'
import { type CopiedLog, crcText, parseNames, type Snapshot } from './backup-folder.ts'
import { copyFile, removeDatabase } from './database-files.ts'
import { frameBytesOf, HEADER_BYTES } from './write-ahead-log.ts'

const CHUNK_BYTES = 1024 * 1024

/** The newest change in the log of a restored database. */
export interface LastChange {
  readonly id: bigint
  readonly at: number
}

export interface Rebuilt {
  readonly lastChange: LastChange | undefined
  /** What the operator should know about the folder. */
  readonly notes: readonly string[]
}

/**
 * Rebuilds a database from the folder of a continuous backup: a snapshot, and then each log next to it as its write-ahead log,
 * which SQLite recovers. With `at`, the last commit is the last one whose changes were made until then.
 */
export function rebuildDatabase(folder: string, target: string, at: number | undefined): Rebuilt {
  const { snapshots, logs } = parseNames(readdirSync(folder))
  const candidates = snapshots.filter((snapshot) => snapshot.at <= (at ?? Number.POSITIVE_INFINITY))
  const notes: string[] = []
  for (const snapshot of candidates.toReversed()) {
    if (!copySnapshot(folder, snapshot, target)) {
      notes.push(`${snapshot.name} is damaged, so an earlier snapshot was used`)
      continue
    }
    const following = followingLogs(snapshot, logs)
    const isCut = applyLogs(folder, following, target, at)
    const lastNumber = following.at(-1)?.number ?? snapshot.number
    const unused = isCut ? undefined : logs.find(({ number }) => number > lastNumber)
    if (unused !== undefined) {
      notes.push(
        `the changes in ${unused.name} and later are not included: no suitable snapshot leads to them`,
      )
    }
    return { lastChange: readLastChange(target), notes }
  }
  const [oldest] = snapshots
  throw new OpenRefused(
    oldest === undefined
      ? `${folder} has no complete snapshot, so it is not the folder of a continuous backup`
      : `${folder} has no intact snapshot from before that time; the oldest one is from ${new Date(oldest.at).toISOString()}`,
  )
}

/** The first log may be missing, because nothing was written after the snapshot. */
export function followingLogs({ number }: Snapshot, logs: readonly CopiedLog[]): CopiedLog[] {
  const later = logs.filter((log) => log.number >= number)
  return later.filter((log, index) => log.number === number + index)
}

/** Returns false if the snapshot is damaged. */
export function copySnapshot(folder: string, { name, crc }: Snapshot, target: string): boolean {
  removeDatabase(target)
  copyFile(join(folder, name), target)
  return crcText(crcOfFile(target)) === crc
}

/** Returns whether changes after `at` were left out. */
function applyLogs(
  folder: string,
  logs: readonly CopiedLog[],
  target: string,
  at: number | undefined,
): boolean {
  for (const [index, log] of logs.entries()) {
    const bytes = readLog(folder, log, index === logs.length - 1)
    const end = at === undefined ? undefined : endBefore(bytes, target, at)
    applyLog(end === undefined ? bytes : bytes.subarray(0, end), target)
    if (end !== undefined) return true
  }
  return false
}

/** Throws if the log is damaged. Only the last one may be incomplete. */
export function readLog(folder: string, { name, crc }: CopiedLog, isLast: boolean): Buffer {
  const bytes = readFileSync(join(folder, name))
  const isIntact = crc === undefined ? isLast : crcText(Bun.hash.crc32(bytes)) === crc
  if (isIntact) return bytes
  throw new OpenRefused(`${join(folder, name)} is damaged; --at restores a moment before its changes`)
}

/** Lets SQLite recover the log and copy it into the database. Closing the last connection removes the log. */
export function applyLog(bytes: Buffer, target: string): void {
  writeFileSync(`${target}-wal`, bytes, { mode: 0o600 })
  const database = new Database(target)
  try {
    database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    database.close()
  }
}

/** The end of the frames with which SQLite recovers the last commit until `at`; `undefined` if this is the whole log. */
function endBefore(bytes: Buffer, target: string, at: number): number | undefined {
  if (isUntil(bytes, target, at)) return undefined
  const endOf = (frames: number) => HEADER_BYTES + frames * frameBytesOf(bytes)
  let low = 0
  let high = Math.floor((bytes.length - HEADER_BYTES) / frameBytesOf(bytes))
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isUntil(bytes.subarray(0, endOf(middle)), target, at)) low = middle
    else high = middle - 1
  }
  return endOf(low)
}

/** Whether no change in the database is later than `at`, with this log. Leaves the database as it is. */
function isUntil(bytes: Buffer, target: string, at: number): boolean {
  writeFileSync(`${target}-wal`, bytes, { mode: 0o600 })
  try {
    return (readLastChange(target)?.at ?? 0) <= at
  } finally {
    for (const suffix of ['-wal', '-shm']) rmSync(target + suffix, { force: true })
  }
}

/** The changes of one commit need not be in the order of their times. */
const NEWEST_CHANGE = `
  SELECT max(id) AS id, max(at) AS at FROM (SELECT id, at FROM log ORDER BY id DESC LIMIT 1000)`

export function readLastChange(path: string): LastChange | undefined {
  // Closing a connection that can write would copy the log into the database.
  const database = new Database(path, { readonly: true, safeIntegers: true })
  try {
    const row = database.query<{ id: bigint | null; at: bigint | null }, []>(NEWEST_CHANGE).get()
    return row?.id == null ? undefined : { id: row.id, at: Number(row.at) }
  } finally {
    database.close()
  }
}

function crcOfFile(path: string): number {
  const file = openSync(path, 'r')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  try {
    let crc = 0
    for (;;) {
      const length = readSync(file, chunk)
      if (length === 0) return crc
      crc = Bun.hash.crc32(chunk.subarray(0, length), crc)
    }
  } finally {
    closeSync(file)
  }
}

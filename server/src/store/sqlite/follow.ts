import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpenRefused } from '../opening.ts'
import { parseNames, type Snapshot } from './backup-folder.ts'
import { followerMark, lockForServing, realPathOf } from './database-files.ts'
import {
  applyLog,
  copySnapshot,
  followingLogs,
  type LastChange,
  readLastChange,
  readLog,
} from './log-restore.ts'

/** The log that is applied next, and how much of it is. */
interface FollowerPosition {
  number: number
  applied: number
}

/**
 * Keeps a database next to a continuous backup up to date, so that it can take over. Each log is applied by SQLite's own
 * recovery, again and again as it grows.
 */
export class Follower {
  readonly #folder: string
  readonly #path: string
  readonly #lock: { close(): void }
  #position: FollowerPosition | undefined

  constructor(folder: string, givenPath: string) {
    const path = realPathOf(givenPath)
    if (existsSync(path) && !existsSync(followerMark(path))) {
      throw new OpenRefused(`${givenPath} exists already, and does not follow a backup; choose another file`)
    }
    this.#folder = folder
    this.#path = path
    this.#lock = lockForServing(path, {
      text: 'another process follows the backup with this file, or serves it',
      advice: 'stop that process',
    })
    writeFileSync(followerMark(path), folder, { mode: 0o600 })
  }

  /** Applies what is new in the folder. */
  step(): void {
    const { snapshots, logs } = parseNames(readdirSync(this.#folder))
    const newest = snapshots.at(-1)
    this.#position ??= this.#startFrom(newest)
    const position = this.#position
    for (const log of logs) {
      if (log.number !== position.number) continue
      const { size } = statSync(join(this.#folder, log.name))
      if (size > position.applied) applyLog(readLog(this.#folder, log, true), this.#path)
      position.applied = size
      if (log.crc === undefined) break
      position.number++
      position.applied = 0
    }
    // The service was restarted, or the copy had a gap: nothing leads from here to the newest snapshot.
    if (newest !== undefined && newest.number > position.number) this.#position = this.#startFrom(newest)
  }

  lastChange(): LastChange | undefined {
    return existsSync(this.#path) ? readLastChange(this.#path) : undefined
  }

  close(): void {
    this.#lock.close()
  }

  /** The file is replaced by a database that is complete: the snapshot with the beginning of its log. */
  #startFrom(snapshot: Snapshot | undefined): FollowerPosition {
    if (snapshot === undefined) throw new OpenRefused(`${this.#folder} has no complete snapshot yet`)
    const partial = `${this.#path}.partial`
    if (!copySnapshot(this.#folder, snapshot, partial)) throw new OpenRefused(`${snapshot.name} is damaged`)
    const [log] = followingLogs(snapshot, parseNames(readdirSync(this.#folder)).logs)
    if (log !== undefined) applyLog(readLog(this.#folder, log, true), partial)
    renameSync(partial, this.#path)
    return { number: snapshot.number, applied: 0 }
  }
}

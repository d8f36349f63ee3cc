import { Database } from 'bun:sqlite'
import { closeSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, MINUTE } from '../../src/core/values/clock.ts'
import { parseNames } from '../../src/store/sqlite/backup-folder.ts'
import { LogCopy } from '../../src/store/sqlite/log-copy.ts'
import { rebuildDatabase } from '../../src/store/sqlite/log-restore.ts'
import { memoryFolder } from '../support/memory-folder.ts'
import { Random } from './random.ts'
import { PowerCut, SimulatedFolder } from './simulated-folder.ts'

const ROWS = 40
/** Smaller than a commit, so that a power cut can separate the parts of one. */
const CHUNK_BYTES = 1_500
const STEPS_PER_RUN = 60

export interface BackupReport {
  readonly violations: readonly string[]
  readonly counts: Readonly<
    Record<'commits' | 'copies' | 'failures' | 'restores' | 'moments' | 'lostDisks', number>
  >
}

/** A commit sets all rows to the same number, so that a part of one can be recognised. */
class SimulatedShop {
  readonly #random: Random
  readonly #folder = mkdtempSync(join(memoryFolder(), 'petstore-backup-sim-'))
  readonly disk: SimulatedFolder
  readonly violations: string[] = []
  readonly counts = { commits: 0, copies: 0, failures: 0, restores: 0, moments: 0, lostDisks: 0 }
  /** The times of the commits, in order. */
  #times: number[] = []
  #now = Date.UTC(2026, 0, 1)
  #restarts = 0
  /** The last commit that a copy has acknowledged. */
  #copiedCommit = 0
  /** Later commits up to the copied one can be restored one by one. */
  #newestSnapshotAt: number | undefined
  #database!: Database
  #other!: Database
  #file!: number
  #copy!: LogCopy

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.disk = new SimulatedFolder(this.#random)
    mkdirSync(this.#current)
    const database = new Database(this.#path)
    database.run('PRAGMA page_size = 1024')
    database.run('PRAGMA journal_mode = WAL')
    database.run('CREATE TABLE stock (pet_id INTEGER PRIMARY KEY, quantity INTEGER, text TEXT)')
    database.run('CREATE TABLE log (id INTEGER PRIMARY KEY, at INTEGER NOT NULL)')
    for (let id = 1; id <= ROWS; id++)
      database.run('INSERT INTO stock VALUES (?, 0, ?)', [id, 'x'.repeat(200)])
    database.close()
  }

  get #current(): string {
    return join(this.#folder, String(this.#restarts))
  }

  get #path(): string {
    return join(this.#current, 'petstore.db')
  }

  get #restored(): string {
    return join(this.#folder, 'restored.db')
  }

  start(): void {
    this.#database = new Database(this.#path)
    this.#database.run('PRAGMA synchronous = OFF')
    this.#database.run('PRAGMA wal_autocheckpoint = 0')
    this.#database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    // Creates the log, as the service does before the first copy.
    this.#commit()
    this.#other = new Database(this.#path)
    this.#file = openSync(this.#path, 'r')
    this.#copy = new LogCopy({
      databasePath: this.#path,
      databaseFile: this.#file,
      folder: this.disk,
      clock: () => this.#now,
      chunkBytes: CHUNK_BYTES,
    })
  }

  /** Runs until the power is cut. */
  async run(): Promise<void> {
    this.disk.callsUntilPowerCut = Math.floor(this.#random.between(1, 150))
    try {
      for (let step = 0; step < STEPS_PER_RUN; step++) await this.#step()
    } catch (error) {
      if (!(error instanceof PowerCut)) throw error
    }
  }

  async #step(): Promise<void> {
    this.#now += Math.floor(this.#random.between(1, this.#random.chance(0.05) ? DAY : MINUTE))
    const choice = this.#random.next()
    if (choice < 0.5) this.#commit()
    else if (choice < 0.8) await this.#copyLog()
    else if (choice < 0.88)
      await this.#copy.restartLog(async () => this.#checkpoint(this.#database, 'PASSIVE'))
    else if (choice < 0.94) this.#checkpoint(this.#other, this.#random.chance(0.5) ? 'TRUNCATE' : 'PASSIVE')
    else if (choice < 0.98) this.disk.isFull = this.#random.chance(0.3)
    else this.#copy.discard()
  }

  #checkpoint(database: Database, mode: 'PASSIVE' | 'TRUNCATE'): void {
    database.query(`PRAGMA wal_checkpoint(${mode})`).get()
  }

  #commit(): void {
    const number = this.#times.length + 1
    this.#now++
    this.#database.transaction(() => {
      this.#database.run('UPDATE stock SET quantity = ?', [number])
      this.#database.run('INSERT INTO log VALUES (?, ?)', [number, this.#now])
    })()
    this.#times.push(this.#now)
    this.counts.commits++
  }

  async #copyLog(): Promise<void> {
    const commit = this.#times.length
    try {
      const hasSnapshot = await this.#copy.copy()
      this.counts.copies++
      if (!hasSnapshot) return
      this.#copiedCommit = commit
      this.#newestSnapshotAt = parseNames(this.disk.names()).snapshots.at(-1)?.at
    } catch (error) {
      if (error instanceof PowerCut) throw error
      this.counts.failures++
    }
  }

  /** The process is killed. With `losesDisk`, what the folder leads to replaces the database. */
  crash(): void {
    const old = this.#path
    const losesDisk = this.#random.chance(0.5)
    const folder = join(this.#folder, 'backup')
    this.disk.restartAfterPowerCut()
    this.disk.copyTo(folder)
    const restored = this.#checkRestore(folder)
    if (restored !== undefined && this.#random.chance(0.3)) this.#checkMoment(folder)
    this.#restarts++
    mkdirSync(this.#current)
    if (losesDisk && restored !== undefined) {
      this.counts.lostDisks++
      rebuildDatabase(folder, this.#path, undefined)
      this.#times.length = restored
      this.#copiedCommit = Math.min(this.#copiedCommit, restored)
    } else {
      // Copied first, because closing the last connection would change the files.
      for (const suffix of ['', '-wal'])
        if (existsSync(old + suffix)) copyFileSync(old + suffix, this.#path + suffix)
    }
    this.#copy.close()
    for (const database of [this.#database, this.#other]) database.close()
    closeSync(this.#file)
    rmSync(join(old, '..'), { recursive: true })
  }

  /** Returns the last commit of the restored database. */
  #checkRestore(folder: string): number | undefined {
    if (this.#newestSnapshotAt === undefined) return undefined
    this.counts.restores++
    const restored = this.#restore(folder, undefined)
    if (restored === undefined) return undefined
    if (restored < this.#copiedCommit) {
      this.violations.push(
        `commit ${this.#copiedCommit} was copied, but ${restored} is the last one that is restored`,
      )
    }
    return restored
  }

  #checkMoment(folder: string): void {
    const oldest = this.#times.findIndex((at) => at > (this.#newestSnapshotAt ?? 0)) + 1
    if (oldest === 0 || oldest > this.#copiedCommit) return
    const commit = this.#random.integer(oldest, this.#copiedCommit)
    const restored = this.#restore(folder, this.#times[commit - 1])
    this.counts.moments++
    if (restored !== commit) this.violations.push(`${restored} is restored for the time of commit ${commit}`)
  }

  #restore(folder: string, at: number | undefined): number | undefined {
    try {
      rebuildDatabase(folder, this.#restored, at)
    } catch (error) {
      this.violations.push(`the restore failed: ${error}`)
      return undefined
    }
    const database = new Database(this.#restored)
    try {
      const integrity = database
        .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
        .get()?.integrity_check
      if (integrity !== 'ok') this.violations.push(`the restored database is damaged: ${integrity}`)
      const found = database.query<{ quantity: number }, []>('SELECT DISTINCT quantity FROM stock').all()
      if (found.length !== 1) this.violations.push(`a part of a commit is restored: ${JSON.stringify(found)}`)
      return found[0]?.quantity ?? 0
    } finally {
      database.close()
    }
  }

  close(): void {
    this.counts.failures = this.disk.failures
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Everything that a copy has acknowledged is restored, whatever its disk does, and so is every earlier moment. */
export async function simulateBackup(seed: number, crashes: number): Promise<BackupReport> {
  const shop = new SimulatedShop(seed)
  try {
    for (let crash = 0; crash < crashes && shop.violations.length === 0; crash++) {
      shop.start()
      await shop.run()
      shop.crash()
    }
    return { violations: shop.violations, counts: shop.counts }
  } finally {
    shop.close()
  }
}

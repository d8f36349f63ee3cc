import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { restoreSqlite } from '../../../src/store/sqlite/backup.ts'
import { serve } from '../../cli/running-petstore.ts'
import { stockUp } from '../../postgres/shop.ts'
import { until } from '../../support/until.ts'
import { fillDisk, mountSmallDisk, unmount } from '../disk/full-disk.ts'

const CALLERS = 16
const FULL_FOLDER_MEGABYTES = 1_000
const PET_IDS = Array.from({ length: CALLERS }, (_, index) => index + 1)
/** What the loss of the disk may cost. */
export const MAX_LOSS_MS = 1_000

/** A program that delays each flush of the backup by 50 ms. The database flushes with fdatasync. */
export const SLOW_FLUSHES = [
  'strace',
  ...['-f', '--seccomp-bpf', '-qq', '-o', '/dev/null'],
  ...['-e', 'trace=fsync', '-e', 'inject=fsync:delay_enter=50000'],
]

interface AcknowledgedUpdate {
  readonly petId: number
  readonly quantity: number
  readonly at: number
}

interface RunningService {
  readonly address: string
  readonly program: { readonly pid: number; readonly exited: Promise<number> }
}

/** A service with a continuous backup, whose database will be lost. */
export class DoomedShop {
  readonly folder = mkdtempSync(join(tmpdir(), 'petstore-doomed-'))
  readonly data = join(this.folder, 'data')
  readonly backup = join(this.folder, 'backup')
  readonly restored = join(this.folder, 'restored.db')
  readonly acknowledged: AcknowledgedUpdate[] = []
  /** How long each caller waits between two updates. */
  pauseMs = 0
  #service: RunningService & { readonly output: () => string } = undefined as never
  #key = ''
  #isOpen = true

  /** `prepare` gets the folder of the backup before anything is in it. */
  static async open(
    prepare: (backup: string) => void = () => {},
    through: readonly string[] = [],
  ): Promise<DoomedShop> {
    const shop = new DoomedShop()
    mkdirSync(shop.data)
    mkdirSync(shop.backup)
    prepare(shop.backup)
    shop.#key = await stockUp(shop.url, PET_IDS)
    await shop.start(through)
    return shop
  }

  async start(through: readonly string[] = []): Promise<void> {
    this.#service = await serve(['--backup-to', this.backup], {
      cwd: this.folder,
      env: { DATABASE_URL: this.url, SQLITE_TMPDIR: this.folder },
      through,
    })
  }

  get url(): string {
    return `sqlite:${join(this.data, 'petstore.db')}`
  }

  output(): string {
    return this.#service.output()
  }

  async readiness(): Promise<{ readonly status: string; readonly warnings?: readonly string[] }> {
    return (await fetch(`${this.#service.address}/readyz`)).json()
  }

  hasSnapshot(): boolean {
    return readdirSync(this.backup).some((name) => name.endsWith('.db'))
  }

  /** Each caller counts up the quantity of its own pet, until the shop is lost. */
  async update(): Promise<void> {
    await Promise.all(PET_IDS.map((petId) => this.#countUp(petId)))
  }

  async #countUp(petId: number): Promise<void> {
    let quantity = this.acknowledged.findLast((update) => update.petId === petId)?.quantity ?? 0
    while (this.#isOpen) {
      quantity++
      const { status } = await this.#set(petId, quantity)
      if (status === 200) this.acknowledged.push({ petId, quantity, at: performance.now() })
      if (this.pauseMs > 0) await Bun.sleep(this.pauseMs)
    }
  }

  async #set(petId: number, quantity: number): Promise<{ readonly status: number }> {
    try {
      return await fetch(`${this.#service.address}/v1/inventory/${petId}`, {
        method: 'PATCH',
        headers: { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ quantity }),
      })
    } catch {
      return { status: 0 }
    }
  }

  closeForCallers(): void {
    this.#isOpen = false
  }

  /** Deletes the database with its folder. Returns the time. */
  async lose({ isKilledFirst }: { readonly isKilledFirst: boolean }): Promise<number> {
    const lostAt = performance.now()
    if (isKilledFirst) await this.kill()
    rmSync(this.data, { recursive: true })
    this.closeForCallers()
    if (!isKilledFirst) {
      await Bun.sleep(300)
      await this.kill()
    }
    return lostAt
  }

  async kill(): Promise<void> {
    const { program } = this.#service
    for (const pid of [...childrenOf(program.pid), program.pid]) process.kill(pid, 'SIGKILL')
    await program.exited
  }

  restore(at?: number): ReturnType<typeof restoreSqlite> {
    return restoreSqlite(this.backup, this.restored, at)
  }

  /** The age of the oldest acknowledged update that the restored database does not have; 0 if it has all. */
  lossMs(lostAt: number, restored = this.restored): number {
    const stock = stockOf(restored)
    const lost = this.acknowledged.filter(({ petId, quantity }) => (stock.get(petId) ?? 0) < quantity)
    return Math.max(0, ...lost.map(({ at }) => lostAt - at))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A program that traces another has it as its child. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').flatMap((child) => (child === '' ? [] : [Number(child)]))
}

function stockOf(path: string): Map<number, number> {
  const database = new Database(path, { readonly: true })
  try {
    const rows = database
      .query<{ pet_id: number; quantity: number }, []>('SELECT pet_id, quantity FROM stock')
      .all()
    return new Map(rows.map(({ pet_id, quantity }) => [pet_id, quantity]))
  } finally {
    database.close()
  }
}

interface Change {
  readonly id: number
  readonly pet_id: number
  readonly after: number
  readonly at: number
}

export function changesOf(path: string): Change[] {
  const database = new Database(path, { readonly: true })
  try {
    return database
      .query<Change, []>("SELECT id, pet_id, after, at FROM log WHERE kind = 'change' ORDER BY id")
      .all()
  } finally {
    database.close()
  }
}

/** How the restored database differs from what all changes of the shop say about a moment. */
export function differencesAt(restored: string, all: readonly Change[], at: number): string[] {
  const restoredChanges = changesOf(restored)
  const lastId = restoredChanges.at(-1)?.id ?? 0
  const made = all.filter(({ id }) => id <= lastId)
  const differences: string[] = []
  const late = made.filter((change) => change.at > at)
  if (late.length > 0) differences.push(`${late.length} changes are later than the moment`)
  // A commit has at most one change of each caller. It is restored as a whole or not at all.
  const next = all.filter(({ id }) => id > lastId).slice(0, CALLERS)
  if (next.length > 0 && next.every((change) => change.at <= at)) differences.push('a commit is missing')
  const expected = new Map(made.map(({ pet_id, after }) => [pet_id, after]))
  for (const [petId, quantity] of stockOf(restored)) {
    if (quantity !== (expected.get(petId) ?? 0)) {
      differences.push(`pet ${petId} has ${quantity}, not ${expected.get(petId) ?? 0}`)
    }
  }
  return differences
}

export interface RoundOptions {
  readonly isKilledFirst: boolean
  readonly ms: number
  readonly through?: readonly string[]
  readonly random: () => number
}

export interface RoundResult {
  readonly lossMs: number
  readonly updates: number
  readonly violations: readonly string[]
}

/** Updates from 16 callers, the loss of the database, a restore, and three restores of earlier moments. */
export async function runRound({ isKilledFirst, ms, through, random }: RoundOptions): Promise<RoundResult> {
  const shop = await DoomedShop.open(() => {}, through)
  try {
    await until(() => shop.hasSnapshot())
    const startedAt = Date.now()
    const updating = shop.update()
    await Bun.sleep(ms)
    const lostAt = await shop.lose({ isKilledFirst })
    await updating
    shop.restore()
    const lossMs = shop.lossMs(lostAt)
    const violations = lossMs > MAX_LOSS_MS ? [`an update from ${Math.round(lossMs)} ms before was lost`] : []
    const all = changesOf(shop.restored)
    for (let moment = 0; moment < 3; moment++) {
      const at = startedAt + Math.floor(random() * ms)
      shop.restore(at)
      violations.push(...differencesAt(shop.restored, all, at))
    }
    return { lossMs, updates: shop.acknowledged.length, violations }
  } finally {
    shop.closeForCallers()
    shop.remove()
  }
}

/** The folder is full for a time, during which the service goes on. After it has recovered, the database is lost. */
export async function runFullFolderRound(fullMs: number): Promise<RoundResult> {
  const shop = await DoomedShop.open((folder) => mountSmallDisk(folder, FULL_FOLDER_MEGABYTES))
  try {
    await until(() => shop.hasSnapshot())
    shop.pauseMs = 20
    const updating = shop.update()
    const filler = fillDisk(shop.backup)
    await Bun.sleep(fullMs)
    const updates = shop.acknowledged.length
    filler.free()
    await Bun.sleep(MAX_LOSS_MS)
    await until(async () => (await shop.readiness()).warnings === undefined)
    const lostAt = await shop.lose({ isKilledFirst: true })
    await updating
    shop.restore()
    const lossMs = shop.lossMs(lostAt)
    const violations = lossMs > MAX_LOSS_MS ? [`an update from ${Math.round(lossMs)} ms before was lost`] : []
    if (updates === 0) violations.push('no update while the folder was full')
    return { lossMs, updates: shop.acknowledged.length, violations }
  } finally {
    shop.closeForCallers()
    unmount(shop.backup)
    shop.remove()
  }
}

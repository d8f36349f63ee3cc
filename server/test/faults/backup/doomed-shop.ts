import { Database } from 'bun:sqlite'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { restoreSqlite } from '../../../src/store/sqlite/backup.ts'
import { serve } from '../../cli/running-petstore.ts'
import { stockUp } from '../../postgres/shop.ts'

export const CALLERS = 16
const PET_IDS = Array.from({ length: CALLERS }, (_, index) => index + 1)
/** What the loss of the disk may cost. */
export const MAX_LOSS_MS = 1_000

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

export function stockOf(path: string): Map<number, number> {
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

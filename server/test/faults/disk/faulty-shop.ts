import { Database } from 'bun:sqlite'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, petstore } from '../../cli/petstore.ts'
import { serve } from '../../cli/running-petstore.ts'
import { PET_IDS, stockUp } from '../../postgres/shop.ts'

export const SHOP_IDS = PET_IDS.map(BigInt)

/** The response to one update. */
export interface UpdateAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: unknown
  readonly ms: number
}

/** The form of every refusal while the database has a fault. */
export const UNAVAILABLE = {
  status: 503,
  retryAfter: '1',
  body: {
    code: 'service_unavailable',
    message: 'the database cannot answer at the moment; try again shortly',
    status: 503,
  },
} as const

/** Every read of the first pet and related resources. */
const READS = [
  '/inventory',
  '/inventory/1',
  '/inventory/1/history',
  '/catalog',
  '/pets/1',
  '/store/orders',
] as const

const PATIENCE_MS = 60_000

/** The real service on its own SQLite file, with disk, lock or data faults. */
export class FaultyShop {
  readonly folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'))
  path: string
  key = ''
  /** A command that starts the service, for example with another disk. */
  through: readonly string[] = []
  /** Settings of the service. */
  settings: Readonly<Record<string, string>> = {}
  #running: Awaited<ReturnType<typeof serve>> | undefined
  /** The quantities of each pet that updates were acknowledged to have set. */
  readonly #acknowledged = new Map<bigint, number[]>(SHOP_IDS.map((petId) => [petId, []]))
  #updates = 0

  /** A stocked file without a service. `prepare` gets the folder before anything is in it. */
  static async closed(prepare: (folder: string) => void = () => {}): Promise<FaultyShop> {
    const shop = new FaultyShop()
    prepare(shop.folder)
    shop.key = await stockUp(shop.url)
    return shop
  }

  static async open(
    prepare?: (folder: string) => void,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<FaultyShop> {
    const shop = await FaultyShop.closed(prepare)
    shop.settings = settings
    await shop.start()
    return shop
  }

  private constructor() {
    this.path = join(this.folder, 'petstore.db')
  }

  get url(): string {
    return `sqlite:${this.path}`
  }

  get #service(): Awaited<ReturnType<typeof serve>> {
    if (this.#running === undefined) throw new Error('nobody serves this file')
    return this.#running
  }

  get address(): string {
    return this.#service.address
  }

  get pid(): number {
    return this.#service.program.pid
  }

  /** Resolves when the log, which is written in the background, contains this. */
  async untilLogged(text: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (!this.#service.output().includes(text)) {
      if (performance.now() > deadline) throw new Error(`the log does not say "${text}"`)
      await Bun.sleep(5)
    }
  }

  async start(through = this.through): Promise<void> {
    this.#running = await serve([], {
      cwd: this.folder,
      env: { DATABASE_URL: this.url, ...this.settings },
      through,
    })
  }

  /** The exit code of the service, once it has ended by itself. */
  exitCode(): Promise<number> {
    return this.#service.program.exited
  }

  /** The quantity of a pet in the file, flushed or not. */
  lastQuantityInFile(petId: number): number | undefined {
    const file = new Database(this.path, { readonly: true })
    try {
      const row = file.query<{ quantity: number }, [number]>('SELECT quantity FROM stock WHERE pet_id = ?')
      return row.get(petId)?.quantity
    } finally {
      file.close()
    }
  }

  /** The status and body of /readyz. */
  async readiness(): Promise<string> {
    const response = await fetch(`${this.address}/readyz`)
    return `${response.status} ${await response.text()}`
  }

  /** Runs a petstore command on this file. */
  command(args: readonly string[], options: { readonly through?: readonly string[] } = {}): Promise<Outcome> {
    return petstore(args, { ...options, env: { DATABASE_URL: this.url } })
  }

  /** Stops it as an operator would; returns the lines of its log. */
  async stop(): Promise<string[]> {
    await this.#service.stop()
    return this.#service.output().split('\n')
  }

  async kill(): Promise<void> {
    this.#running?.program.kill('SIGKILL')
    await this.#running?.program.exited
  }

  /** Sets a pet to a unique quantity, and records the outcome. */
  async update(petId = 1n): Promise<UpdateAnswer> {
    const quantity = ++this.#updates
    const began = performance.now()
    const response = await this.#service.call(`/inventory/${petId}`, this.key, {
      method: 'PATCH',
      body: `{"quantity": ${quantity}}`,
    })
    const ended = performance.now()
    if (response.status === 200) this.#acknowledged.get(petId)?.push(quantity)
    const retryAfter = response.headers.get('Retry-After')
    return { status: response.status, retryAfter, body: await response.json(), ms: ended - began }
  }

  /** The status of every read. */
  async reads(): Promise<Readonly<Record<string, number>>> {
    const statuses: Record<string, number> = {}
    for (const path of READS) statuses[path] = (await this.#service.call(path, this.key)).status
    return statuses
  }

  /** The differences between the acknowledged updates and what the service shows, and any damage of the file. */
  async violations(): Promise<string[]> {
    const list = (await this.#read('/inventory')) as { petId: number; quantity: number }[]
    const found: string[] = []
    for (const [petId, acknowledged] of this.#acknowledged) {
      const history = (await this.#read(`/inventory/${petId}/history?limit=100`)) as { after: number }[]
      const shown = history.map(({ after }) => after).reverse()
      // The pet was created with 0 units.
      const expected = [0, ...acknowledged].slice(-100)
      const isListed = list.some(
        (item) => item.petId === Number(petId) && item.quantity === (expected.at(-1) ?? 0),
      )
      if (shown.join() !== expected.join())
        found.push(`the history of pet ${petId} is ${shown}, not ${expected}`)
      if (!isListed) found.push(`pet ${petId} is not listed with ${expected.at(-1) ?? 0}`)
    }
    return [...found, ...this.#damage()]
  }

  async #read(path: string): Promise<unknown> {
    return (await this.#service.call(path, this.key)).json()
  }

  #damage(): string[] {
    const file = new Database(this.path, { readonly: true })
    try {
      const rows = file.query<{ integrity_check: string }, []>('PRAGMA integrity_check').all()
      return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
    } finally {
      file.close()
    }
  }

  async close(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export const ALL_READ = Object.fromEntries(READS.map((path) => [path, 200]))

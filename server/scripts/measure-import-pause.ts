/**
 * Measures how an import of pets delays the writes of a running service:
 * `bun server/scripts/measure-import-pause.ts [--rows 1000000] [--kind new|changed] [--postgres] [--obey] [--program MAIN]`.
 *
 * Eight callers set quantities during the import. Four of them change pets that are in the file, the others change other
 * pets. With `--kind new`, the file has only new pets, so all callers change other pets. The report has the refused writes, the
 * longest wait for an answer, and the longest time without a successful write. With `--obey`, a refused caller waits for
 * Retry-After. `--program` measures another version, given its server/src/cli/main.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { petstore } from '../test/cli/petstore.ts'
import { serve } from '../test/cli/running-petstore.ts'
import { PostgresServer } from '../test/support/postgres-server.ts'

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const STATUSES = ['available', 'pending', 'sold']
/** These pets are in the store and never in the file. */
const OTHER_PETS = { first: 100_000_001, count: 100 }
const CALLERS_PER_GROUP = 4
const PAUSE_BETWEEN_WRITES_MS = 10
/** How long the callers write before the import starts and after it ends. */
const WITHOUT_IMPORT_MS = 1_000

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    kind: { type: 'string', default: 'new' },
    postgres: { type: 'boolean', default: false },
    obey: { type: 'boolean', default: false },
    program: { type: 'string', default: MAIN },
  },
})
const rows = Number(values.rows)
const isChanged = values.kind === 'changed'
if (!Number.isInteger(rows) || rows < 1 || rows > 5_000_000 || !['new', 'changed'].includes(values.kind)) {
  console.error('measure-import-pause: --rows must be an integer from 1 to 5000000, --kind new or changed')
  process.exit(2)
}
const command = [process.execPath, values.program]
const folder = mkdtempSync(join(tmpdir(), 'petstore-pause-'))
const postgres = values.postgres ? await PostgresServer.start() : undefined
const databaseUrl = postgres?.url() ?? `sqlite:${join(folder, 'shop.db')}`

try {
  await measure()
} finally {
  await postgres?.end()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const others = join(folder, 'others.csv')
  await writeCsv(others, OTHER_PETS.first, OTHER_PETS.count, 0)
  await importFile(others)
  const file = join(folder, 'pets.csv')
  if (isChanged) {
    await writeCsv(file, 1, rows, 0)
    await importFile(file)
  }
  await writeCsv(file, 1, rows, 1)

  const limits = ['--per-minute', '1000000000', '--per-day', '1000000000']
  const key = await outputOf('keys', 'create', '--name', 'Caller', '--plan', 'enterprise', ...limits)
  const env = { DATABASE_URL: databaseUrl, LOG_REQUESTS: 'none' }
  const service = await serve([], { cwd: folder, env, program: command })
  const fileCallers = new CallerGroup(isChanged ? { first: 1, count: Math.min(rows, 100) } : OTHER_PETS)
  const otherCallers = new CallerGroup(OTHER_PETS)
  let hasEnded = false
  const writing = [fileCallers, otherCallers].flatMap((caller) =>
    Array.from({ length: CALLERS_PER_GROUP }, () => caller.write(service.address, key, () => hasEnded)),
  )
  await Bun.sleep(WITHOUT_IMPORT_MS)
  const startedAt = performance.now()
  const messages = await importFile(file)
  const seconds = (performance.now() - startedAt) / 1_000
  await Bun.sleep(WITHOUT_IMPORT_MS)
  hasEnded = true
  await Promise.all(writing)
  await service.stop()

  const database = values.postgres ? 'PostgreSQL' : 'SQLite'
  console.log(
    `${database}, ${rows.toLocaleString('en-US')} ${values.kind} pets, import took ${seconds.toFixed(1)} s`,
  )
  if (messages !== '') console.log(messages.trim().replaceAll(/^/gm, '  import: '))
  if (isChanged) console.log(`  pets of the file: ${fileCallers.report()}`)
  console.log(`  ${isChanged ? 'other pets' : 'callers'}: ${otherCallers.report()}`)
}

async function writeCsv(path: string, firstId: number, count: number, addedUnits: number): Promise<void> {
  const file = Bun.file(path).writer()
  file.write('petId,name,categoryId,status,quantity\n')
  for (let row = 1; row <= count; row++) {
    const id = firstId + row - 1
    file.write(`${id},Pet number ${id},${row % 50},${STATUSES[row % 3]},${(row % 1_000) + addedUnits}\n`)
    if (row % 10_000 === 0) await file.flush()
  }
  await file.end()
}

/** Returns the messages of the import on standard error, without its progress. */
async function importFile(file: string): Promise<string> {
  const yesFlag = values.program === MAIN ? ['--yes'] : []
  const { stderr } = await runPetstore('import', file, ...yesFlag)
  return stderr.replaceAll(/^(reading|comparing|writing): .*\n/gm, '')
}

async function outputOf(...args: string[]): Promise<string> {
  return (await runPetstore(...args)).stdout.trim()
}

async function runPetstore(...args: string[]) {
  const outcome = await petstore(args, { env: { DATABASE_URL: databaseUrl }, cwd: folder, program: command })
  if (outcome.exitCode !== 0) throw new Error(`petstore ${args.join(' ')} failed: ${outcome.stderr}`)
  return outcome
}

/** Callers that write quantities of the same pets, with the counts of their answers. */
class CallerGroup {
  readonly #pets: { readonly first: number; readonly count: number }
  #answers = 0
  #refused = 0
  #longestMs = 0
  #longestGapMs = 0
  #lastSuccessAt = performance.now()
  readonly #retryAfterSeconds: number[] = []

  constructor(pets: { readonly first: number; readonly count: number }) {
    this.#pets = pets
  }

  /** Writes until `hasEnded`. The last write is one that succeeds. */
  async write(address: string, key: string, hasEnded: () => boolean): Promise<void> {
    for (let turn = 0; ; turn++) {
      const startedAt = performance.now()
      const response = await fetch(
        `${address}/v1/inventory/${this.#pets.first + (turn % this.#pets.count)}`,
        {
          method: 'PATCH',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ quantity: turn }),
        },
      )
      await response.arrayBuffer()
      const now = performance.now()
      this.#answers++
      this.#longestMs = Math.max(this.#longestMs, now - startedAt)
      if (response.ok) {
        this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastSuccessAt)
        this.#lastSuccessAt = now
        if (hasEnded()) return
      } else {
        this.#refused++
        const retryAfter = Number(response.headers.get('Retry-After'))
        this.#retryAfterSeconds.push(retryAfter)
        if (values.obey) await Bun.sleep(retryAfter * 1_000)
      }
      await Bun.sleep(PAUSE_BETWEEN_WRITES_MS)
    }
  }

  report(): string {
    const advice =
      this.#refused === 0
        ? ''
        : ` (Retry-After ${Math.min(...this.#retryAfterSeconds)} to ${Math.max(...this.#retryAfterSeconds)} s)`
    const seconds = (milliseconds: number) => `${(milliseconds / 1_000).toFixed(1)} s`
    return `${this.#refused} of ${this.#answers} writes refused${advice}, longest wait ${seconds(this.#longestMs)}, longest time without a successful write ${seconds(this.#longestGapMs)}`
  }
}

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createKeyId, createSecret, PERMISSIONS, toStoredSecret } from '../../server/src/core/keys/api-key.ts'
import { openStore } from '../../server/src/store/open-store.ts'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { addPets } from '../../server/test/support/add-pets.ts'
import { operatorOf } from '../../server/test/support/operator.ts'
import { createDatabase, type TestDatabase } from '../../server/test/support/postgres-databases.ts'
import type { LoadOrder, LoadReport } from './load.ts'
import type { LongRunResults, Slice } from './results.ts'
import { type ProcessSample, watch } from './watch.ts'

export interface LongRunOptions {
  readonly minutes: number
  readonly seed: number
  readonly onPostgres: boolean
  readonly say: (progress: string) => void
}

const LOAD = fileURLToPath(new URL('load.ts', import.meta.url))
const PETS = 3_000
const SLICE_SECONDS = 10
/** Every third slice runs at full speed. */
const FLAT_OUT_EVERY = 3
const STEADY_PART = 0.6
/** The service notices a disconnect at its next turn; Bun closes idle connections after 10 s. */
const HANG_UP_MS = 60_000
/** Bun ends the service with this process, however this one ends. */
const ENDS_WITH_US = { BUN_FEATURE_FLAG_NO_ORPHANS: '1' }
const ROOMY = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

/** Mixed load on the real service in its own process, for the given time; returns the measurements. */
export async function runLong(options: LongRunOptions): Promise<LongRunResults> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-long-run-'))
  const database = options.onPostgres ? await createDatabase() : undefined
  try {
    return await runOn(options, folder, database)
  } finally {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runOn(
  options: LongRunOptions,
  folder: string,
  database: TestDatabase | undefined,
): Promise<LongRunResults> {
  const { minutes, seed, say } = options
  const url = database?.url ?? `sqlite:${join(folder, 'petstore.db')}`
  const key = await stockUp(url)
  const service = await serve([], {
    cwd: folder,
    env: { DATABASE_URL: url, LOG_REQUESTS: 'none', ...ENDS_WITH_US },
  })
  const { pid } = service.program
  const load = new LoadProcess()
  const began = new Date().toISOString()
  try {
    pin(pid, 0)
    pin(load.pid, 1)
    const port = Number(new URL(service.address).port)
    await fetch(`${service.address}/healthz`)
    const before = watch(pid)
    await load.begin({ kind: 'begin', target: { port, key, pets: PETS }, seed })
    const capacity = await calibrate(load)
    const offeredPerSecond = Math.round(capacity * STEADY_PART)
    say(`${Math.round(capacity)} requests a second at the beginning; ${offeredPerSecond} are offered`)
    const { slices, surprises } = await measure({ load, pid, minutes, offeredPerSecond, say })
    await load.end()
    const handlesAfter = await handlesOnceQuiet(pid, before.handles)
    const exitCode = await service.stop()
    if (exitCode !== 0) throw new Error(`petstore serve ended with ${exitCode}`)
    return {
      store: options.onPostgres ? 'PostgreSQL' : 'SQLite',
      minutes,
      seed,
      pets: PETS,
      offeredPerSecond,
      began,
      slices,
      surprises,
      handlesBefore: before.handles,
      handlesAfter,
      updatesStored: await countChanges(url),
      environment: {
        processor: `${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores`,
        system: `${process.platform} ${release()}`,
        bun: Bun.version,
      },
    }
  } finally {
    load.kill()
    service.program.kill('SIGKILL')
  }
}

/**
 * Called after all clients have disconnected: returns the open handles once they stop decreasing, or reach the
 * initial number.
 */
async function handlesOnceQuiet(pid: number, before: number): Promise<number> {
  const deadline = performance.now() + HANG_UP_MS
  while (watch(pid).handles > before && performance.now() < deadline) await Bun.sleep(100)
  return watch(pid).handles
}

/** The throughput after a short warm-up. */
async function calibrate(load: LoadProcess): Promise<number> {
  load.send({ kind: 'pace' })
  await Bun.sleep(SLICE_SECONDS * 500)
  await load.tell()
  await Bun.sleep(SLICE_SECONDS * 500)
  const { requests, seconds } = await load.tell()
  return requests / seconds
}

interface Measuring {
  readonly load: LoadProcess
  readonly pid: number
  readonly minutes: number
  readonly offeredPerSecond: number
  readonly say: (progress: string) => void
}

async function measure({ load, pid, minutes, offeredPerSecond, say }: Measuring) {
  const slices: Slice[] = []
  const surprises: Record<string, number> = {}
  const began = performance.now()
  let before = watch(pid)
  for (let number = 1; slices.length < Math.ceil((minutes * 60) / SLICE_SECONDS); number++) {
    const pace = number % FLAT_OUT_EVERY === 0 ? 'flat-out' : 'steady'
    load.send({ kind: 'pace', ...(pace === 'steady' ? { rate: offeredPerSecond } : {}) })
    await Bun.sleep(began + number * SLICE_SECONDS * 1_000 - performance.now())
    const report = await load.tell()
    const sample = watch(pid)
    slices.push(sliceOf(report, pace, (performance.now() - began) / 1_000, before, sample))
    before = sample
    for (const [what, times] of Object.entries(report.surprises)) {
      surprises[what] = (surprises[what] ?? 0) + times
    }
    if (number % (6 * FLAT_OUT_EVERY) === 0) say(shown(slices.slice(-FLAT_OUT_EVERY)))
  }
  return { slices, surprises }
}

function sliceOf(
  report: LoadReport,
  pace: Slice['pace'],
  atSeconds: number,
  before: ProcessSample,
  sample: ProcessSample,
): Slice {
  const { requests, seconds, p50Ms, p99Ms, streams, slowReads } = report
  return {
    atSeconds,
    pace,
    requestsPerSecond: requests / seconds,
    p50Ms,
    p99Ms,
    streams,
    slowReads,
    residentBytes: sample.residentBytes,
    handles: sample.handles,
    serverCpu: (sample.cpuSeconds - before.cpuSeconds) / seconds,
    loadCpu: report.cpu,
  }
}

function shown(slices: readonly Slice[]): string {
  return slices
    .map(({ pace, requestsPerSecond, residentBytes, handles }) =>
      [
        `${pace} ${Math.round(requestsPerSecond)} requests/s`,
        `${Math.round(residentBytes / 1_000_000)} MB`,
        `${handles} handles`,
      ].join(', '),
    )
    .join('; ')
}

async function stockUp(url: string): Promise<string> {
  const store = await openStore(url, { tables: 'migrate' })
  await addPets(
    store,
    Array.from({ length: PETS }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Pet ${index + 1}`,
      categoryId: BigInt(index % 50),
      status: (['available', 'pending', 'sold'] as const)[index % 3] ?? 'sold',
      quantity: index,
    })),
  )
  const secret = createSecret('production')
  const now = Date.now()
  await operatorOf(store).addKey(
    {
      id: createKeyId(),
      name: 'Load',
      plan: 'enterprise',
      limits: ROOMY,
      permissions: PERMISSIONS,
      createdAt: now,
    },
    toStoredSecret(secret, now),
    { at: now, actor: 'long run' },
  )
  await store.close()
  return secret
}

async function countChanges(url: string): Promise<number> {
  const store = await openStore(url, { tables: 'migrate' })
  const { log } = await store.countContents()
  await store.close()
  return log
}

/**
 * Gives each process its own core, so that the generator takes none from the service; does nothing if that is
 * impossible.
 */
function pin(pid: number, core: number): void {
  if (cpus().length < 2 || Bun.which('taskset') === null) return
  Bun.spawnSync(['taskset', '-acp', String(core), String(pid)])
}

/** The generator, in its own process. */
class LoadProcess {
  readonly #child: Bun.Subprocess
  #told = Promise.withResolvers<LoadReport>()
  readonly #begun = Promise.withResolvers<void>()

  constructor() {
    this.#child = Bun.spawn([process.execPath, LOAD], {
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message: 'begun' | LoadReport) => {
        if (message === 'begun') this.#begun.resolve()
        else this.#told.resolve(message)
      },
      onExit: () => {
        const error = new Error('the load generator ended')
        this.#told.reject(error)
        this.#begun.reject(error)
      },
    })
    this.#told.promise.catch(() => {})
    this.#begun.promise.catch(() => {})
  }

  get pid(): number {
    return this.#child.pid
  }

  begin(order: Extract<LoadOrder, { kind: 'begin' }>): Promise<void> {
    this.send(order)
    return this.#begun.promise
  }

  send(order: LoadOrder): void {
    this.#child.send(order)
  }

  async tell(): Promise<LoadReport> {
    this.send({ kind: 'tell' })
    const report = await this.#told.promise
    this.#told = Promise.withResolvers<LoadReport>()
    this.#told.promise.catch(() => {})
    return report
  }

  async end(): Promise<void> {
    this.send({ kind: 'end' })
    await this.#child.exited
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}

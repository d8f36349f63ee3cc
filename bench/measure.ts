import type { Case, Load } from './cases.ts'
import type { Dataset } from './dataset.ts'
import { BOTH_CORES, LOAD_CORE, pinned, run, SERVER_CORE } from './processes.ts'
import { firstUrl, LIST_PATH, ORDERS_PATH, type RunningTarget, type Target } from './target.ts'

/** The result of one run of wrk. */
export interface Sample {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p99Ms: number
  /** Responses with a status of 400 or above. */
  readonly refused: number
  /** Failed connections and missing responses. */
  readonly broken: number
  readonly bytesPerRequest: number
}

/** A running target with its load. */
export interface Entrant {
  readonly target: Target
  readonly running: RunningTarget
  readonly dataset: Dataset
  readonly plan: Case
}

interface WrkReport {
  requests: number
  microseconds: number
  bytes: number
  refused: number
  broken: number
  p99: number
}

const SCRIPTS: Readonly<Record<Load['kind'], string>> = {
  list: 'load/same-request.lua',
  'unknown-key': 'load/unknown-key.lua',
  updates: 'load/updates.lua',
  adjustments: 'load/adjustments.lua',
  orders: 'load/orders.lua',
  baskets: 'load/baskets.lua',
}

/** Longer than a peer takes for a long list behind other waiting requests. */
const WRK_TIMEOUT = '60s'

/** One round. Each round needs another seed, so that no update sets the quantity that a pet already has. */
export async function measure(entrant: Entrant, seconds: number, seed: number): Promise<Sample> {
  return toSample(await run(wrkCommand(entrant, seconds, seed), import.meta.dir))
}

/** Reads the line that load/report.lua prints. */
function toSample(output: string): Sample {
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk printed no result: ${output.slice(-1_000)}`)
  const report = JSON.parse(line) as WrkReport
  return {
    requests: report.requests,
    requestsPerSecond: report.requests / (report.microseconds / 1e6),
    p99Ms: report.p99 / 1000,
    refused: report.refused,
    broken: report.broken,
    bytesPerRequest: report.requests === 0 ? 0 : report.bytes / report.requests,
  }
}

/** The load of the case, without counting. Kills wrk at the end, because it takes only whole seconds. */
export async function warmUp(entrant: Entrant, milliseconds: number): Promise<void> {
  const child = Bun.spawn(wrkCommand(entrant, 60, Date.now() % 1_000_000), {
    cwd: import.meta.dir,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: milliseconds,
    killSignal: 'SIGKILL',
  })
  await child.exited
}

/** A thread per instance, each with its part of the connections. */
function wrkCommand({ running, dataset, plan }: Entrant, seconds: number, seed: number): string[] {
  const { load, connections, store } = plan
  const { pets } = dataset
  const { unlimited, unknown } = running.secrets
  const url = firstUrl(running)
  const options = ['-t', String(store.instances), '-c', String(connections), '-d', `${seconds}s`]
  const wrk = [
    ...pinned(store.cores === SERVER_CORE ? LOAD_CORE : BOTH_CORES),
    ...['wrk', ...options, '--timeout', WRK_TIMEOUT, '-s', SCRIPTS[load.kind]],
  ]
  const ports = running.instances.map((instance) => new URL(instance.url).port)
  const withArguments = (...values: (string | number)[]) => [...wrk, url, '--', ...values.map(String)]
  switch (load.kind) {
    case 'updates':
      return withArguments(LIST_PATH, unlimited, pets, load.readPercent, seed, ...ports)
    case 'adjustments':
      return withArguments(LIST_PATH, unlimited, pets, load.changes, seed)
    case 'orders':
      return withArguments(ORDERS_PATH, unlimited, load.onePet ? 1 : pets, 0, seed, ...ports)
    case 'baskets':
      return withArguments(ORDERS_PATH, unlimited, pets, 0, seed, ...ports)
    case 'unknown-key':
      return withArguments(LIST_PATH, unknown)
    case 'list':
      return [...wrk, '-H', `Authorization: Bearer ${unlimited}`, url + LIST_PATH]
  }
}

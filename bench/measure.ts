import type { Load, LoadPlan } from './cases.ts'
import type { Dataset } from './dataset.ts'
import { begin, type Command, LOAD_CORE, pinned, run } from './processes.ts'
import { LIST_PATH, ORDERS_PATH, type RunningTarget, SEARCH_PATH, type Target } from './target.ts'

/** The result of one run of wrk. */
export interface Sample {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
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
  readonly plan: LoadPlan
}

interface WrkReport {
  requests: number
  microseconds: number
  bytes: number
  refused: number
  broken: number
  p50: number
  p99: number
}

const SCRIPTS: Readonly<Record<Load['kind'], string>> = {
  list: 'load/same-request.lua',
  'unknown-key': 'load/same-request.lua',
  updates: 'load/updates.lua',
  adjustments: 'load/adjustments.lua',
  orders: 'load/orders.lua',
  search: 'load/search.lua',
}

/** Longer than a peer takes for a long list behind other waiting requests. */
export const WRK_TIMEOUT = '60s'
const TURN_MS = 50

/** One round. Each round needs another seed, so that no update sets the quantity that a pet already has. */
export async function measure(entrant: Entrant, seed: number): Promise<Sample> {
  return toSample(await run(wrkCommand(entrant, entrant.plan.seconds, seed), import.meta.dir))
}

/**
 * One round of two entrants in turns of 50 ms, so that a slow second of the machine affects both. The pauses are part of
 * the latencies, which mean nothing here.
 */
export async function measureInTurns(
  first: Entrant,
  second: Entrant,
  seed: number,
): Promise<[Sample, Sample]> {
  const seconds = first.plan.seconds + second.plan.seconds
  const runs = [first, second].map((entrant) => {
    const wrk = begin(wrkCommand(entrant, seconds, seed), import.meta.dir)
    wrk.pause()
    return { running: entrant.running, wrk, usedMs: 0, output: undefined as string | undefined }
  })
  while (runs.some(({ output }) => output === undefined)) {
    for (const run of runs) {
      if (run.output !== undefined) continue
      const began = performance.now()
      run.output = await oneTurn(run.running, run.wrk)
      run.usedMs += performance.now() - began
    }
  }
  return runs.map(({ output = '', usedMs }) => {
    const sample = toSample(output)
    return { ...sample, requestsPerSecond: sample.requests / (usedMs / 1000) }
  }) as [Sample, Sample]
}

/** The output of wrk, if it has ended. */
async function oneTurn(running: RunningTarget, wrk: Command): Promise<string | undefined> {
  running.resume()
  wrk.resume()
  const output = await Promise.race([wrk.output, Bun.sleep(TURN_MS)])
  wrk.pause()
  running.pause()
  return output ?? undefined
}

/** Reads the line that load/report.lua prints. */
export function toSample(output: string): Sample {
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk printed no result: ${output.slice(-1_000)}`)
  const report = JSON.parse(line) as WrkReport
  return {
    requests: report.requests,
    requestsPerSecond: report.requests / (report.microseconds / 1e6),
    p50Ms: report.p50 / 1000,
    p99Ms: report.p99 / 1000,
    refused: report.refused,
    broken: report.broken,
    bytesPerRequest: report.requests === 0 ? 0 : report.bytes / report.requests,
  }
}

/** The load of the case, without counting. */
export async function warmUp(entrant: Entrant, milliseconds: number): Promise<void> {
  await runFor(milliseconds, wrkCommand(entrant, 60, Date.now() % 1_000_000))
}

/** Kills the command after this time: wrk takes only whole seconds. */
export async function runFor(milliseconds: number, command: string[]): Promise<void> {
  const child = Bun.spawn(command, {
    cwd: import.meta.dir,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: milliseconds,
    killSignal: 'SIGKILL',
  })
  await child.exited
}

function wrkCommand({ running, dataset, plan }: Entrant, seconds: number, seed: number): string[] {
  const { load, connections } = plan
  const { pets } = dataset
  const { unlimited, unknown } = running.secrets
  const options = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', WRK_TIMEOUT]
  const wrk = [...pinned(LOAD_CORE), 'wrk', ...options, '-s', SCRIPTS[load.kind]]
  const withArguments = (...values: (string | number)[]) => [...wrk, running.url, '--', ...values.map(String)]
  switch (load.kind) {
    case 'updates':
      return withArguments(LIST_PATH, unlimited, 1, pets, load.readPercent, seed)
    case 'adjustments':
      return withArguments(LIST_PATH, unlimited, pets, load.changes, seed)
    case 'orders':
      return withArguments(ORDERS_PATH, unlimited, 1, pets, 0, seed)
    case 'search':
      return withArguments(SEARCH_PATH, unlimited, seed, ...load.queries)
    case 'unknown-key':
      return [...wrk, '-H', `Authorization: Bearer ${unknown}`, running.url + LIST_PATH]
    case 'list':
      return [...wrk, '-H', `Authorization: Bearer ${unlimited}`, running.url + LIST_PATH]
  }
}

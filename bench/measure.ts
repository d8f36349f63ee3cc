import type { Case, Load } from './cases.ts'
import { begin, type Command, LOAD_CORE, pinned, run } from './processes.ts'
import { ORDERS_PATH, type RunningTarget, SEARCH_PATH, type Target } from './target.ts'

/** What one run of wrk showed. */
export interface Sample {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Answers with a status of 400 or more. */
  readonly refused: number
  /** Connections that failed, and answers that never came. */
  readonly broken: number
  readonly bytesPerRequest: number
}

/** What the load needs to know beside the case: the same for every round. */
export interface LoadFacts {
  readonly unknownSecret: string
  /** Given where the target answers 304 to it. */
  readonly etag?: string
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

const SCRIPTS: Partial<Record<Load['kind'], string>> = {
  updates: 'load/updates.lua',
  adjustments: 'load/adjustments.lua',
  orders: 'load/orders.lua',
  search: 'load/search.lua',
}

/** Longer than any peer takes for one list while others wait before it. */
const TIMEOUT = '60s'

/** Loads one target for the time of one round. `seed` is to be another one in every round. */
export async function measure(
  target: Target,
  running: RunningTarget,
  loadCase: Case,
  facts: LoadFacts,
  seed: number,
): Promise<Sample> {
  const command = wrkCommand(target, running, loadCase, facts, { seconds: loadCase.seconds, seed })
  return toSample(await run(command, import.meta.dir))
}

/** A target with the load that it is to bear. */
export interface Loaded {
  readonly target: Target
  readonly running: RunningTarget
  readonly loadCase: Case
  readonly facts: LoadFacts
}

/** So short that a slow second of the machine hits both alike. */
const TURN_MS = 50

/**
 * Loads two targets for the time of one round of each, in short turns: while it is the other's, a target and its load are
 * paused. Pauses are part of the times of some answers, so these mean nothing here; the number of answers does.
 */
export async function measureInTurns(first: Loaded, second: Loaded, seed: number): Promise<[Sample, Sample]> {
  const seconds = first.loadCase.seconds + second.loadCase.seconds
  const runs = [first, second].map(({ target, running, loadCase, facts }) => {
    const wrk = begin(wrkCommand(target, running, loadCase, facts, { seconds, seed }), import.meta.dir)
    wrk.pause()
    return { running, wrk, usedMs: 0, output: undefined as string | undefined }
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

/** What wrk printed, if it came to its end. */
async function oneTurn(running: RunningTarget, wrk: Command): Promise<string | undefined> {
  running.resume()
  wrk.resume()
  const output = await Promise.race([wrk.output, Bun.sleep(TURN_MS)])
  wrk.pause()
  running.pause()
  return output ?? undefined
}

/** What wrk printed, as figures. */
export function toSample(output: string): Sample {
  const line = /^RESULT (.*)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`wrk gave no result: ${output.slice(-1_000)}`)
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

/** The same load for a while, not counted: wrk knows whole seconds alone, so it is ended from here. */
export async function warmUp(
  target: Target,
  running: RunningTarget,
  loadCase: Case,
  facts: LoadFacts,
  milliseconds: number,
): Promise<void> {
  const seed = Date.now() % 1_000_000
  await endAfter(milliseconds, wrkCommand(target, running, loadCase, facts, { seconds: 60, seed }))
}

/** Runs a command for so long and no longer; what it prints is lost. */
export async function endAfter(milliseconds: number, command: string[]): Promise<void> {
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

function wrkCommand(
  target: Target,
  running: RunningTarget,
  { load, connections, pets }: Case,
  facts: LoadFacts,
  { seconds, seed }: { seconds: number; seed: number },
): string[] {
  const wrk = [...pinned(LOAD_CORE), 'wrk', '-t', '1', '-c', String(connections), '-d', `${seconds}s`]
  const script = SCRIPTS[load.kind] ?? 'load/same-request.lua'
  const command = [...wrk, '--timeout', TIMEOUT, '-s', script]
  const url = running.url + target.listPath

  if (load.kind === 'updates') {
    const lastPet = load.onePet ? 1 : pets
    const numbers = [1, lastPet, load.readPercent, seed].map(String)
    return [...command, url, '--', target.listPath, running.secrets.unlimited, ...numbers]
  }
  if (load.kind === 'adjustments') {
    const numbers = [pets, load.changes, seed].map(String)
    return [...command, url, '--', target.listPath, running.secrets.unlimited, ...numbers]
  }
  if (load.kind === 'orders') {
    const numbers = [1, load.onePet ? 1 : pets, 0, seed].map(String)
    return [...command, running.url, '--', ORDERS_PATH, running.secrets.unlimited, ...numbers]
  }
  if (load.kind === 'search') {
    return [
      ...command,
      running.url,
      '--',
      SEARCH_PATH,
      running.secrets.unlimited,
      String(seed),
      ...load.queries,
    ]
  }
  const secret = {
    list: running.secrets.unlimited,
    'unchanged-list': running.secrets.unlimited,
    'unknown-key': facts.unknownSecret,
    'used-up-key': running.secrets.free,
  }[load.kind]
  const condition = facts.etag === undefined ? [] : ['-H', `If-None-Match: ${facts.etag}`]
  return [...command, '-H', `Authorization: Bearer ${secret}`, ...condition, url]
}

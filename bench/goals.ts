import {
  type BenchResults,
  type CaseResult,
  type InstanceResult,
  isInstanceResult,
  type TargetResult,
} from './results.ts'
import type { Section } from './target.ts'

export interface Goal {
  readonly what: string
  readonly wanted: string
  readonly got: string
  readonly met: boolean
}

/** Ours relative to the best peer and to nginx. */
export interface Ratio {
  readonly name: string
  readonly title: string
  readonly bestPeer?: string
  readonly toPeer?: number
  readonly toNginx?: number
}

export function ratiosOf({ cases }: BenchResults): Ratio[] {
  return cases.flatMap((result) => {
    const own = oursIn(result)
    if (own === undefined) return []
    const peer = bestPeerIn(result)
    const nginx = result.results.find(({ target }) => target === 'nginx')
    return {
      name: result.name,
      title: result.title,
      ...(peer === undefined ? {} : { bestPeer: peer.label, toPeer: rate(own) / rate(peer) }),
      ...(nginx === undefined ? {} : { toNginx: rate(own) / rate(nginx) }),
    }
  })
}

/** docs/decisions/speed.md explains the goals. Goals that this run did not measure are left out. */
export function goalsOf(results: BenchResults): Goal[] {
  const ratios = new Map(ratiosOf(results).map((ratio) => [ratio.name, ratio]))
  const { cases, growth, slowDisk } = results
  const pets = growth?.largePets.toLocaleString('en-US')
  return [
    atLeast('list of 20: ours / best peer', ratios.get('list-20')?.toPeer, 1.8),
    atLeast('list of 20: ours / nginx', ratios.get('list-20')?.toNginx, 0.55),
    atLeast('list of 10,000: ours / best peer', ratios.get('list-10000')?.toPeer, 20),
    atLeast('list of 10,000: ours / nginx', ratios.get('list-10000')?.toNginx, 0.9),
    atLeast('updates, 64 connections: ours / best peer', ratios.get('updates')?.toPeer, 4.5),
    atMost('updates, 64 connections: our p99 / lowest p99 of a peer', updatesP99ToPeer(cases), 1, 'x'),
    atLeast('updates, 1 connection: ours / best peer', ratios.get('updates-one-connection')?.toPeer, 1),
    atLeast('adjustments, 64 connections: ours / best peer', ratios.get('adjustments')?.toPeer, 10),
    atLeast('adjustments, 64 connections: pets changed / by our updates', petsToUpdates(cases), 8),
    atLeast('orders, 64 connections: ours / best peer', ratios.get('orders')?.toPeer, 4),
    atLeast('401 flood, an unknown key: ours / best peer', ratios.get('unknown-key')?.toPeer, 1),
    atMost('search for a word at 1,000,000 pets: our p99', wordSearchP99Ms(cases, 'embedded'), 50, ' ms'),
    atMost('the same on PostgreSQL', wordSearchP99Ms(cases, 'postgres'), 50, ' ms'),
    atLeast('90/10 mix at 10,000: ours / best peer', ratios.get('mixed')?.toPeer, 10),
    atLeast('list of 20, PostgreSQL: ours / peer', ratios.get('postgres-list-20')?.toPeer, 1),
    atLeast('list of 10,000, PostgreSQL: ours / peer', ratios.get('postgres-list-10000')?.toPeer, 5),
    ...instanceGoals(cases.filter(isInstanceResult)),
    atLeast(`updates at ${pets} pets / at 1,000`, growth?.updates.ratio, 0.7),
    atMost(`start with ${pets} pets, to the first update on disk`, growth?.startSeconds, 3, ' s'),
    atMost(`resident memory with ${pets} pets, after updates`, growth?.memoryAfterUpdatesMb, 500, ' MB'),
    atLeast('lists/s during updates on a disk that flushes in 4 ms', slowDisk?.lists.median, 15_000, '/s'),
  ].filter((goal) => goal !== undefined)
}

function instanceGoals(results: readonly InstanceResult[]): (Goal | undefined)[] {
  const updates = results.filter(({ row }) => row.load === 'updates')
  const orders = results.filter(({ row }) => row.load === 'orders')
  const withCallers = (callers: number) => updates.filter(({ row }) => row.callers === callers)
  const delayedRate = (instances: number) => {
    const delayed = withCallers(256).filter(({ row }) => row.commitDelayMs > 0)
    const own = oursIn(delayed.find(({ row }) => row.instances === instances))
    return own === undefined ? Number.NaN : rate(own)
  }
  const fourToOne = delayedRate(4) / delayedRate(1)
  return [
    lowestAtLeast('updates, 64 callers, PostgreSQL: ours / peer', withCallers(64), toPeer, 1.5),
    lowestAtLeast('updates, 256 callers, PostgreSQL: ours / peer', withCallers(256), toPeer, 2),
    atLeast(
      'updates, 256 callers, commits + 3 ms: 4 instances / 1 instance',
      Number.isNaN(fourToOne) ? undefined : fourToOne,
      1.1,
    ),
    lowestAtLeast('updates, PostgreSQL: our slowest second / median second', updates, slowestSecond, 1 / 3),
    lowestAtLeast('orders, 64 callers, PostgreSQL: ours / peer', orders, toPeer, 2),
  ]
}

/** A goal for several rows, which reports the lowest figure. */
function lowestAtLeast(
  what: string,
  results: readonly InstanceResult[],
  figure: (result: InstanceResult) => number | undefined,
  wanted: number,
): Goal | undefined {
  const figures = results.flatMap((result) => {
    const got = figure(result)
    return got === undefined ? [] : { got, title: result.title }
  })
  const [lowest] = figures.toSorted((one, other) => one.got - other.got)
  if (lowest === undefined) return undefined
  return {
    what: `${what}, lowest of ${figures.length}`,
    wanted: `at least ${Number(wanted.toFixed(2))}x`,
    got: `${lowest.got.toFixed(2)}x (${lowest.title})`,
    met: lowest.got >= wanted,
  }
}

function atLeast(what: string, got: number | undefined, wanted: number, unit = 'x'): Goal | undefined {
  if (got === undefined) return undefined
  return { what, wanted: `at least ${wanted}${unit}`, got: `${got.toFixed(2)}${unit}`, met: got >= wanted }
}

function atMost(what: string, got: number | undefined, wanted: number, unit: string): Goal | undefined {
  if (got === undefined) return undefined
  return { what, wanted: `at most ${wanted}${unit}`, got: `${got.toFixed(2)}${unit}`, met: got <= wanted }
}

export function toPeer(result: CaseResult): number | undefined {
  const [own, peer] = [oursIn(result), bestPeerIn(result)]
  return own === undefined || peer === undefined ? undefined : rate(own) / rate(peer)
}

function slowestSecond(result: InstanceResult): number | undefined {
  return oursIn(result)?.bySecond?.slowestToMedian
}

function updatesP99ToPeer(cases: readonly CaseResult[]): number | undefined {
  const updates = caseNamed(cases, 'updates')
  const own = oursIn(updates)
  const peers = (updates?.results ?? []).filter(({ kind }) => kind === 'peer')
  if (own === undefined || peers.length === 0) return undefined
  return own.p99Ms.median / Math.min(...peers.map(({ p99Ms }) => p99Ms.median))
}

/** The slower of a common word and a rare word. */
function wordSearchP99Ms(cases: readonly CaseResult[], wanted: Section): number | undefined {
  const words = cases
    .filter(({ name, section }) => section === wanted && /search-\w+-word$/.test(name))
    .flatMap((result) => oursIn(result) ?? [])
  return words.length === 0 ? undefined : Math.max(...words.map(({ p99Ms }) => p99Ms.median))
}

/** Pets that ours changes by adjustments, relative to pets that it changes by single updates. */
function petsToUpdates(cases: readonly CaseResult[]): number | undefined {
  const adjustments = caseNamed(cases, 'adjustments')
  const [many, single] = [oursIn(adjustments), oursIn(caseNamed(cases, 'updates'))]
  if (many === undefined || single === undefined || adjustments?.petsEach === undefined) return undefined
  return (rate(many) * adjustments.petsEach) / rate(single)
}

function caseNamed(cases: readonly CaseResult[], wanted: string): CaseResult | undefined {
  return cases.find(({ name }) => name === wanted)
}

export function oursIn(result: CaseResult | undefined): TargetResult | undefined {
  return result?.results.find(({ kind }) => kind === 'ours')
}

export function bestPeerIn({ results }: CaseResult): TargetResult | undefined {
  return results.filter(({ kind }) => kind === 'peer').toSorted((a, b) => rate(b) - rate(a))[0]
}

export function rate({ requestsPerSecond }: TargetResult): number {
  return requestsPerSecond.median
}

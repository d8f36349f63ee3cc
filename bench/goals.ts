import { DELAY_MS } from './instance-rows.ts'
import {
  type BenchResults,
  type CaseResult,
  type GrowthResult,
  type InstanceResult,
  isInstanceResult,
  type TargetResult,
} from './results.ts'
import type { Section } from './target.ts'

/** With the largest store, whatever it does. */
const MAX_MEMORY_MB = 500

/** How ours stands in one case: against the best of the peers, and against nginx. */
export interface Ratio {
  readonly name: string
  readonly title: string
  readonly bestPeer?: string
  readonly toPeer?: number
  readonly toNginx?: number
}

export interface Goal {
  readonly what: string
  readonly wanted: string
  readonly got: string
  readonly met: boolean
}

export function ratiosOf({ cases }: BenchResults): Ratio[] {
  return cases.flatMap((result) => {
    const mine = oursIn(result)
    if (mine === undefined) return []
    const peer = bestPeer(result)
    const nginx = result.results.find(({ target }) => target === 'nginx')
    return {
      name: result.name,
      title: result.title,
      ...(peer === undefined ? {} : { bestPeer: peer.label, toPeer: rate(mine) / rate(peer) }),
      ...(nginx === undefined ? {} : { toNginx: rate(mine) / rate(nginx) }),
    }
  })
}

/**
 * The speed that is promised; docs/decisions/2026-11-16-goals.md says why so much and no more. What was not measured in
 * this run is left out.
 */
export function goalsOf(results: BenchResults): Goal[] {
  const ratios = new Map(ratiosOf(results).map((ratio) => [ratio.name, ratio]))
  const { cases, growth, slowDisk } = results
  return [
    atLeast('list of 20: ours / best peer', ratios.get('list-20')?.toPeer, 1.8),
    atLeast('list of 20: ours / nginx', ratios.get('list-20')?.toNginx, 0.55),
    atLeast('list of 10,000: ours / best peer', ratios.get('list-10000')?.toPeer, 20),
    atLeast('list of 10,000: ours / nginx', ratios.get('list-10000')?.toNginx, 0.9),
    atLeast('updates, 64 connections: ours / best peer', ratios.get('updates')?.toPeer, 4.5),
    atMost('updates, 64 connections: our p99 / lowest p99 of a peer', slowestUpdates(cases), 1, 'x'),
    atLeast('updates, 1 connection: ours / best peer', ratios.get('updates-one-connection')?.toPeer, 1),
    atLeast('adjustments, 64 connections: ours / best peer', ratios.get('adjustments')?.toPeer, 10),
    atLeast('adjustments, 64 connections: pets changed / by our updates', petsToUpdates(cases), 8),
    atLeast('orders, 64 connections: ours / best peer', ratios.get('orders')?.toPeer, 4),
    atMost('search for a word at 1,000,000 pets: our p99', slowestWord(cases, 'embedded'), 50, ' ms'),
    atMost('the same on PostgreSQL', slowestWord(cases, 'postgres'), 50, ' ms'),
    atLeast('90/10 mix at 10,000: ours / best peer', ratios.get('mixed')?.toPeer, 10),
    atLeast('list of 20, PostgreSQL: ours / peer', ratios.get('postgres-list-20')?.toPeer, 1),
    atLeast('list of 10,000, PostgreSQL: ours / peer', ratios.get('postgres-list-10000')?.toPeer, 5),
    ...instanceGoals(cases.filter(isInstanceResult)),
    ...growthGoals(growth),
    atLeast('lists/s beside updates on a disk that flushes in 4 ms', slowDisk?.lists.median, 15_000, '/s'),
  ].filter((goal) => goal !== undefined)
}

/** No second of a run may have fewer answers than this part of the median second. */
const SLOWEST_SECOND = 1 / 3

function instanceGoals(results: readonly InstanceResult[]): (Goal | undefined)[] {
  const updates = results.filter(({ row }) => row.load === 'updates')
  const orders = results.filter(({ row }) => row.load === 'orders')
  const ofCallers = (callers: number) => updates.filter(({ row }) => row.callers === callers)
  const delayed = ofCallers(256).filter(({ row }) => row.commitDelayMs === DELAY_MS)
  const rateOf = (instances: number) => {
    const mine = oursIn(delayed.find(({ row }) => row.instances === instances))
    return mine === undefined ? undefined : rate(mine)
  }
  const [one, four] = [rateOf(1), rateOf(4)]
  return [
    lowest('updates, 64 callers, PostgreSQL: ours / peer', ofCallers(64), toPeer, 1.5),
    lowest('updates, 256 callers, PostgreSQL: ours / peer', ofCallers(256), toPeer, 2),
    atLeast(
      `updates, 256 callers, commits + ${DELAY_MS} ms: 4 instances / 1 instance`,
      one === undefined || four === undefined ? undefined : four / one,
      1.1,
    ),
    lowest('updates, PostgreSQL: our slowest second / median second', updates, slowestSecond, SLOWEST_SECOND),
    lowest('orders, 64 callers, PostgreSQL: ours / peer', orders, toPeer, 2),
  ]
}

/** Asked of every row: the one that is furthest from it is shown. */
function lowest(
  what: string,
  results: readonly InstanceResult[],
  figure: (result: InstanceResult) => number | undefined,
  wanted: number,
): Goal | undefined {
  const figures = results.flatMap((result) => {
    const got = figure(result)
    return got === undefined ? [] : { got, title: result.title }
  })
  const [worst] = figures.toSorted((one, other) => one.got - other.got)
  if (worst === undefined) return undefined
  return {
    what: `${what}, lowest of ${figures.length}`,
    wanted: `at least ${Number(wanted.toFixed(2))}x`,
    got: `${worst.got.toFixed(2)}x (${worst.title})`,
    met: worst.got >= wanted,
  }
}

function toPeer(result: InstanceResult): number | undefined {
  const [mine, peer] = [oursIn(result), bestPeer(result)]
  return mine === undefined || peer === undefined ? undefined : rate(mine) / rate(peer)
}

function slowestSecond(result: InstanceResult): number | undefined {
  return oursIn(result)?.bySecond?.slowestToMedian
}

function growthGoals(growth: GrowthResult | undefined): (Goal | undefined)[] {
  if (growth === undefined) return []
  const pets = growth.largePets.toLocaleString('en-US')
  return [
    atLeast('If-None-Match at 10,000 / list of 20', growth.lists.ratio, 1),
    atLeast(
      `updates at ${pets} pets / at ${growth.smallPets.toLocaleString('en-US')}`,
      growth.updates.ratio,
      0.7,
    ),
    atMost(`start with ${pets} pets, to the first update on disk`, growth.startSeconds, 3, ' s'),
    atMost(
      `resident memory with ${pets} pets, after updates`,
      growth.memoryAfterUpdatesMb,
      MAX_MEMORY_MB,
      ' MB',
    ),
    readersGoal(growth),
  ]
}

function readersGoal({ largePets, listWhileUpdating }: GrowthResult): Goal {
  const { readers, entries, seconds, updates, memoryPeakMb } = listWhileUpdating
  return {
    what: `${readers} readers of ${largePets.toLocaleString('en-US')} pets while updates go on`,
    wanted: `whole lists, updates meanwhile, memory under ${MAX_MEMORY_MB} MB`,
    got:
      `${entries.toLocaleString('en-US')} entries each in ${seconds.toFixed(1)} s, ` +
      `${updates.toLocaleString('en-US')} updates, ${Math.round(memoryPeakMb)} MB`,
    met: entries === largePets && updates > 0 && memoryPeakMb < MAX_MEMORY_MB,
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

function slowestUpdates(cases: readonly CaseResult[]): number | undefined {
  const updates = caseNamed(cases, 'updates')
  const mine = oursIn(updates)
  const peers = (updates?.results ?? []).filter(({ kind }) => kind === 'peer')
  if (mine === undefined || peers.length === 0) return undefined
  return mine.p99Ms.median / Math.min(...peers.map(({ p99Ms }) => p99Ms.median))
}

/** Of words that many have and that few have. */
function slowestWord(cases: readonly CaseResult[], wanted: Section): number | undefined {
  const words = cases
    .filter(({ name, section }) => section === wanted && /search-\w+-word$/.test(name))
    .flatMap((one) => oursIn(one) ?? [])
  return words.length === 0 ? undefined : Math.max(...words.map(({ p99Ms }) => p99Ms.median))
}

/** Pets that ours changes with adjustments, to those that it changes one by one. */
function petsToUpdates(cases: readonly CaseResult[]): number | undefined {
  const adjustments = caseNamed(cases, 'adjustments')
  const [many, single] = [oursIn(adjustments), oursIn(caseNamed(cases, 'updates'))]
  if (many === undefined || single === undefined || adjustments?.petsEach === undefined) return undefined
  return (rate(many) * adjustments.petsEach) / rate(single)
}

function caseNamed(cases: readonly CaseResult[], wanted: string): CaseResult | undefined {
  return cases.find(({ name }) => name === wanted)
}

function oursIn(result: CaseResult | undefined): TargetResult | undefined {
  return result?.results.find(({ kind }) => kind === 'ours')
}

function bestPeer({ results }: CaseResult): TargetResult | undefined {
  return results.filter(({ kind }) => kind === 'peer').toSorted((a, b) => rate(b) - rate(a))[0]
}

function rate({ requestsPerSecond }: TargetResult): number {
  return requestsPerSecond.median
}

import { FAIRNESS_SECONDS } from './fairness.ts'
import type { Pace } from './pace.ts'

/** The name of the section on the command line. */
export const INSTANCES = 'instances'
/** And that of its rows with orders alone. */
export const INSTANCE_ORDERS = 'instances-orders'
export const INSTANCE_PETS = 10_000
/** What a standby that has to confirm each commit costs, about. */
export const DELAY_MS = 3

/** What callers send, and what it is called. */
export const INSTANCE_LOADS = {
  updates: 'updates',
  orders: 'orders',
  'orders-one-pet': 'orders of one pet',
} as const

/** Requests from so many callers, spread over so many instances, with commits that take so much longer. */
export interface InstanceRow {
  readonly load: keyof typeof INSTANCE_LOADS
  readonly instances: number
  readonly callers: number
  readonly commitDelayMs: number
}

/** In the order in which they are run: instances are only ever added, and the delay is set as seldom as can be. */
export const INSTANCE_ROWS: readonly InstanceRow[] = [1, 2, 4].flatMap((instances) => [
  ...[0, DELAY_MS].flatMap((commitDelayMs) =>
    [64, 256].map((callers) => ({ load: 'updates' as const, instances, callers, commitDelayMs })),
  ),
  ...ordersOn(instances),
])

/** Orders on one instance and on two, and on two of one pet alone. */
function ordersOn(instances: number): InstanceRow[] {
  const orders = { load: 'orders', instances, callers: 64, commitDelayMs: 0 } as const
  if (instances > 2) return []
  return instances === 1 ? [orders] : [orders, { ...orders, load: 'orders-one-pet' }]
}

/** For a quick run of everything. */
export const FEW_INSTANCE_ROWS = INSTANCE_ROWS.filter(({ load, instances, callers }) =>
  load === 'updates' ? instances !== 2 && callers === 256 : load === 'orders' && instances === 1,
)

interface InstancePace {
  readonly rounds: number
  readonly seconds: number
  /** After instances were started. */
  readonly firstWarmUpMs: number
  readonly warmUpMs: number
  /** A database with its data, and the instances of one target that are started at once. */
  readonly startSeconds: number
}

export const INSTANCE_PACE: Readonly<Record<Pace['mode'], InstancePace>> = {
  full: { rounds: 2, seconds: 3, firstWarmUpMs: 3_500, warmUpMs: 500, startSeconds: 1 },
  quick: { rounds: 1, seconds: 2, firstWarmUpMs: 1_000, warmUpMs: 300, startSeconds: 1 },
}

export function nameOf({ load, instances, callers, commitDelayMs }: InstanceRow): string {
  const what = load === 'updates' ? '' : `-${load}`
  return `${INSTANCES}-${instances}-${callers}${commitDelayMs === 0 ? '' : '-delayed'}${what}`
}

export function titleOf({ load, instances, callers, commitDelayMs }: InstanceRow): string {
  const delay = commitDelayMs === 0 ? '' : `, commits + ${commitDelayMs} ms`
  return `${INSTANCE_LOADS[load]}, ${instances} instance${instances === 1 ? '' : 's'}, ${callers} callers${delay}`
}

/** As they are reported: updates before orders, commits as they are first, few callers first, and the instances side by side. */
export function inOrderOfReport(one: InstanceRow, other: InstanceRow): number {
  const loads = Object.keys(INSTANCE_LOADS)
  return (
    loads.indexOf(one.load) - loads.indexOf(other.load) ||
    one.commitDelayMs - other.commitDelayMs ||
    one.callers - other.callers ||
    one.instances - other.instances
  )
}

/** What it takes in all, about. */
export function instancesSeconds(rows: readonly InstanceRow[], targets: number, { mode }: Pace): number {
  const { rounds, seconds, firstWarmUpMs, warmUpMs, startSeconds } = INSTANCE_PACE[mode]
  const starts = new Set(rows.map(({ instances }) => instances)).size
  const fairness = rows.filter(({ load }) => load === 'orders-one-pet').length
  const warmUps = (starts * firstWarmUpMs + (rows.length - starts) * warmUpMs) / 1000
  return (
    targets * (starts * startSeconds + warmUps + rows.length * rounds * seconds + fairness * FAIRNESS_SECONDS)
  )
}

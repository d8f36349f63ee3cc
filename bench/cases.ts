import { SEARCHES } from './catalogue.ts'
import type { Section, Target } from './target.ts'

export type Load =
  | { readonly kind: 'list' }
  | { readonly kind: 'updates'; readonly readPercent: number }
  | { readonly kind: 'adjustments'; readonly changes: number }
  /** Of one unit each. */
  | { readonly kind: 'orders' }
  /** The first hundred results of each query, one search after the other. */
  | { readonly kind: 'search'; readonly queries: readonly string[] }
  /** A flood of requests that are answered with 401. */
  | { readonly kind: 'unknown-key' }

/** How a target is loaded. */
export interface LoadPlan {
  readonly title: string
  /**
   * Few for the long lists: a Node peer flushes no response before it has processed all waiting requests, so a short
   * round would count too little for it.
   */
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly load: Load
}

export interface Case extends LoadPlan {
  readonly name: string
  readonly section: Section
  readonly pets: number
  /** Another case that a goal compares with this one; `--only` runs both. */
  readonly comparedWith?: string
  /** Before the rounds of a full run, for all targets alike. */
  readonly warmUpMs?: number
  readonly onlyInFull?: true
}

/** How long a run warms up and measures. A quick run shows that everything works; its figures prove nothing. */
export interface Pace {
  readonly mode: 'full' | 'quick'
  /** Before the first case of a store: Node and Bun take some seconds on one core to get up to speed. */
  readonly firstWarmUpMs: number
  readonly warmUpMs: number
  /** The pets of the large store in the growth comparison. */
  readonly largestStore: number
}

export const FULL: Pace = { mode: 'full', firstWarmUpMs: 5_500, warmUpMs: 1_000, largestStore: 1_000_000 }
export const QUICK: Pace = { mode: 'quick', firstWarmUpMs: 1_000, warmUpMs: 500, largestStore: 100_000 }

export const UPDATES = { kind: 'updates', readPercent: 0 } as const

/** No goal depends on these lists, so they get a short warm-up and few rounds. */
const WITHOUT_GOALS = { warmUpMs: 1_500, rounds: 2, onlyInFull: true } as const
/** Bun takes seconds to get up to speed with each kind of write. */
const WRITES_WARM_UP_MS = 3_000

const EMBEDDED: readonly Omit<Case, 'section'>[] = [
  list(20, { connections: 64, seconds: 1, rounds: 4 }),
  list(1_000, { connections: 16, seconds: 1, ...WITHOUT_GOALS }),
  list(10_000, { connections: 8, seconds: 2, rounds: 3 }),
  list(100_000, { connections: 2, seconds: 2, ...WITHOUT_GOALS }),
  {
    name: 'updates',
    title: 'updates, 64 connections',
    pets: 10_000,
    load: UPDATES,
    connections: 64,
    warmUpMs: WRITES_WARM_UP_MS,
    seconds: 1,
    rounds: 6,
  },
  {
    name: 'updates-one-connection',
    title: 'updates, 1 connection',
    pets: 10_000,
    load: UPDATES,
    connections: 1,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'adjustments',
    title: 'adjustments of 100 pets, 64 connections',
    pets: 10_000,
    load: { kind: 'adjustments', changes: 100 },
    comparedWith: 'updates',
    connections: 64,
    warmUpMs: WRITES_WARM_UP_MS,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'mixed',
    title: '90 % lists of 10,000, 10 % updates',
    pets: 10_000,
    load: { kind: 'updates', readPercent: 90 },
    connections: 16,
    seconds: 2,
    rounds: 3,
  },
  {
    name: 'orders',
    title: 'orders, 64 connections',
    pets: 10_000,
    load: { kind: 'orders' },
    connections: 64,
    warmUpMs: WRITES_WARM_UP_MS,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'unknown-key',
    title: '401 flood, an unknown key',
    pets: 20,
    onlyInFull: true,
    load: { kind: 'unknown-key' },
    connections: 64,
    seconds: 1,
    rounds: 2,
  },
  ...searches(),
]

/** instances.ts measures updates and orders on PostgreSQL. */
const ON_POSTGRES: readonly Omit<Case, 'section'>[] = [
  onPostgres(list(20, { connections: 64, seconds: 1, rounds: 4 })),
  onPostgres(list(10_000, { connections: 8, seconds: 2, rounds: 3 })),
  ...searches().map(onPostgres),
]

/** In the order of the report. The cases of a store run in this order, lists before updates. */
export const CASES: readonly Case[] = [
  ...EMBEDDED.map((loadCase) => ({ ...loadCase, section: 'embedded' as const })),
  ...ON_POSTGRES.map((loadCase) => ({ ...loadCase, section: 'postgres' as const })),
]

export function takesPart(target: Target, { load, section }: Case): boolean {
  return target.section === section && target.loads.includes(load.kind)
}

/** The cases of a store run together, on targets that are started once. */
export function storesOf(cases: readonly Case[]): (readonly Case[])[] {
  return [...Map.groupBy(cases, ({ section, pets }) => `${section}-${pets}`).values()]
}

type Effort = Pick<Case, 'connections' | 'seconds' | 'rounds' | 'warmUpMs' | 'onlyInFull'>

function list(pets: number, effort: Effort): Omit<Case, 'section'> {
  return {
    name: `list-${pets}`,
    title: `list of ${pets.toLocaleString('en-US')}`,
    pets,
    load: { kind: 'list' },
    ...effort,
  }
}

/** On one connection: the question is how long a caller waits. */
function searches(): Omit<Case, 'section'>[] {
  const kinds = [
    { name: 'common-word', title: 'for a word that 5 % have', queries: SEARCHES.commonWord },
    { name: 'rare-word', title: 'for a word that 1 % have', queries: SEARCHES.rareWord },
    { name: 'category', title: 'by category', queries: SEARCHES.category },
    { name: 'low', title: 'for low stock', queries: SEARCHES.low },
  ]
  return kinds.map(({ name, title, queries }) => ({
    name: `search-${name}`,
    title: `search ${title}`,
    pets: 1_000_000,
    onlyInFull: true,
    load: { kind: 'search', queries },
    connections: 1,
    warmUpMs: 2_000,
    seconds: 2,
    rounds: 3,
  }))
}

function onPostgres(loadCase: Omit<Case, 'section'>): Omit<Case, 'section'> {
  return { ...loadCase, name: `postgres-${loadCase.name}`, title: `${loadCase.title}, PostgreSQL` }
}

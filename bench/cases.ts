import { SEARCHES } from './catalogue.ts'
import type { Section, Target } from './target.ts'

export type Load =
  | { readonly kind: 'list' }
  | { readonly kind: 'unchanged-list' }
  | { readonly kind: 'updates'; readonly onePet: boolean; readonly readPercent: number }
  | { readonly kind: 'adjustments'; readonly changes: number }
  | OrderLoad
  | SearchLoad
  | { readonly kind: 'unknown-key' }
  | { readonly kind: 'used-up-key' }

/** Of one piece each. */
export interface OrderLoad {
  readonly kind: 'orders'
  readonly onePet: boolean
}

/** The first hundred that each finds, one search after the other. */
export interface SearchLoad {
  readonly kind: 'search'
  readonly queries: readonly string[]
}

export interface Case {
  readonly name: string
  readonly title: string
  readonly section: Section
  readonly pets: number
  /**
   * Few for the long lists: a Node peer answers nobody before it has worked through all that wait, and a
   * round that ends meanwhile would count too little for it.
   */
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly load: Load
  /** A case that a goal compares it with: whoever asks for this one gets both. */
  readonly beside?: string
  /** Before the rounds of a full run, for each target alike; else the pace decides. */
  readonly warmUpMs?: number
  /** Left out of a quick run. */
  readonly onlyInFull?: true
}

const spread = { kind: 'updates', onePet: false, readPercent: 0 } as const
const onePet = { kind: 'updates', onePet: true, readPercent: 0 } as const
const mixed = { kind: 'updates', onePet: false, readPercent: 90 } as const

/** Nothing is promised for the list of these sizes: a shorter warm-up, and fewer rounds, cost least here. */
const asideFromGoals = { warmUpMs: 1_500, rounds: 2, onlyInFull: true } as const
/** Bun takes seconds to get up to speed with these as well, whatever it did before. */
const updatesWarmUpMs = 3_000

const EMBEDDED: readonly Omit<Case, 'section'>[] = [
  list(20, { connections: 64, seconds: 1, rounds: 4 }),
  list(1_000, { connections: 16, seconds: 1, ...asideFromGoals }),
  list(10_000, { connections: 8, seconds: 2, rounds: 3 }),
  list(100_000, { connections: 2, seconds: 2, ...asideFromGoals }),
  {
    name: 'unchanged-list',
    title: 'list of 10,000, If-None-Match',
    pets: 10_000,
    load: { kind: 'unchanged-list' },
    connections: 64,
    seconds: 1,
    rounds: 4,
  },
  {
    name: 'updates',
    title: 'updates, 64 connections',
    pets: 10_000,
    load: spread,
    connections: 64,
    warmUpMs: updatesWarmUpMs,
    seconds: 1,
    rounds: 6,
  },
  {
    name: 'updates-one-connection',
    title: 'updates, 1 connection',
    pets: 10_000,
    load: spread,
    connections: 1,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'adjustments',
    title: 'adjustments of 100 pets, 64 connections',
    pets: 10_000,
    load: { kind: 'adjustments', changes: 100 },
    beside: 'updates',
    connections: 64,
    warmUpMs: updatesWarmUpMs,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'updates-one-pet',
    title: 'updates of one pet, 64 connections',
    pets: 10_000,
    onlyInFull: true,
    load: onePet,
    connections: 64,
    seconds: 1,
    rounds: 2,
  },
  {
    name: 'mixed',
    title: '90 % lists of 10,000, 10 % updates',
    pets: 10_000,
    load: mixed,
    connections: 16,
    seconds: 2,
    rounds: 3,
  },
  {
    name: 'orders',
    title: 'orders, 64 connections',
    pets: 10_000,
    load: { kind: 'orders', onePet: false },
    connections: 64,
    warmUpMs: updatesWarmUpMs,
    seconds: 1,
    rounds: 5,
  },
  {
    name: 'orders-one-pet',
    title: 'orders of one pet, 64 connections',
    pets: 10_000,
    load: { kind: 'orders', onePet: true },
    connections: 64,
    seconds: 1,
    rounds: 2,
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
  {
    name: 'used-up-key',
    title: '429 flood, a used-up Free key',
    pets: 20,
    onlyInFull: true,
    load: { kind: 'used-up-key' },
    connections: 64,
    seconds: 1,
    rounds: 2,
  },
  ...searches(),
]

/** Updates and orders on PostgreSQL are those of several instances, which instances.ts measures. */
const ON_POSTGRES: readonly Omit<Case, 'section'>[] = [
  onPostgres(list(20, { connections: 64, seconds: 1, rounds: 4 })),
  onPostgres(list(10_000, { connections: 8, seconds: 2, rounds: 3 })),
  ...searches().map(onPostgres),
]

/** In the order in which they are reported; a store's cases are run in this order, lists before updates. */
export const CASES: readonly Case[] = [
  ...EMBEDDED.map((loadCase) => ({ ...loadCase, section: 'embedded' as const })),
  ...ON_POSTGRES.map((loadCase) => ({ ...loadCase, section: 'postgres' as const })),
]

/** Whether the target can take part at all; who answers 304 shows only when asked. */
export function takesPart(target: Target, { load, section }: Case): boolean {
  if (target.section !== section) return false
  switch (load.kind) {
    case 'list':
    case 'unchanged-list':
      return true
    case 'updates':
      return target.takesUpdates
    case 'adjustments':
      return target.takesAdjustments
    case 'orders':
      return target.takesOrders
    case 'search':
      return target.takesSearches
    case 'unknown-key':
    case 'used-up-key':
      return target.checksKeys
  }
}

/** Whether each caller is looked at as well: all want the same. */
export function hasFairness({ load }: Case): boolean {
  return load.kind === 'orders' && load.onePet
}

/** The cases of one store are run together, on targets that are started once. */
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

/** On one connection: what is asked is how long one caller waits. */
function searches(): Omit<Case, 'section'>[] {
  const kinds = [
    { name: 'common-word', title: 'for a word that 5 % have', queries: SEARCHES.commonWord },
    { name: 'rare-word', title: 'for a word that 1 % have', queries: SEARCHES.rareWord },
    { name: 'category', title: 'by category', queries: SEARCHES.category },
    { name: 'low', title: 'for what runs low', queries: SEARCHES.low },
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

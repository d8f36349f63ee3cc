import { BOTH_CORES, SERVER_CORE } from './processes.ts'

export type Load =
  | { readonly kind: 'list' }
  | { readonly kind: 'updates'; readonly readPercent: number }
  | { readonly kind: 'adjustments'; readonly changes: number }
  /** Of one unit each, of all pets or of pet 1 alone. */
  | { readonly kind: 'orders'; readonly onePet: boolean }
  /** Orders of three pets, drawn at random. */
  | { readonly kind: 'baskets' }
  /** A flood of requests that are answered with 401. */
  | { readonly kind: 'unknown-key' }

/** The cases of one store run on the same processes, which are started once. */
export interface StoreOptions {
  readonly database: 'sqlite' | 'postgres'
  readonly pets: number
  /** More than one only on PostgreSQL. */
  readonly instances: number
  /** The cores of the instances and of PostgreSQL. */
  readonly cores: string
}

export interface Case {
  readonly name: string
  readonly title: string
  readonly store: StoreOptions
  readonly load: Load
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
  readonly warmUpMs: number
  /** How long PostgreSQL waits before it flushes a commit, in milliseconds. */
  readonly commitDelayMs: number
  /** The wanted ratio to the best peer. docs/performance.md explains the ones that are missed. */
  readonly goal?: number
}

/** Before the first case of a store: Node and Bun take some seconds on one core to get up to speed. */
export const FIRST_WARM_UP_MS = 5_500
const LIST_WARM_UP_MS = 1_000
/** Bun takes seconds to get up to speed with each kind of write. */
const WRITES_WARM_UP_MS = 3_000
/** The approximate cost of a synchronous standby. */
const COMMIT_DELAY_MS = 3

const UPDATES: Load = { kind: 'updates', readPercent: 0 }
/** The loads on several instances, by the titles of their cases. */
const SHARED_LOADS = {
  updates: UPDATES,
  orders: { kind: 'orders', onePet: false },
  'orders of one pet': { kind: 'orders', onePet: true },
  'orders of 3 lines': { kind: 'baskets' },
} as const satisfies Record<string, Load>

/** In the order of the report. */
export const CASES: readonly Case[] = [
  ...lists(sqlite),
  onSqlite('updates', 'updates, 64 connections', { load: UPDATES, rounds: 6, goal: 4.5 }),
  onSqlite('updates-one-connection', 'updates, 1 connection', { load: UPDATES, connections: 1, goal: 1 }),
  onSqlite('adjustments-20', 'adjustments of 20 pets, 64 connections', {
    load: { kind: 'adjustments', changes: 20 },
    goal: 4,
  }),
  onSqlite('adjustments', 'adjustments of 100 pets, 64 connections', {
    load: { kind: 'adjustments', changes: 100 },
    goal: 10,
  }),
  onSqlite('mixed', '90 % lists of 10,000, 10 % updates', {
    load: { kind: 'updates', readPercent: 90 },
    connections: 16,
    seconds: 2,
    rounds: 3,
    goal: 10,
  }),
  onSqlite('orders', 'orders, 64 connections', { load: SHARED_LOADS.orders, goal: 4 }),
  onSqlite('baskets', 'orders of 3 lines, 64 connections', { load: { kind: 'baskets' }, goal: 4 }),
  onSqlite('unknown-key', '401 flood, an unknown key', { load: { kind: 'unknown-key' }, rounds: 2, goal: 1 }),
  ...lists(postgres),
  ...[0, COMMIT_DELAY_MS].flatMap((commitDelayMs) =>
    [64, 256].flatMap((callers) =>
      [1, 2, 4].map((instances) => severalInstances('updates', { instances, callers, commitDelayMs })),
    ),
  ),
  severalInstances('orders', { instances: 1 }),
  severalInstances('orders', { instances: 2 }),
  severalInstances('orders of one pet', { instances: 2 }),
  ...[0, COMMIT_DELAY_MS].flatMap((commitDelayMs) =>
    [1, 2, 4].map((instances) => severalInstances('orders of 3 lines', { instances, commitDelayMs })),
  ),
]

/** The cases of a store run together: lists before updates, and orders last. */
export function casesByStore(cases: readonly Case[]): (readonly Case[])[] {
  return [...Map.groupBy(cases, ({ store }) => JSON.stringify(store)).values()]
}

function sqlite(pets: number): StoreOptions {
  return { database: 'sqlite', pets, instances: 1, cores: SERVER_CORE }
}

function postgres(pets: number): StoreOptions {
  return { ...sqlite(pets), database: 'postgres' }
}

/**
 * On few connections if the lists are long: a Node peer flushes no response before it has processed all waiting
 * requests, so a short round would count too little for it.
 */
function lists(storeOf: (pets: number) => StoreOptions): Case[] {
  const isSqlite = storeOf(0).database === 'sqlite'
  const list = (pets: number, connections: number, goal?: number): Case => ({
    name: isSqlite ? `list-${pets}` : `postgres-list-${pets}`,
    title: `list of ${pets.toLocaleString('en-US')}${isSqlite ? '' : ', PostgreSQL'}`,
    store: storeOf(pets),
    load: { kind: 'list' },
    connections,
    seconds: pets < 10_000 ? 1 : 2,
    rounds: 3,
    warmUpMs: LIST_WARM_UP_MS,
    commitDelayMs: 0,
    ...(goal === undefined ? {} : { goal }),
  })
  return isSqlite
    ? [list(20, 64, 1.8), list(1_000, 16), list(10_000, 8, 20), list(100_000, 2)]
    : [list(20, 64, 1), list(10_000, 8, 5)]
}

function onSqlite(name: string, title: string, options: Partial<Case> & { readonly load: Load }): Case {
  return {
    name,
    title,
    store: sqlite(10_000),
    connections: 64,
    seconds: 1,
    rounds: 5,
    warmUpMs: WRITES_WARM_UP_MS,
    commitDelayMs: 0,
    ...options,
  }
}

/** Instances, PostgreSQL and wrk share two cores. */
function severalInstances(
  title: keyof typeof SHARED_LOADS,
  { instances = 1, callers = 64, commitDelayMs = 0 },
): Case {
  const suffix = title === 'updates' ? '' : `-${title.replaceAll(' ', '-')}`
  const count = `${instances} instance${instances === 1 ? '' : 's'}`
  const delay = commitDelayMs === 0 ? '' : `, commits + ${commitDelayMs} ms`
  return {
    name: `instances-${instances}-${callers}${commitDelayMs === 0 ? '' : '-delayed'}${suffix}`,
    title: `${title}, PostgreSQL, ${count}, ${callers} callers${delay}`,
    store: { database: 'postgres', pets: 10_000, instances, cores: BOTH_CORES },
    load: SHARED_LOADS[title],
    connections: callers,
    seconds: 3,
    rounds: 2,
    warmUpMs: LIST_WARM_UP_MS,
    commitDelayMs,
    goal: (title === 'updates' && callers === 64) || title === 'orders of 3 lines' ? 1.5 : 2,
  }
}

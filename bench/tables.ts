import { count, table } from './format.ts'
import { bestPeerIn, goalsOf, oursIn, rate, ratiosOf } from './goals.ts'
import type { BenchResults } from './results.ts'

const TITLES = {
  'list-20': 'list of 20 pets',
  'list-1000': 'list of 1,000 pets',
  'list-10000': 'list of 10,000 pets',
  'list-100000': 'list of 100,000 pets',
  updates: 'updates on disk, 64 connections',
  'updates-one-connection': 'updates on disk, 1 connection',
  orders: 'orders on disk, 64 connections',
  adjustments: 'adjustments of 100 pets',
  mixed: '90 % lists of 10,000 pets, 10 % updates',
  'postgres-list-20': 'list of 20 pets, PostgreSQL',
  'postgres-list-10000': 'list of 10,000 pets, PostgreSQL',
  'instances-2-256': 'updates, PostgreSQL, 256 callers, 2 instances on 2 cores',
} as const

const README_CASES = [
  'list-20',
  'list-10000',
  'updates',
  'orders',
  'postgres-list-20',
  'instances-2-256',
] as const

/** The Performance table of README.md. */
export function readmeTable(results: BenchResults): string {
  return table(
    ['case', 'ours', 'relative to the peer'],
    README_CASES.map((name) => {
      const { own, toPeer } = figuresOf(results, name)
      return [TITLES[name], own, toPeer]
    }),
  )
}

/** The first table of docs/performance.md. */
export function casesTable(results: BenchResults): string {
  return table(
    ['case', 'ours', 'best peer', 'ours / peer', 'ours / nginx'],
    Object.entries(TITLES).map(([name, title]) => {
      const { own, peer, toPeer, toNginx } = figuresOf(results, name)
      return [title, own, peer, toPeer, toNginx]
    }),
  )
}

/** The table of docs/performance.md about several instances. */
export function instancesTable(results: BenchResults): string {
  const rows = ['', '-delayed'].flatMap((delay) =>
    [64, 256].map((callers) => [
      `${callers} callers${delay === '' ? '' : ', commits 3 ms slower'}`,
      ...[1, 2, 4].map((instances) => figuresOf(results, `instances-${instances}-${callers}${delay}`).toPeer),
    ]),
  )
  return table(['', '1 instance', '2 instances', '4 instances'], rows)
}

/** The first three columns of the missed goals in docs/performance.md; the last column is written by hand. */
export function missedGoals(results: BenchResults): string[] {
  return goalsOf(results)
    .filter(({ met }) => !met)
    .map(({ what, wanted, got }) => `| ${what} | ${wanted} | ${got} |`)
}

function figuresOf(results: BenchResults, name: string) {
  const result = results.cases.find((each) => each.name === name)
  const [own, peer] = [oursIn(result), result && bestPeerIn(result)]
  const ratio = ratiosOf(results).find((each) => each.name === name)
  if (own === undefined || peer === undefined || ratio?.toPeer === undefined) {
    throw new Error(`the results have no comparison with a peer for the case ${name}`)
  }
  const { toPeer, toNginx } = ratio
  return {
    own: count(rate(own)),
    peer: count(rate(peer)),
    toPeer: `${toPeer < 10 ? toPeer.toFixed(1) : Math.round(toPeer)}x`,
    toNginx: toNginx === undefined ? '-' : `${toNginx.toFixed(2)}x`,
  }
}

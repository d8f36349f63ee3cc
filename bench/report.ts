import { count, milliseconds, table, times, withSpread } from './format.ts'
import { bestPeerIn, goalsOf, oursIn, ratiosOf, toPeer } from './goals.ts'
import {
  type BenchResults,
  type CaseResult,
  type GrowthResult,
  isInstanceResult,
  type SlowDiskResult,
  type TargetResult,
} from './results.ts'
import type { Section } from './target.ts'

const SECTIONS: readonly { section: Section; title: string; explanation: string }[] = [
  {
    section: 'embedded',
    title: 'Embedded database',
    explanation: [
      'Ours and the peers on SQLite with synchronous=FULL. nginx and the bare Bun.serve are ceilings, not peers: they',
      'check nothing and cannot be changed.',
    ].join('\n'),
  },
  {
    section: 'postgres',
    title: 'PostgreSQL',
    explanation: [
      'One PostgreSQL with its default settings, so that each commit is on disk, and a database per target. It shares',
      'the core of the server. The peer sends one statement per request.',
    ].join('\n'),
  },
  {
    section: 'instances',
    title: 'Several instances on PostgreSQL',
    explanation: [
      'Updates and orders of 10,000 random pets, or orders of one pet. The callers are spread evenly over the instances.',
      'The peer has as many instances and connections to PostgreSQL. Instances, PostgreSQL and wrk share two cores. The',
      'delay is the `commit_delay` of PostgreSQL; in brackets is the duration of a single commit. The slowest second is',
      'the second with the fewest responses in all rounds, relative to the median second. After each round every',
      'instance must list the content of the database with the acknowledged quantities, reserved units must match the',
      'orders, and PostgreSQL must have seen no deadlock.',
    ].join('\n'),
  },
]

/** The content of results.md. */
export function toMarkdown(results: BenchResults): string {
  return [
    '# Results',
    introduction(results),
    summary(results),
    ...SECTIONS.flatMap(({ section, title, explanation }) => {
      const cases = results.cases.filter((result) => result.section === section)
      if (cases.length === 0) return []
      const figures = section === 'instances' ? [instancesTable(cases)] : cases.flatMap(caseSection)
      return [`## ${title}`, explanation, ...figures]
    }),
    ...(results.growth === undefined ? [] : growthSection(results.growth)),
    ...(results.slowDisk === undefined ? [] : slowDiskSection(results.slowDisk)),
    '## Environment',
    table(['', ''], Object.entries(results.environment)),
    '',
  ].join('\n\n')
}

/** Goals and ratios. */
export function summary(results: BenchResults): string {
  return [
    '## Goals',
    table(
      ['goal', 'wanted', 'got', 'met'],
      goalsOf(results).map(({ what, wanted, got, met }) => [what, wanted, got, met ? 'yes' : '**no**']),
    ),
    '## Ratios',
    'Ours relative to the best peer, and to nginx with a static file of the same bytes.',
    table(
      ['case', 'best peer', 'ours / best peer', 'ours / nginx'],
      ratiosOf(results).map(({ title, bestPeer = '-', toPeer, toNginx }) => [
        title,
        bestPeer,
        times(toPeer),
        times(toNginx),
      ]),
    ),
  ].join('\n\n')
}

function introduction({ mode, seconds }: BenchResults): string {
  const figures =
    mode === 'full'
      ? 'Medians of several alternating rounds; in brackets the lowest and the highest round.'
      : 'A quick run with one short round of each case. It shows that everything works; its figures prove nothing.'
  return [
    `${figures} The run took ${Math.round(seconds)} s.`,
    'The server is pinned to one core and wrk to another, unless stated otherwise. Targets that are not being measured',
    'are paused. The peers make the same checks as ours (key, limits, validation) and write a history row with each',
    'update. All lists have the same bytes, and every response had the expected status.',
  ].join('\n')
}

function caseSection({ title, pets, connections, seconds, rounds, petsEach, results }: CaseResult): string[] {
  const sorted = results.toSorted((a, b) => b.requestsPerSecond.median - a.requestsPerSecond.median)
  return [
    `### ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    `${count(pets)} pets, ${connections} connection${connections === 1 ? '' : 's'}, ` +
      `${rounds} round${rounds === 1 ? '' : 's'} of ${seconds} s.` +
      (petsEach === undefined ? '' : ` Each request changes ${petsEach} pets, all or none.`),
    table(['', 'requests/s', 'p50 ms', 'p99 ms', 'requests', 'status 400 and above'], sorted.map(caseRow)),
  ]
}

function caseRow(result: TargetResult): string[] {
  const { label, kind, requestsPerSecond, p50Ms, p99Ms, requests, refused } = result
  return [
    kind === 'ours' ? `**${label}**` : kind === 'ceiling' ? `*${label}*` : label,
    withSpread(requestsPerSecond, count),
    withSpread(p50Ms, milliseconds),
    withSpread(p99Ms, milliseconds),
    count(requests),
    count(refused),
  ]
}

function instancesTable(cases: readonly CaseResult[]): string {
  const head = ['case', 'commit', 'ours: requests/s', 'peer: requests/s', 'ours / peer']
  const more = ['ours: p99 ms', 'peer: p99 ms', 'ours: slowest second', 'peer: slowest second']
  const spread = (result: TargetResult | undefined, key: 'requestsPerSecond' | 'p99Ms') =>
    result === undefined ? '-' : withSpread(result[key], key === 'p99Ms' ? milliseconds : count)
  return table(
    [...head, ...more],
    cases.filter(isInstanceResult).map((result) => {
      const [own, peer] = [oursIn(result), bestPeerIn(result)]
      return [
        result.title,
        `${milliseconds(result.commitMs)} ms`,
        spread(own, 'requestsPerSecond'),
        spread(peer, 'requestsPerSecond'),
        times(toPeer(result)),
        spread(own, 'p99Ms'),
        spread(peer, 'p99Ms'),
        times(own?.bySecond?.slowestToMedian),
        times(peer?.bySecond?.slowestToMedian),
      ]
    }),
  )
}

function growthSection(growth: GrowthResult): string[] {
  const [small, large] = [count(growth.smallPets), count(growth.largePets)]
  const { updates } = growth
  return [
    '## Growth (ours alone)',
    table(
      ['', ''],
      [
        [`updates/s at ${small} pets`, withSpread(updates.small, count)],
        [`updates/s at ${large} pets`, withSpread(updates.large, count)],
        [
          'ratio',
          `${times(updates.ratio)} (rounds: ${times(updates.ratios.min)} to ${times(updates.ratios.max)})`,
        ],
        [`start with ${large} pets, to the first update on disk`, `${growth.startSeconds.toFixed(2)} s`],
        ['resident memory after the start', `${Math.round(growth.memoryAfterStartMb)} MB`],
        ['resident memory after the updates', `${Math.round(growth.memoryAfterUpdatesMb)} MB`],
      ],
    ),
  ]
}

function slowDiskSection(slowDisk: SlowDiskResult): string[] {
  const { flushMs, readers, writers } = slowDisk
  return [
    '## A slow disk (ours alone)',
    `Each flush takes ${flushMs} ms. ${readers} connections read the list of 25 pets; ${writers} update it.`,
    table(
      ['', ''],
      [
        ['lists/s without updates', withSpread(slowDisk.listsAlone, count)],
        ['lists/s during updates', withSpread(slowDisk.lists, count)],
        ['p50 of these lists, ms', withSpread(slowDisk.listP50Ms, milliseconds)],
        ['p99 of these lists, ms', withSpread(slowDisk.listP99Ms, milliseconds)],
        ['updates/s during lists', withSpread(slowDisk.updates, count)],
      ],
    ),
  ]
}

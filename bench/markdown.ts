import { count, milliseconds, NONE, table, times, withSpread } from './format.ts'
import { goalsOf, ratiosOf } from './goals.ts'
import { instancesTable, slowestCaller } from './instances-table.ts'
import type {
  BenchResults,
  CaseResult,
  Comparison,
  GrowthResult,
  SlowDiskResult,
  TargetResult,
} from './results.ts'
import { SECTIONS } from './sections.ts'

/** The whole run as one page, for the README to take its table from. */
export function toMarkdown(results: BenchResults): string {
  return [
    '# Results',
    introduction(results),
    '![requests a second by case](results.svg)',
    '## Goals',
    table(
      ['goal', 'wanted', 'got', 'met'],
      goalsOf(results).map(({ what, wanted, got, met }) => [what, wanted, got, met ? 'yes' : '**no**']),
    ),
    '## Ratios',
    'Ours divided by the best of the peers, and by nginx with a static file of the same bytes.',
    table(
      ['case', 'best peer', 'ours / best peer', 'ours / nginx'],
      ratiosOf(results).map(({ title, bestPeer = NONE, toPeer, toNginx }) => [
        title,
        bestPeer,
        times(toPeer),
        times(toNginx),
      ]),
    ),
    ...SECTIONS.flatMap(({ section, title, explanation }) => {
      const cases = results.cases.filter((result) => result.section === section)
      if (cases.length === 0) return []
      const figures = section === 'instances' ? [instancesTable(cases)] : cases.flatMap(caseSection)
      return [`## ${title}`, explanation, ...figures]
    }),
    ...(results.growth === undefined ? [] : growthSection(results.growth)),
    ...(results.slowDisk === undefined ? [] : slowDiskSection(results.slowDisk)),
    '## Where it ran',
    table(['', ''], Object.entries(results.environment)),
    '',
  ].join('\n\n')
}

function introduction({ mode, seconds }: BenchResults): string {
  const how =
    mode === 'full'
      ? 'The median of several alternating rounds; in brackets the lowest and the highest round.'
      : 'A quick run: one short round of each case. It shows that all works; its figures prove nothing.'
  return [
    `${how} It took ${Math.round(seconds)} s.`,
    'The server is pinned to one core, wrk to another, where nothing else is said. Whoever is not measured is',
    'paused. The peers make the same checks as ours (key, limits, validation) and write a history row with each',
    'update, except json-server. The lists are the same, and no status but the expected one came.',
  ].join('\n')
}

function caseSection({ title, pets, connections, seconds, rounds, petsEach, results }: CaseResult): string[] {
  const notes = [...new Set(results.flatMap(({ note }) => note ?? []))]
  const mark = (note: string | undefined) => (note === undefined ? '' : ` (${notes.indexOf(note) + 1})`)
  const hasFairness = results.some((result) => result.fairness !== undefined)
  const fairness = hasFairness ? ['slowest caller / median, longest wait'] : []
  const sorted = results.toSorted((a, b) => b.requestsPerSecond.median - a.requestsPerSecond.median)
  return [
    `### ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    `${pets.toLocaleString('en-US')} pets, ${connections} connection${connections === 1 ? '' : 's'}, ` +
      `${rounds} round${rounds === 1 ? '' : 's'} of ${seconds} s.` +
      (petsEach === undefined ? '' : ` Each request changes ${petsEach} pets, all or none.`),
    table(
      ['', 'requests/s', 'p50 ms', 'p99 ms', 'requests', 'status 400 and above', ...fairness],
      sorted.map((result) => [
        ...row(result, mark(result.note)),
        ...(fairness.length === 0 ? [] : [slowestCaller(result)]),
      ]),
    ),
    ...notes.map((note, index) => `(${index + 1}) ${note}`),
  ]
}

function row(
  { label, kind, requestsPerSecond, p50Ms, p99Ms, requests, refused }: TargetResult,
  mark: string,
) {
  const name = kind === 'ours' ? `**${label}**` : kind === 'ceiling' ? `*${label}*` : label
  return [
    name + mark,
    withSpread(requestsPerSecond, count),
    withSpread(p50Ms, milliseconds),
    withSpread(p99Ms, milliseconds),
    count(requests),
    count(refused),
  ]
}

function growthSection(growth: GrowthResult): string[] {
  const large = growth.largePets.toLocaleString('en-US')
  const { readers, seconds, memoryPeakMb } = growth.listWhileUpdating
  return [
    '## Growth (ours alone)',
    table(
      ['', ''],
      [
        ['whole lists/s of 20 pets', withSpread(growth.lists.first, count)],
        ['unchanged lists/s of 10,000 pets (304)', withSpread(growth.lists.second, count)],
        ['the second to the first', inAll(growth.lists)],
        [`updates/s at ${count(growth.smallPets)} pets`, withSpread(growth.updates.first, count)],
        [`updates/s at ${large} pets`, withSpread(growth.updates.second, count)],
        ['the second to the first', inAll(growth.updates)],
        [`start with ${large} pets, to the first update on disk`, `${growth.startSeconds.toFixed(2)} s`],
        ['resident memory after the start', `${Math.round(growth.memoryAfterStartMb)} MB`],
        ['resident memory after the updates', `${Math.round(growth.memoryAfterUpdatesMb)} MB`],
        [`${readers} readers of the whole list while updates go on`, `${seconds.toFixed(1)} s`],
        ['resident memory at its highest meanwhile', `${Math.round(memoryPeakMb)} MB`],
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
        ['lists/s beside updates', withSpread(slowDisk.lists, count)],
        ['p50 of these lists, ms', withSpread(slowDisk.listP50Ms, milliseconds)],
        ['p99 of these lists, ms', withSpread(slowDisk.listP99Ms, milliseconds)],
        ['updates/s beside lists', withSpread(slowDisk.updates, count)],
      ],
    ),
  ]
}

function inAll({ ratio, ratios }: Comparison): string {
  return `${times(ratio)} (rounds: ${times(ratios.min)} to ${times(ratios.max)})`
}

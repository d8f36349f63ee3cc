import { checksOf, count, type LongRunResults, median, megabytes, titleOf, warmUpSeconds } from './results.ts'

/** The run as one page. */
export function toMarkdown(results: LongRunResults, name: string, command: string): string {
  const { slices, pets, seed, began, offeredPerSecond, updatesStored } = results
  const steady = slices.filter(({ pace }) => pace === 'steady')
  const total = slices.reduce((sum, { requestsPerSecond }, index) => {
    const before = slices[index - 1]?.atSeconds ?? 0
    return sum + requestsPerSecond * ((slices[index]?.atSeconds ?? 0) - before)
  }, 0)
  return [
    `# ${titleOf(results)}`,
    `${pets.toLocaleString('en-US')} pets, begun ${began}, seed ${seed}. ` + `Repeat with \`${command}\`.`,
    `Two of three slices of 10 s are sent at a fixed rate of ${count(offeredPerSecond)} requests a second, which is ` +
      '60 % of the throughput at the beginning; the third as fast as responses arrive. The fixed rate makes ' +
      'memory comparable, the other shows whether the service has become slower. In addition, four event ' +
      'streams are opened and closed, and two readers read long lists slowly or disconnect halfway.',
    `![requests a second and memory over time](${name}.svg)`,
    '## What is promised',
    `The first ${Math.round(warmUpSeconds(results))} s are warm-up. Of the rest, the median of the first ` +
      'quarter is compared with that of the last.',
    table(
      ['', 'after warm-up', 'at the end', 'wanted', 'met'],
      checksOf(results).map(({ what, atBeginning, atEnd, wanted, isMet }) => [
        ...[what, atBeginning, atEnd, wanted],
        isMet ? 'yes' : '**no**',
      ]),
    ),
    '## What was done',
    table(
      ['', ''],
      [
        ['requests answered', count(total)],
        ['changes stored in the history', count(updatesStored)],
        ['event streams opened and closed', count(sum(slices.map(({ streams }) => streams)))],
        ['slow readers', count(sum(slices.map(({ slowReads }) => slowReads)))],
        ['median latency at the fixed rate', `${median(steady.map(({ p50Ms }) => p50Ms)).toFixed(2)} ms`],
        ['99th percentile at the fixed rate', `${median(steady.map(({ p99Ms }) => p99Ms)).toFixed(2)} ms`],
        ['most resident memory', megabytes(Math.max(...slices.map(({ residentBytes }) => residentBytes)))],
        ['processor of the service, flat out', cpuOf(results, ({ serverCpu }) => serverCpu)],
        ['processor of the load generator, flat out', cpuOf(results, ({ loadCpu }) => loadCpu)],
      ],
    ),
    ...surprisesOf(results),
    '## Where it ran',
    table(['', ''], Object.entries(results.environment)),
    '',
  ].join('\n\n')
}

/** If the generator is busier than the service, the run measures the generator. */
function cpuOf({ slices }: LongRunResults, pick: (slice: (typeof slices)[number]) => number): string {
  const flatOut = slices.filter(({ pace }) => pace === 'flat-out')
  return `${Math.round(median(flatOut.map(pick)) * 100)} % of a core`
}

function surprisesOf({ surprises }: LongRunResults): string[] {
  const rows = Object.entries(surprises).map(([what, times]) => [what, count(times)])
  return rows.length === 0 ? [] : ['## What should not have happened', table(['', 'times'], rows)]
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

import { type TortureTask, untilOver } from '../../server/scripts/torture-task.ts'
import { failOversOf, isMetReadOnly, READ_ONLY } from '../../server/test/postgres/failovers.ts'
import { type OutageReport, runOutages } from '../../server/test/postgres/outages.ts'
import { PostgresPair } from '../../server/test/support/postgres-pair.ts'

const LEAST_KILLS = 20
/** Failovers of one pair of servers in a row, before the next pair. */
const KILLS_OF_A_PAIR = 5
const MAX_BACK_MS = 3_000
const MAX_APART_MS = 1_000

async function failOvers(times: number, say: (progress: string) => void): Promise<OutageReport> {
  const pair = await PostgresPair.start()
  try {
    return await runOutages(failOversOf(pair, times), times, say)
  } finally {
    await pair.end()
  }
}

function violationsOf(report: OutageReport): string[] {
  const { contradictions, statuses, recoveriesMs, apartMs, unreadyStatuses, reasons } = report
  const unexpected = statuses.filter((status) => status !== 200 && status !== 503)
  const [back, apart] = [Math.max(...recoveriesMs), Math.max(...apartMs)]
  const isUntold = reasons.some(
    (reason, index) => isMetReadOnly(Math.floor(index / 2)) && !reason.includes(READ_ONLY),
  )
  return [
    ...contradictions,
    ...unexpected.map((status) => `while PostgreSQL was away, an answer was ${status}`),
    ...(back > MAX_BACK_MS ? [`an instance was back ${Math.round(back)} ms after a promotion`] : []),
    ...(apart > MAX_APART_MS ? [`the instances came back ${Math.round(apart)} ms apart`] : []),
    ...(unreadyStatuses.some((status) => status !== 503) ? ['/readyz was not 503 during a fail-over'] : []),
    ...(isUntold ? ['/readyz did not say that a standby is read-only'] : []),
  ]
}

export const failoverTask: TortureTask = {
  name: 'failover',
  promise:
    'The primary is killed and its synchronous standby promoted under load: nothing acknowledged is lost, no read is stale, limits are exact, and both instances are back within 3 s.',
  share: 2,
  run: async (options) => {
    const isOver = untilOver(options, LEAST_KILLS)
    const reports: OutageReport[] = []
    const kills = () => reports.length * KILLS_OF_A_PAIR
    do {
      reports.push(
        await failOvers(KILLS_OF_A_PAIR, (progress) => options.say(`${kills()} kills before; ${progress}`)),
      )
    } while (!isOver(kills()))
    const sum = (of: (report: OutageReport) => number) =>
      String(reports.reduce((total, report) => total + of(report), 0))
    const all = (of: (report: OutageReport) => readonly number[]) =>
      reports.flatMap(of).toSorted((a, b) => a - b)
    const back = all(({ recoveriesMs }) => recoveriesMs)
    const apart = all(({ apartMs }) => apartMs)
    return {
      figures: [
        ['kills of the primary', String(kills())],
        ['updates and reads', sum(({ requests }) => requests)],
        ['adjustments and updates with a key', sum(({ keyedChanges }) => keyedChanges)],
        [
          'until both took updates after the promotion',
          `${Math.round(back[Math.floor(back.length / 2)] ?? 0)} ms, at most ${Math.round(back.at(-1) ?? 0)} ms`,
        ],
        ['one after the other by at most', `${Math.round(apart.at(-1) ?? 0)} ms`],
        [
          'longest refusal meanwhile',
          `${Math.round(Math.max(...reports.map(({ longestRefusalMs }) => longestRefusalMs)))} ms`,
        ],
      ],
      violations: reports.flatMap(violationsOf),
    }
  },
}

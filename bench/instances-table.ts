import { count, milliseconds, NONE, table, times, withSpread } from './format.ts'
import { INSTANCE_LOADS } from './instance-rows.ts'
import { type CaseResult, isInstanceResult, type TargetResult } from './results.ts'

/** A row for each number of instances, beside the same number of the peer. */
export function instancesTable(cases: readonly CaseResult[]): string {
  return table(
    [
      ...[
        'requests',
        'commits',
        'callers',
        'instances',
        'ours: requests/s',
        'peer: requests/s',
        'ours / peer',
      ],
      ...['ours: p99 ms', 'peer: p99 ms', 'ours: slowest second', 'peer: slowest second'],
      ...['ours: slowest caller', 'peer: slowest caller'],
    ],
    cases.filter(isInstanceResult).map(({ row, commitMs, results }) => {
      const mine = results.find(({ kind }) => kind === 'ours')
      const peer = results.find(({ kind }) => kind === 'peer')
      const delay = row.commitDelayMs === 0 ? 'as they are' : `+ ${row.commitDelayMs} ms`
      return [
        INSTANCE_LOADS[row.load],
        `${delay} (${milliseconds(commitMs)} ms)`,
        ...[String(row.callers), String(row.instances)],
        ...[rate(mine), rate(peer), times(ratio(mine, peer))],
        ...[p99(mine), p99(peer), slowest(mine), slowest(peer)],
        ...[slowestCaller(mine), slowestCaller(peer)],
      ]
    }),
  )
}

function rate(result: TargetResult | undefined): string {
  return result === undefined ? NONE : withSpread(result.requestsPerSecond, count)
}

function p99(result: TargetResult | undefined): string {
  return result === undefined ? NONE : withSpread(result.p99Ms, milliseconds)
}

function slowest(result: TargetResult | undefined): string {
  return times(result?.bySecond?.slowestToMedian)
}

/** As a part of the median caller's answers, and how long anybody waited at the most. */
export function slowestCaller(result: TargetResult | undefined): string {
  const fairness = result?.fairness
  return fairness === undefined
    ? NONE
    : `${times(fairness.slowestToMedian)}, ${milliseconds(fairness.longestMs)} ms`
}

function ratio(mine: TargetResult | undefined, peer: TargetResult | undefined): number | undefined {
  if (mine === undefined || peer === undefined) return undefined
  return mine.requestsPerSecond.median / peer.requestsPerSecond.median
}

import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Case } from './cases.ts'
import type { Sample } from './measure.ts'
import { run } from './processes.ts'
import type { Target } from './target.ts'

export interface TargetResult {
  readonly target: Target
  readonly samples: readonly Sample[]
}

export interface CaseResult {
  readonly loadCase: Case
  readonly results: readonly TargetResult[]
}

const PACKAGES = ['hono', 'elysia', 'fastify', 'better-sqlite3'] as const

/** The table of docs/performance.md: medians of all rounds. */
export function toTable(cases: readonly CaseResult[]): string {
  const head = ['case', 'ours', 'best peer', 'ours / peer', 'goal', 'ours / nginx', 'our p99', "peer's p99"]
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  const lines = [head, rule, ...cases.map(row)]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function row({ loadCase, results }: CaseResult): string[] {
  const ours = results.find(({ target }) => target.kind === 'ours')
  const nginx = results.find(({ target }) => target.kind === 'ceiling')
  const peers = results.filter(({ target }) => target.kind === 'peer')
  const peer = peers.toSorted((one, other) => rateOf(other) - rateOf(one))[0]
  const toPeer = ratio(ours, peer)
  const { title, goal } = loadCase
  return [
    title,
    ours === undefined ? '-' : withSpread(ours),
    peer === undefined ? '-' : `${peer.target.label} ${withSpread(peer)}`,
    times(toPeer),
    goal === undefined ? '-' : `${goal}x${toPeer !== undefined && toPeer < goal ? ', missed' : ''}`,
    times(ratio(ours, nginx)),
    p99(ours),
    p99(peer),
  ]
}

/** The programs and the machine that the figures depend on. */
export async function describeEnvironment(): Promise<string> {
  const versions = PACKAGES.map(async (name) => {
    const path = join(import.meta.dir, 'node_modules', name, 'package.json')
    return `${name} ${(await Bun.file(path).json()).version}`
  })
  const commit = await run(['git', 'describe', '--always', '--dirty'], import.meta.dir).catch(() => 'unknown')
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${commit.trim()}, ${cpus().length} cores`,
    `Bun ${Bun.version}, Node ${(await run(['node', '--version'], import.meta.dir)).trim()}`,
    ...(await Promise.all(versions)),
  ].join(', ')
}

function rateOf({ samples }: TargetResult): number {
  return median(samples.map(({ requestsPerSecond }) => requestsPerSecond))
}

function ratio(one: TargetResult | undefined, other: TargetResult | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : rateOf(one) / rateOf(other)
}

/** Requests per second, and how far the rounds are from their median. */
function withSpread(result: TargetResult): string {
  const middle = rateOf(result)
  const farthest = Math.max(
    ...result.samples.map(({ requestsPerSecond }) => Math.abs(requestsPerSecond - middle)),
  )
  const rate = Math.round(middle).toLocaleString('en-US')
  return `${rate} ±${Math.ceil((farthest / middle) * 100)} %`
}

function p99(result: TargetResult | undefined): string {
  if (result === undefined) return '-'
  const value = median(result.samples.map(({ p99Ms }) => p99Ms))
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')} ms`
}

function times(value: number | undefined): string {
  if (value === undefined) return '-'
  return `${value < 2 ? value.toFixed(2) : value < 10 ? value.toFixed(1) : Math.round(value)}x`
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const at = (index: number) => sorted[index] ?? Number.NaN
  return (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2
}

/**
 * What the continuous backup costs: updates over 64 connections with and without it, alternating:
 * `npx bun torture/backup-cost.ts [rounds] [seconds]`. Needs wrk. Compare only on a machine that does nothing else.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../server/test/cli/running-petstore.ts'
import { stockUp } from '../server/test/postgres/shop.ts'
import { memoryFolder } from '../server/test/support/memory-folder.ts'

const [rounds = '10', seconds = '5'] = process.argv.slice(2)
const PETS = 1_000
const MS_PER_TICK = 10

interface Measurement {
  readonly updatesPerSecond: number
  readonly p99Ms: number
  readonly processorMicrosecondsPerUpdate: number
}

const results: Record<'with' | 'without', Measurement[]> = { with: [], without: [] }
for (let round = 1; round <= Number(rounds); round++) {
  const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)
  for (const kind of order) results[kind].push(await measure(kind, round))
}
for (const [kind, measurements] of Object.entries(results)) {
  const medianOf = (name: keyof Measurement) => median(measurements.map((measurement) => measurement[name]))
  console.log(
    `${kind} a backup: ${medianOf('updatesPerSecond').toFixed(0)} updates a second, p99 ${medianOf('p99Ms').toFixed(1)} ms, ${medianOf('processorMicrosecondsPerUpdate').toFixed(1)} µs of processor time for an update`,
  )
}
const ratios = results.with.map(
  ({ updatesPerSecond }, index) => updatesPerSecond / (results.without[index]?.updatesPerSecond ?? 0),
)
console.log(
  `median ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
)
process.exit()

async function measure(kind: 'with' | 'without', round: number): Promise<Measurement> {
  const data = mkdtempSync(join(tmpdir(), 'petstore-cost-'))
  const backup = mkdtempSync(join(memoryFolder(), 'petstore-cost-'))
  try {
    const env = { DATABASE_URL: `sqlite:${data}/petstore.db` }
    const petIds = Array.from({ length: PETS }, (_, index) => index + 1)
    const key = await stockUp(env.DATABASE_URL, petIds)
    const service = await serve(kind === 'with' ? ['--backup-to', backup] : [], { cwd: data, env })
    const { port } = new URL(service.address)
    const before = processorMs(service.program.pid)
    const wrk = Bun.spawnSync(
      [
        ...['wrk', '-t1', '-c64', `-d${seconds}s`, '-s', 'load/updates.lua', service.address],
        ...['--', '/v1/inventory', key, String(PETS), '0', String(round), port],
      ],
      { cwd: join(import.meta.dir, '..', 'bench') },
    )
    const spentMs = processorMs(service.program.pid) - before
    await service.stop()
    const { requests, microseconds, p99 } = JSON.parse(
      /^RESULT (.*)$/m.exec(wrk.stdout.toString())?.[1] ?? '',
    )
    return {
      updatesPerSecond: (requests * 1e6) / microseconds,
      p99Ms: p99 / 1_000,
      processorMicrosecondsPerUpdate: (spentMs * 1_000) / requests,
    }
  } finally {
    for (const folder of [data, backup]) rmSync(folder, { recursive: true })
  }
}

/** The processor time of all threads of a process. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
  return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
}

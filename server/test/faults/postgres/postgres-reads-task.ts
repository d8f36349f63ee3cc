import type { TortureTask } from '../../../scripts/torture-task.ts'
import { startInstances, stockUp } from '../../postgres/shop.ts'
import { missingDebianPostgres, type PostgresRelease, PostgresServer } from '../../support/postgres-server.ts'

const READS = 500
const WARM_UP_READS = 50
const MAX_MEDIAN_MS = 5

/** The time of a read of one entry on each release, for a caller that reads and updates in turn. */
export const postgresReadsTask: TortureTask = {
  name: 'postgres-reads',
  promise: `GET of one entry takes less than ${MAX_MEDIAN_MS} ms (median) on PostgreSQL with default settings, with and without JIT compilation.`,
  share: 1,
  run: async ({ say }) => {
    const figures: [string, string][] = []
    const violations: string[] = []
    const missing = await missingDebianPostgres()
    if (missing !== undefined) violations.push(missing)
    const releases: PostgresRelease[] = missing === undefined ? ['debian-15', 'embedded'] : ['embedded']
    for (const release of releases) {
      const { read, update } = await measure(release)
      const value = `read ${summary(read)}, update ${summary(update)}`
      say(`${release}: ${value}`)
      figures.push([`on ${release}`, value])
      if (quantile(read, 0.5) >= MAX_MEDIAN_MS) violations.push(`a read on ${release} took ${summary(read)}`)
    }
    return { figures, violations }
  },
}

interface Durations {
  readonly read: readonly number[]
  readonly update: readonly number[]
}

async function measure(release: PostgresRelease): Promise<Durations> {
  const server = await PostgresServer.start({}, { release })
  const url = server.url()
  const key = await stockUp(url)
  const instances = await startInstances(url, 1)
  try {
    const [instance] = instances
    if (instance === undefined) throw new Error('no instance was started')
    const read: number[] = []
    const update: number[] = []
    for (let quantity = 0; quantity < WARM_UP_READS + READS; quantity++) {
      update.push(await timed(`${instance.address}/v1/inventory/1`, key, quantity))
      read.push(await timed(`${instance.address}/v1/inventory/1`, key))
    }
    return { read: read.slice(WARM_UP_READS), update: update.slice(WARM_UP_READS) }
  } finally {
    await Promise.all(instances.map((instance) => instance.stop()))
    await server.end()
  }
}

async function timed(address: string, key: string, quantity?: number): Promise<number> {
  const began = performance.now()
  const response = await fetch(address, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(quantity === undefined ? {} : { method: 'PATCH', body: JSON.stringify({ quantity }) }),
  })
  await response.text()
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  return performance.now() - began
}

function summary(durations: readonly number[]): string {
  const [median, p99] = [quantile(durations, 0.5), quantile(durations, 0.99)]
  return `median ${median.toFixed(2)} ms, 99th percentile ${p99.toFixed(2)} ms`
}

function quantile(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted[Math.floor(share * sorted.length)] ?? Number.NaN
}

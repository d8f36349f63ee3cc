import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Metrics } from '../../src/telemetry/metrics.ts'

const DEPLOY = join(import.meta.dir, '../../../deploy')
const read = (path: string) => readFileSync(join(DEPLOY, path), 'utf8')

/** All metric names of a scrape, including the suffixes of histograms. */
const offered = new Set(
  new Metrics()
    .render({
      activeKeys: { free: 0, pro: 0, business: 0, enterprise: 0 },
      inventoryEntries: 0,
      openOrders: { orders: 0, units: 0 },
      webhooks: [],
      now: 0,
      orderTotals: { refused: 0, expired: 0 },
      load: { connections: 0, requests: 0 },
      residentBytes: 0,
      openFiles: 0,
      backupAgeMs: 0,
      maxFiles: 0,
    })
    .split('\n')
    .flatMap((line) => {
      const [, name = '', type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
      if (type === undefined) return []
      return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name]
    }),
)

const metricsIn = (text: string) =>
  [...text.matchAll(/\b(?:petstore|process)_[a-z_]+/g)].map(([name]) => name)

describe.each(['prometheus/petstore.rules.yml', 'grafana/petstore.json'])('%s', (path) => {
  test('uses only metrics that the service has', () => {
    const asked = metricsIn(read(path))
    expect(asked.length).toBeGreaterThan(10)
    expect(asked.filter((name) => !offered.has(name))).toEqual([])
  })
})

test('every metric is on the dashboard, except a few basic ones', () => {
  const shown = new Set(metricsIn(read('grafana/petstore.json')))
  const base = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '')
  const shownBases = new Set([...shown].map(base))
  expect([...offered].filter((name) => !shownBases.has(base(name)))).toEqual([])
})

test('Prometheus scrapes all instances on the port in compose.yaml', () => {
  const port = /METRICS_PORT: '(\d+)'/.exec(read('compose.yaml'))?.[1]
  expect(read('prometheus/prometheus.yml')).toContain(`names: [petstore], type: A, port: ${port}`)
})

test.skipIf(Bun.which('promtool') === null)(
  'promtool accepts the rules, and they fire when they should',
  () => {
    for (const command of [
      ['check', 'rules', 'petstore.rules.yml'],
      ['test', 'rules', 'petstore.rules.test.yml'],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync(['promtool', ...command], {
        cwd: join(DEPLOY, 'prometheus'),
      })
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    }
  },
)

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TortureOptions, TortureSummary, TortureTask } from '../../server/scripts/torture-task.ts'
import { SEARCH_SORTS } from '../../server/src/core/catalog/search.ts'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { addKey } from '../../server/test/postgres/shop.ts'
import { PostgresServer } from '../../server/test/support/postgres-server.ts'
import { until } from '../../server/test/support/until.ts'
import {
  type Answered,
  nextPath,
  quantile,
  type Sample,
  slowest,
  summary,
  timed,
  unexpected,
} from './measure.ts'
import {
  addChangesToPostgres,
  addChangesToSqlite,
  COMMON_KEY,
  importPets,
  JUNE_DAY,
  makeTables,
  RARE_KEY,
  SEARCH_PARAMETERS,
} from './store.ts'

const PETS = { full: 1_000_000, short: 20_000 }
const CHANGES = { full: 20_000_000, short: 200_000 }
/** PostgreSQL writes rows more slowly. */
const CHANGES_ON_POSTGRES = { full: 2_000_000, short: 200_000 }
const HOSTILE_KEYS = 10
const HOSTILE_PER_MINUTE = 60
const POLITE_SECONDS = { full: 60, short: 10 }
const MAX_SEARCH_MS = 100
const MAX_POLITE_MS = 20
const MAX_HISTORY_MS = 50
/** For each filter of the history; a rare key has one page per 100,000 rows. */
const MAX_PAGES = 300
const ROOMY = { perMinute: 1_000_000_000, perDay: 1_000_000_000 }

export const searchesTask: TortureTask = {
  name: 'searches',
  promise: `with 1,000,000 pets the 99th percentile of all searches is below ${MAX_SEARCH_MS} ms, that of any page of a long history below ${MAX_HISTORY_MS} ms, and that of a polite client beside hostile searches below ${MAX_POLITE_MS} ms`,
  share: 2,
  run: (options) => run(options, false),
}

export const searchesPostgresTask: TortureTask = {
  name: 'searches-postgres',
  promise: 'the same on PostgreSQL',
  share: 2,
  run: (options) => run(options, true),
}

interface Shop {
  readonly address: string
  readonly key: string
}

async function run(options: TortureOptions, onPostgres: boolean): Promise<TortureSummary> {
  const { isFull, say } = options
  const size = isFull ? 'full' : 'short'
  const folder = mkdtempSync(join(tmpdir(), 'petstore-searches-'))
  const server = onPostgres ? await PostgresServer.start() : undefined
  const path = join(folder, 'petstore.db')
  const url = server?.url() ?? `sqlite:${path}`
  const pets = PETS[size]
  const changes = (onPostgres ? CHANGES_ON_POSTGRES : CHANGES)[size]
  const figures: [string, string][] = []
  const violations: string[] = []
  const report = (what: string, value: string) => {
    say(`${what}: ${value}`)
    figures.push([what, value])
  }
  try {
    // The changes are written first: the ids of the log rise with its times.
    await makeTables(folder, url)
    await seconds(`${changes} changes written`, report, async () => {
      if (onPostgres) await addChangesToPostgres(url, changes, pets)
      else addChangesToSqlite(path, changes, pets)
    })
    await seconds(`${pets} pets imported`, report, () => importPets(pets, folder, url))
    const key = await addKey(url, ROOMY)
    const hostileKeys = await inTurn(HOSTILE_KEYS, () => addKey(url, ROOMY))
    const instance = await serve([], { cwd: folder, env: { DATABASE_URL: url, LOG_REQUESTS: 'none' } })
    try {
      const shop = { address: instance.address, key }
      await seconds('the index was loaded', report, () => untilSearchable(shop))

      const searches = await searchEverything(shop)
      report('searches', summary(searches))
      report('slowest searches', slowest(searches, 5))
      violations.push(...unexpected(searches, [200]))
      limit(violations, 'searches', searches, MAX_SEARCH_MS)

      const alone = await bePolite(shop, POLITE_SECONDS[size] / 3)
      report('a polite client alone', summary(alone))
      const { polite, hostile } = await beHostile(shop, hostileKeys, POLITE_SECONDS[size])
      report('a polite client beside hostile searches', summary(polite))
      report('hostile searches', summary(hostile))
      violations.push(...unexpected(polite, [200, 304]), ...unexpected(hostile, [200]))
      limit(violations, 'a polite client', polite, MAX_POLITE_MS)

      for (const [what, filter] of HISTORY_FILTERS) {
        const pages = await pagesOf(shop, what, filter)
        const empty = pages.filter(({ count }) => count === 0).length
        report(`history ${what}`, `${summary(pages)}, ${empty} empty`)
        violations.push(...unexpected(pages, [200]))
        if (filter === JUNE_DAY && empty > 0)
          violations.push('the history of one day in June has empty pages')
        limit(violations, `pages of the history ${what}`, pages, MAX_HISTORY_MS)
      }
      report('resident memory', `${residentMegabytes(instance.program.pid)} MB`)
      report(
        'load average',
        loadavg()
          .map((load) => load.toFixed(1))
          .join(' '),
      )
    } finally {
      await instance.stop()
    }
  } finally {
    await server?.end()
    rmSync(folder, { recursive: true, force: true })
  }
  return { figures, violations }
}

async function seconds(
  what: string,
  report: (what: string, value: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const began = performance.now()
  await work()
  report(what, `${((performance.now() - began) / 1_000).toFixed(1)} s`)
}

async function inTurn<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let time = 0; time < times; time++) results.push(await work())
  return results
}

function limit(violations: string[], what: string, samples: readonly Sample[], maxMs: number): void {
  const p99 = quantile(samples, 0.99)
  if (!(p99 <= maxMs)) {
    violations.push(`${what}: the 99th percentile is ${p99.toFixed(1)} ms; expected at most ${maxMs} ms`)
  }
}

const searchPath = (query: URLSearchParams) => `/v1/inventory/search?${query}`

/** A search during the loading of the index waits for it, or gets 503 and is repeated. */
async function untilSearchable({ address, key }: Shop): Promise<void> {
  await until(
    async () => (await timed('first', `${address}/v1/inventory/search?limit=1`, key)).status === 200,
  )
}

/** Every combination of sort, direction and filters: its first two pages. */
async function searchEverything({ address, key }: Shop): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const query of combinations()) {
    const name = `search ${query}`
    const first = await timed(name, address + searchPath(query), key)
    samples.push(first)
    const next = nextPath(first)
    if (next !== undefined) samples.push(await timed(`${name} page 2`, new URL(next, address).href, key))
  }
  return samples
}

function combinations(): URLSearchParams[] {
  let queries = SEARCH_SORTS.map((sort) => new URLSearchParams({ sort }))
  for (const [name, values] of Object.entries(SEARCH_PARAMETERS)) {
    queries = queries.flatMap((query) =>
      values.map((value) => new URLSearchParams([...query, ...(value === undefined ? [] : [[name, value]])])),
    )
  }
  return queries
}

/** Reads an entry, checks whether the list has changed, and updates the entry, in turn. */
async function bePolite({ address, key }: Shop, forSeconds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const list = `${address}/v1/inventory`
  const entry = `${list}/1`
  const deadline = performance.now() + forSeconds * 1_000
  for (let quantity = 0; performance.now() < deadline; quantity++) {
    samples.push(await timed('GET-entry', entry, key))
    // The list itself is large, so only its tag is read first.
    const tag = (await timed('HEAD-list', list, key, { method: 'HEAD' })).headers.get('ETag') ?? ''
    samples.push(await timed('GET-list', list, key, { headers: { 'If-None-Match': tag } }))
    samples.push(
      await timed('PATCH', entry, key, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ quantity: quantity % 1_000 }),
      }),
    )
    await Bun.sleep(20)
  }
  return samples
}

/** Searches that examine all pets, sent without waiting for the previous response. */
const HOSTILE_QUERIES = [
  'q=pet&sort=-available&limit=1',
  'q=p+e+t+b+7&sort=-quantity&limit=1000',
  'q=a+b+c+d+e+f+g+h+i+j&sort=name',
  'below=999999&sort=-name&q=dragon',
]

async function beHostile(
  shop: Shop,
  keys: readonly string[],
  forSeconds: number,
): Promise<{ polite: Sample[]; hostile: Sample[] }> {
  const pending: Promise<Answered>[] = []
  const total = (forSeconds * HOSTILE_PER_MINUTE * keys.length) / 60
  const sending = (async () => {
    for (let sent = 0; sent < total; sent++) {
      const query = HOSTILE_QUERIES[sent % HOSTILE_QUERIES.length]
      const key = keys[sent % keys.length] ?? ''
      pending.push(timed('hostile-search', `${shop.address}/v1/inventory/search?${query}`, key))
      await Bun.sleep((forSeconds * 1_000) / total)
    }
  })()
  const polite = await bePolite(shop, forSeconds)
  await sending
  return { polite, hostile: await Promise.all(pending) }
}

const HISTORY_FILTERS: readonly (readonly [what: string, filter: Readonly<Record<string, string>>])[] = [
  ['of one day in June', JUNE_DAY],
  ['of a key', { who: COMMON_KEY }],
  ['of a reason', { reason: 'sold' }],
  ['of a pet', { petId: '1' }],
  ['of a pet on one day in June', { petId: '1', ...JUNE_DAY }],
  ['of a key with ten changes', { who: RARE_KEY }],
  ['of a reason with ten changes', { reason: 'damaged' }],
]
/** Pages of a common filter are alike: a few of them are enough. */
const ENTRIES_ENOUGH = 2_000

async function pagesOf(
  { address, key }: Shop,
  what: string,
  filter: Readonly<Record<string, string>>,
): Promise<Answered[]> {
  const pages: Answered[] = []
  let path: string | undefined = `/v1/inventory/history?${new URLSearchParams(filter)}`
  let entries = 0
  while (path !== undefined && pages.length < MAX_PAGES && entries < ENTRIES_ENOUGH) {
    const page: Answered = await timed(`history ${what}`, new URL(path, address).href, key)
    pages.push(page)
    entries += page.count
    path = nextPath(page)
  }
  return pages
}

function residentMegabytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kilobytes ?? Number.NaN) / 1_024)
}

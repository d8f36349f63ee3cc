import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Papa from 'papaparse'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { runCommand } from './run-command.ts'
import { serve } from './running-petstore.ts'

setDefaultTimeout(120_000)

const KEY = 'pst_demo_enterprise'
const DEMO = ['--database-url', 'sqlite:data/demo.db']
/** What a shop answers about its stock, catalogue and orders. */
const ANSWERS = ['/inventory', '/catalog?limit=200', '/categories?limit=200', '/store/orders?limit=200']

let cwd: string
let target: TestDatabase
/** What the demo store answers, with orders and adjustments of every kind. */
let expected: unknown[]
let adjustments: Adjustment[]
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-export-all-'))
  target = await createDatabase()
  const shop = await serve(['--demo'], { cwd })
  const send = async (method: string, path: string, body?: object) => {
    const answer = await shop.call(path, KEY, { method, ...(body && { body: JSON.stringify(body) }) })
    expect([path, answer.ok]).toEqual([path, true])
    return (answer.status === 204 ? {} : await answer.json()) as { id: number; adjustmentId: number }
  }
  await send('POST', '/categories', { name: '=Snails, "slow"', lowStockAt: 3 })
  const pet = await send('POST', '/pets', {
    name: "'Gary\u2028",
    categoryId: 6,
    quantity: 9,
    metadata: { sku: 'A|1' },
  })
  await send('POST', '/inventory/adjustments', {
    reason: 'counted',
    note: 'shelf\n2',
    changes: [
      { petId: 1, quantity: 30 },
      { petId: 2, quantity: 4 },
    ],
  })
  const ordered = (quantity: number) => ({
    lines: [
      { petId: 1, quantity },
      { petId: pet.id, quantity: 1 },
    ],
  })
  await send('POST', '/store/orders', {
    ...ordered(1),
    customer: 'Ada, "A."',
    note: 'two\r\nlines',
    metadata: { cart: '7' },
  })
  await send('POST', '/store/orders', { ...ordered(1), holdSeconds: 86_400 })
  const cancelled = await send('POST', '/store/orders', ordered(1))
  await send('DELETE', `/store/orders/${cancelled.id}`)
  const sold = await send('POST', '/store/orders', { ...ordered(2), reference: 'R-1', complete: true })
  const returned = { reason: 'returned', lines: [{ petId: 1, quantity: 1 }] }
  await send('POST', `/inventory/adjustments/${sold.adjustmentId}/reverse`, returned)
  expect(await run('export', '--all', 'shop', ...DEMO)).toMatchObject({ exitCode: 0 })
  expected = await answersOf(shop, KEY)
  adjustments = await adjustmentsOf(shop)
  await shop.stop()
})
afterAll(async () => {
  await target.drop()
  rmSync(cwd, { recursive: true, force: true })
})

interface Adjustment {
  readonly id: number
  readonly reversedBy: unknown
  readonly lines: readonly { readonly reversed: number }[]
}

type Shop = Pick<Awaited<ReturnType<typeof serve>>, 'call'>

const run = (...args: string[]) => runCommand(args, { cwd })
const read = (path: string) => readFileSync(join(cwd, path), 'utf8')

/** Without what depends on the adjustments of a shop and on its keys. */
const NOT_EXPORTED = new Set(['adjustmentId', 'createdBy', 'closedBy', 'returned'])

function answersOf(shop: Shop, key: string): Promise<unknown[]> {
  return Promise.all(
    ANSWERS.map(async (path) => {
      const answer = await shop.call(path, key)
      expect([answer.status, answer.headers.has('Link')]).toEqual([200, false])
      return JSON.parse(await answer.text(), (name, value) => (NOT_EXPORTED.has(name) ? undefined : value))
    }),
  )
}

/** In the order of their ids. */
async function adjustmentsOf(shop: Shop): Promise<Adjustment[]> {
  const all: Adjustment[] = []
  let path: string | undefined = '/inventory/adjustments?limit=200'
  while (path !== undefined) {
    const answer = await shop.call(path, KEY)
    all.push(...((await answer.json()) as Adjustment[]))
    path = /<\/v1([^>]+)>; rel="next"/.exec(answer.headers.get('Link') ?? '')?.[1]
  }
  return all.toSorted((one, other) => one.id - other.id)
}

describe('petstore export --all', () => {
  test('is imported into another store, which then answers the same', async () => {
    const there = ['--database-url', target.url]
    const before = ['categories', 'pets', 'orders'].map((kind) => read(`shop/${kind}.csv`))
    const dryRun = await run('import', 'all', 'shop', '--dry-run', ...there)
    expect([dryRun.exitCode, dryRun.stdout]).toEqual([0, expect.stringContaining('would be 26 pets added')])
    const { exitCode, stdout } = await run('import', 'all', 'shop', ...there)
    expect([exitCode, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [
        expect.stringMatching(/^shop\/categories\.csv: 6 categories added, 0 changed, 0 unchanged /),
        expect.stringMatching(/^shop\/pets\.csv: 26 pets added, 0 changed, 0 unchanged /),
        expect.stringMatching(/^shop\/orders\.csv: \d+ order lines added, 0 changed, 0 unchanged /),
      ],
    ])
    const again = await run('import', 'all', 'shop', ...there)
    expect(again.stdout.match(/ 0 .+ added, 0 changed/g)).toHaveLength(3)

    const key = (await run('keys', 'create', '--name', 'a', '--plan', 'business', ...there)).stdout.trim()
    const shop = await serve(there, { cwd })
    expect(await answersOf(shop, key)).toEqual(expected)
    await shop.stop()
    expect((await run('export', '--all', 'again', ...there)).exitCode).toBe(0)
    expect(['categories', 'pets', 'orders'].map((kind) => read(`again/${kind}.csv`))).toEqual(before)
  })

  test('has every line of every adjustment, and describes every column', () => {
    const { data, meta } = Papa.parse<Record<string, string>>(read('shop/adjustments.csv'), {
      header: true,
      newline: '\n',
      skipEmptyLines: true,
    })
    const lines = adjustments.flatMap(({ lines, reversedBy: _, ...head }) =>
      lines.map(({ reversed: __, ...line }) => ({ ...head, ...line })),
    )
    const cells = (line: object) =>
      Object.fromEntries(Object.entries(line).map(([name, value]) => [name, String(value)]))
    const filled = (row: object) => Object.fromEntries(Object.entries(row).filter(([, text]) => text !== ''))
    expect(data.map(filled)).toEqual(lines.map(cells))
    const readme = read('shop/README.md')
    for (const column of meta.fields ?? []) expect(readme).toContain(`| ${column} | `)
    for (const kind of ['categories', 'pets', 'orders']) {
      const [header = ''] = read(`shop/${kind}.csv`).split('\n')
      for (const column of header.split(',')) expect(readme).toContain(`| ${column} | `)
    }
    expect(readme).not.toContain('undefined')
  })

  test('one refused row of any file refuses all of them', async () => {
    await run('export', '--all', 'bad', ...DEMO)
    appendFileSync(join(cwd, 'bad/orders.csv'), '999,404,1,false,,,,,,,,\n')
    const empty = ['--database-url', 'sqlite:empty.db']
    const refused = await run('import', 'all', 'bad', ...empty)
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/404(?:.|\n)*bad\/orders\.csv has 1 bad line; nothing was changed/),
    ])
    expect((await run('export', ...empty)).stdout.trimEnd().split('\n')).toHaveLength(1)
    writeFileSync(join(cwd, 'bad/pets.csv'), 'price\n1\n')
    expect((await run('import', 'all', 'bad', ...empty)).stderr).toContain('bad/pets.csv: the header')
    rmSync(join(cwd, 'bad/pets.csv'))
    expect((await run('import', 'all', 'bad', ...empty)).stderr).toContain('cannot read bad/pets.csv')
  })

  test('finds the categories of pets by name if categories.csv has no ids', async () => {
    await run('export', '--all', 'named', ...DEMO)
    writeFileSync(join(cwd, 'named/categories.csv'), 'name,lowStockAt\nDogs,4\n')
    writeFileSync(join(cwd, 'named/pets.csv'), 'petId,name,category\n1,Rex,dogs\n')
    writeFileSync(join(cwd, 'named/orders.csv'), 'id,petId,quantity,complete\n1,1,2,true\n')
    const named = ['--database-url', 'sqlite:named.db']
    expect((await run('import', 'all', 'named', ...named)).exitCode).toBe(0)
    expect((await run('export', '--categories', ...named)).stdout).toBe('id,name,lowStockAt\n1,Dogs,4\n')
  })

  test('writes to a folder only, overwrites files only with --force, and leaves none if one fails', async () => {
    expect(await run('export', '--all', ...DEMO)).toMatchObject({ exitCode: 2 })
    expect(statSync(join(cwd, 'shop')).mode & 0o777).toBe(0o700)
    const { exitCode, stderr } = await run('export', '--all', 'shop', ...DEMO)
    expect([exitCode, stderr]).toEqual([
      1,
      'petstore: shop/categories.csv already exists; --force overwrites it\n',
    ])
    expect((await run('export', '--all', 'shop', '--force', ...DEMO)).exitCode).toBe(0)
    expect((await run('export', '--all', 'shop/pets.csv', ...DEMO)).stderr).toBe(
      'petstore: cannot write to shop/pets.csv: it is not a folder\n',
    )
    expect((await run('export', '--all', 'new', '--database-url', 'sqlite:none.db')).exitCode).toBe(1)
    expect(readdirSync(cwd)).not.toContain('new')
  })
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/service/config.ts'
import { petstore } from './petstore.ts'
import { serve } from './running-petstore.ts'

let cwd: string
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'petstore-folder-')))
  writeFileSync(join(cwd, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

describe('the location of the database', () => {
  const here = (path: string) => `sqlite:${join(process.cwd(), path)}`
  const HOSTS = 'postgres://me@one:5433,two:5434/shop'
  test.each([
    ['nothing', {}, {}, here('data/petstore.db')],
    ['PETSTORE_DATA', {}, { PETSTORE_DATA: '/srv/pets' }, 'sqlite:/srv/pets/petstore.db'],
    ['an empty PETSTORE_DATA', {}, { PETSTORE_DATA: '' }, here('data/petstore.db')],
    ['--data', { data: 'shop' }, { PETSTORE_DATA: '/srv/pets' }, here('shop/petstore.db')],
    ['DATABASE_URL', {}, { PETSTORE_DATA: '/srv/pets', DATABASE_URL: 'sqlite:a.db' }, here('a.db')],
    ['--data with DATABASE_URL', { data: '/d' }, { DATABASE_URL: 'postgres://x' }, 'sqlite:/d/petstore.db'],
    ['several hosts, each with its port', {}, { DATABASE_URL: HOSTS }, HOSTS],
    ['--database-url', { databaseUrl: 'sqlite:/a/../b.db' }, { PETSTORE_DATA: '/srv' }, 'sqlite:/b.db'],
  ])('is set by %s', (_, flags, environment, expected) => {
    expect(readConfig(flags, environment).databaseUrl).toBe(expected)
  })

  test('is rejected if given twice or by an empty flag', () => {
    expect(() => readConfig({ data: 'a', databaseUrl: 'sqlite:b.db' }, {})).toThrow('use only one of them')
    expect(() => readConfig({ data: '' }, {})).toThrow('--data must be non-empty')
  })
})

test('import creates a database in the named folder and prints its path; the other commands find it there', async () => {
  const shop = join(cwd, 'shop', 'petstore.db')
  const first = await petstore(['import', 'pets.csv', '--data', 'shop'], { cwd })
  expect(first).toMatchObject({ exitCode: 0, stderr: `petstore: created a new database, ${shop}\n` })
  expect(first.stdout).toEndWith(` in ${shop}\n`)
  const env = { PETSTORE_DATA: 'shop' }
  const again = await petstore(['import', 'pets.csv'], { cwd, env })
  expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('1 unchanged')])
  const key = await petstore(['keys', 'create', '--name', 'a', '--plan', 'free'], { cwd, env })
  expect([key.exitCode, key.stderr]).toEqual([0, expect.stringContaining(` in ${shop}.`)])
  expect(existsSync(join(cwd, 'data'))).toBe(false)

  const demo = await serve(['--demo', '--data', 'shop'], { cwd })
  expect(demo.banner).toContain(`Data        ${join(cwd, 'shop', 'demo.db')} (new)\n`)
  await demo.stop()
})

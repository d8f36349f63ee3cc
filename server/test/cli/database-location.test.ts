import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/service/config.ts'
import { petstore } from './petstore.ts'

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
    ['an empty DATABASE_URL', {}, { DATABASE_URL: '' }, here('data/petstore.db')],
    ['DATABASE_URL', {}, { DATABASE_URL: 'sqlite:a.db' }, here('a.db')],
    ['several hosts, each with its port', {}, { DATABASE_URL: HOSTS }, HOSTS],
    ['--database-url', { databaseUrl: 'sqlite:/a/../b.db' }, { DATABASE_URL: 'sqlite:a.db' }, 'sqlite:/b.db'],
  ])('is set by %s', (_, flags, environment, expected) => {
    expect(readConfig(flags, environment).databaseUrl).toBe(expected)
  })
})

test('a folder in the environment, as of version 1.1, is refused unless the database is named', () => {
  const environment = { PETSTORE_DATA: '/srv/shop' }
  expect(() => readConfig({}, environment)).toThrow('set DATABASE_URL=sqlite:/srv/shop/petstore.db')
  expect(readConfig({ databaseUrl: 'sqlite:/b.db' }, environment).databaseUrl).toBe('sqlite:/b.db')
})

test('import creates a database and prints its path; the other commands find it there', async () => {
  const shop = join(cwd, 'shop', 'petstore.db')
  const first = await petstore(['import', 'pets.csv', '--database-url', 'sqlite:shop/petstore.db'], { cwd })
  expect(first).toMatchObject({ exitCode: 0, stderr: `petstore: created a new database, ${shop}\n` })
  expect(first.stdout).toEndWith(` in ${shop}\n`)
  const env = { DATABASE_URL: 'sqlite:shop/petstore.db' }
  const again = await petstore(['import', 'pets.csv'], { cwd, env })
  expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('1 unchanged')])
  const key = await petstore(['keys', 'create', '--name', 'a', '--plan', 'free'], { cwd, env })
  expect([key.exitCode, key.stderr]).toEqual([0, expect.stringContaining(` in ${shop}.`)])
  expect(existsSync(join(cwd, 'data'))).toBe(false)
})

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSecret, isWellFormedSecret } from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { petstore } from './petstore.ts'

let cwd: string
let database: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-keys-'))
  database = join(cwd, 'keys.db')
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const keys = (...args: string[]) =>
  petstore(['keys', ...args, '--database-url', `sqlite:${database}`], { cwd })
const create = (...args: string[]) => keys('create', ...args)

async function find(secret: string) {
  const store = await openStore(`sqlite:${database}`, { tables: 'make' })
  const key = await store.findKey(hashSecret(secret))
  await store.close()
  return key
}

describe('petstore keys create', () => {
  test.each([
    ['free', { perMinute: 60, perDay: 1_000 }],
    ['pro', { perMinute: 300, perDay: 10_000 }],
    ['business', { perMinute: 1_000, perDay: 100_000 }],
  ])('makes a %s key, shown once and kept as a hash alone', async (plan, limits) => {
    const { exitCode, stdout, stderr } = await create('--name', 'My shop', '--plan', plan)
    expect(exitCode).toBe(0)
    const secret = stdout.trim()
    expect(isWellFormedSecret(secret)).toBe(true)
    expect(stderr).not.toContain(secret)
    expect(await find(secret)).toMatchObject({ name: 'My shop', plan, limits, readOnly: false })
    expect(readFileSync(database).includes(secret)).toBe(false)
  })

  test('makes an enterprise key with limits of its own, for staging, read-only, with an expiry', async () => {
    const { stdout } = await create(
      ...['--name', 'Chain', '--plan', 'enterprise', '--per-minute', '5000', '--per-day', '7000000'],
      ...['--environment', 'staging', '--expires', '2127-01-31', '--read-only'],
    )
    expect(stdout).toStartWith('pst_test_')
    expect(await find(stdout.trim())).toMatchObject({
      limits: { perMinute: 5_000, perDay: 7_000_000 },
      expiresAt: Date.UTC(2127, 0, 31),
      readOnly: true,
    })
  })

  test('takes an expiry as a duration', async () => {
    const { stdout } = await create('--name', 'a', '--plan', 'free', '--expires', '90d')
    const expiresAt = (await find(stdout.trim()))?.expiresAt ?? 0
    expect(Math.abs(expiresAt - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000)
  })

  test.each([
    ['no name', ['--plan', 'free'], '--name'],
    ['an empty name', ['--name', ' ', '--plan', 'free'], '--name'],
    ['no plan', ['--name', 'a'], '--plan'],
    ['an unknown plan', ['--name', 'a', '--plan', 'gold'], 'free, pro, business, enterprise'],
    ['enterprise without limits', ['--name', 'a', '--plan', 'enterprise', '--per-day', '5'], '--per-minute'],
    ['limits for another plan', ['--name', 'a', '--plan', 'pro', '--per-day', '5'], 'enterprise plan'],
    [
      'a limit that is none',
      ['--name', 'a', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '5'],
      '1 or more',
    ],
    ['a wrong expiry', ['--name', 'a', '--plan', 'pro', '--expires', 'soon'], '2027-01-31'],
    ['an expiry in the past', ['--name', 'a', '--plan', 'pro', '--expires', '2020-01-01'], 'in the future'],
    ['an unknown flag', ['--name', 'a', '--plan', 'pro', '--colour', 'red'], '--colour'],
  ])('%s is wrong use: one line and exit code 2', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await create(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('petstore keys list and show', () => {
  test('an empty store says how to make a key', async () => {
    const { exitCode, stdout } = await keys('list')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('petstore keys create')])
  })

  test('show keys masked, with plan, creation, last use and state', async () => {
    const secret = (await create('--name', 'My shop', '--plan', 'pro', '--read-only')).stdout.trim()
    for (const listed of [await keys('list'), await keys('show', 'My shop'), await keys('list', '--json')]) {
      expect(listed.exitCode).toBe(0)
      expect(listed.stdout).toContain(`${secret.slice(0, 9)}…${secret.slice(-4)}`)
      expect(listed.stdout).not.toContain(secret)
      expect(listed.stdout).toContain('active')
    }
    const [json] = JSON.parse((await keys('list', '--json')).stdout)
    expect(json).toMatchObject({
      name: 'My shop',
      plan: 'pro',
      readOnly: true,
      lastUsedAt: null,
      state: 'active',
    })
  })

  test('show tells whose secret it is, read from standard input', async () => {
    const secret = (await create('--name', 'My shop', '--plan', 'pro')).stdout.trim()
    const args = ['keys', 'show', '--key-stdin', '--database-url', `sqlite:${database}`]
    const found = await petstore(args, { cwd, stdin: `${secret}\n` })
    expect([found.exitCode, found.stdout]).toEqual([0, expect.stringContaining('My shop')])
    const unknown = await petstore(args, { cwd, stdin: 'pst_live_nothing' })
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.not.stringContaining('pst_live_nothing')])
  })

  test('a key is meant by its id, the beginning of it, or a name that is its own', async () => {
    await create('--name', 'twin', '--plan', 'free')
    await create('--name', 'twin', '--plan', 'free')
    const ambiguous = await keys('show', 'twin')
    expect([ambiguous.exitCode, ambiguous.stderr]).toEqual([1, expect.stringContaining('give the id')])
    const [{ id }] = JSON.parse((await keys('list', '--json')).stdout)
    expect((await keys('show', id)).stdout).toContain(id)
    expect((await keys('show', id.slice(0, 12))).stdout).toContain(id)
    const unknown = await keys('show', 'nobody')
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining('petstore keys list')])
  })
})

describe('petstore keys rotate, revoke and unban', () => {
  test('what was done is recorded, and shown with the key', async () => {
    await create('--name', 'shop', '--plan', 'free')
    const rotated = await keys('rotate', 'shop', '--grace', '1h')
    expect(isWellFormedSecret(rotated.stdout.trim())).toBe(true)
    expect((await keys('revoke', 'shop')).exitCode).toBe(0)
    const { stdout } = await keys('show', 'shop')
    for (const action of ['create by', 'rotate by', 'revoke by']) expect(stdout).toContain(action)
    expect(stdout).toContain('revoked')
  })

  test.each([
    ['rotate an unknown key', ['rotate', 'nobody'], 1, 'there is no key'],
    ['revoke an unknown key', ['revoke', 'nobody'], 1, 'there is no key'],
    ['unban a key that is not banned', ['unban', 'shop'], 1, 'is not banned'],
    ['rotate with a wrong grace', ['rotate', 'shop', '--grace', 'long'], 2, '--grace must be like'],
    ['revoke without a key', ['revoke'], 2, "missing required argument 'key'"],
    ['do something unknown', ['forget'], 2, 'unknown command'],
  ])('to %s is refused in one line', async (_, args, code, message) => {
    await create('--name', 'shop', '--plan', 'free')
    const { exitCode, stdout, stderr } = await keys(...args)
    expect([exitCode, stdout]).toEqual([code, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a revoked key is neither revoked again nor rotated', async () => {
    await create('--name', 'shop', '--plan', 'free')
    await keys('revoke', 'shop')
    expect((await keys('revoke', 'shop')).stderr).toContain('was revoked before')
    expect((await keys('rotate', 'shop')).stderr).toContain('is revoked')
  })
})

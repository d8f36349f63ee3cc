import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/compose.ts'
import { hashSecret, isWellFormedSecret } from '../../src/core/api-key.ts'
import { petstore } from './petstore.ts'

let cwd: string
let database: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-keys-'))
  database = join(cwd, 'keys.db')
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const create = (...args: string[]) =>
  petstore(['keys', 'create', '--database-url', `sqlite:${database}`, ...args], { cwd })

async function find(secret: string) {
  const store = openStore(`sqlite:${database}`)
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
    expect(await find(secret)).toMatchObject({ name: 'My shop', plan, limits })
    expect(readFileSync(database).includes(secret)).toBe(false)
  })

  test('makes an enterprise key with limits of its own, for staging, with an expiry', async () => {
    const { stdout } = await create(
      ...['--name', 'Chain', '--plan', 'enterprise', '--per-minute', '5000', '--per-day', '7000000'],
      ...['--environment', 'staging', '--expires', '2027-01-31'],
    )
    expect(stdout).toStartWith('pst_test_')
    expect(await find(stdout.trim())).toMatchObject({
      limits: { perMinute: 5_000, perDay: 7_000_000 },
      expiresAt: Date.UTC(2027, 0, 31),
    })
  })

  test.each([
    ['no name', ['--plan', 'free'], '--name'],
    ['no plan', ['--name', 'a'], '--plan'],
    ['an unknown plan', ['--name', 'a', '--plan', 'gold'], 'free, pro, business, enterprise'],
    [
      'enterprise without limits',
      ['--name', 'a', '--plan', 'enterprise', '--per-day', '5'],
      '--per-minute and --per-day',
    ],
    ['limits for another plan', ['--name', 'a', '--plan', 'pro', '--per-day', '5'], 'enterprise plan'],
    [
      'a limit that is none',
      ['--name', 'a', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '5'],
      '1 or more',
    ],
    ['a wrong expiry', ['--name', 'a', '--plan', 'pro', '--expires', 'soon'], '2027-01-31'],
    ['an unknown flag', ['--name', 'a', '--plan', 'pro', '--colour', 'red'], '--colour'],
  ])('%s is wrong use: one line and exit code 2', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await create(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

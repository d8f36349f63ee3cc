import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  DEFAULT_PERMISSIONS,
  hashSecret,
  isWellFormedSecret,
  PERMISSIONS,
  type Permission,
} from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { auditOf } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { petstore, petstoreInTerminal } from './petstore.ts'
import { runCommand } from './run-command.ts'

let cwd: string
let database: string
beforeEach(async () => {
  cwd = temporaryFolder()
  database = join(cwd, 'keys.db')
  await (await openStore(`sqlite:${database}`, { tables: 'migrate' })).close()
})

const keys = (...args: string[]) =>
  runCommand(['keys', ...args, '--database-url', `sqlite:${database}`], { cwd })
const create = (...args: string[]) => keys('create', ...args)

async function find(secret: string) {
  const store = await openStore(`sqlite:${database}`, { tables: 'migrate' })
  const key = await store.findKey(hashSecret(secret))
  await store.close()
  if (key === undefined) throw new Error('there is no such key')
  return key
}

describe('petstore keys create', () => {
  test.each([
    ['free', { perMinute: 60, perDay: 1_000 }],
    ['pro', { perMinute: 300, perDay: 10_000 }],
    ['business', { perMinute: 1_000, perDay: 100_000 }],
  ])('creates a %s key, printed once and stored only as a hash', async (plan, limits) => {
    const { exitCode, stdout, stderr } = await create('--name', 'My shop', '--plan', plan)
    expect(exitCode).toBe(0)
    const secret = stdout.trim()
    expect(isWellFormedSecret(secret)).toBe(true)
    expect(stderr).not.toContain(secret)
    expect(stderr).toContain(` in ${database}. Store the secret now`)
    expect(await find(secret)).toMatchObject({
      name: 'My shop',
      plan,
      limits,
      permissions: DEFAULT_PERMISSIONS,
    })
    expect(readFileSync(database).includes(secret)).toBe(false)
  })

  const ENTERPRISE = ['enterprise', '--per-minute', '5000', '--per-day', '7000000']
  test.each([
    [ENTERPRISE, { limits: { perMinute: 5_000, perDay: 7_000_000 }, permissions: DEFAULT_PERMISSIONS }],
    [['pro', '--expires', '2127-01-31'], { expiresAt: Date.UTC(2127, 0, 31) }],
    [['pro', '--may', 'none'], { permissions: [] }],
    [['pro', '--may', 'orders, stock'], { permissions: ['stock', 'orders'] as Permission[] }],
    [['pro', '--may', 'keys'], { permissions: ['keys'] as Permission[] }],
    [['pro', '--owner'], { permissions: [...PERMISSIONS] }],
  ])('creates a key of the plan %j as the flags say', async (flags, facts) => {
    const { stdout } = await create('--name', 'Shop', '--plan', ...flags)
    expect(await find(stdout.trim())).toMatchObject(facts)
  })

  test('prints the permissions of a new key', async () => {
    const { stderr } = await create('--name', 'a', '--plan', 'pro', '--may', 'orders, stock')
    expect(stderr).toContain('may change stock, orders')
  })

  test('if the secret cannot be printed, no key is created', async () => {
    const args = ['create', '--name', 'lost', '--plan', 'free', '--database-url', `sqlite:${database}`]
    const { exitCode, stderr } = await petstore(['keys', ...args], {
      cwd,
      through: ['/bin/sh', '-c', 'exec "$@" > /dev/full', 'sh'],
    })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('nothing was changed')])
    expect(stderr).toStartWith('petstore: the secret cannot be written to standard output (ENOSPC')
    expect(JSON.parse((await keys('list', '--json')).stdout)).toEqual([])
  })

  test('if the database does not answer, the secret may work, and the message says how to find out', async () => {
    using locking = new Database(database)
    locking.run('BEGIN IMMEDIATE')
    const { exitCode, stdout, stderr } = await create('--name', 'other', '--plan', 'free')
    expect([exitCode, isWellFormedSecret(stdout.trim())]).toEqual([1, true])
    expect(stderr).toMatch(
      /the key may or may not have been created; petstore keys list shows key_\w+ if it was/,
    )
    expect(stderr).not.toContain('does not work')
  })

  test('if the database refuses the key, the secret that was printed does not work', async () => {
    using refusing = new Database(database)
    refusing.run("CREATE TRIGGER refuse BEFORE INSERT ON keys BEGIN SELECT RAISE(ABORT, 'refused'); END")
    const { exitCode, stderr } = await create('--name', 'shop', '--plan', 'free')
    expect([exitCode, stderr]).toEqual([1, 'petstore: refused; the secret that was printed does not work\n'])
  })

  test('accepts an expiry as a duration', async () => {
    const { stdout } = await create('--name', 'a', '--plan', 'free', '--expires', '90d')
    const { expiresAt = 0 } = await find(stdout.trim())
    expect(Math.abs(expiresAt - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000)
  })
})

describe('petstore keys list', () => {
  test('an error prints no control characters, which could change what the terminal shows', async () => {
    const { stderr } = await keys('revoke', 'a\r\u001b[2Kb', '--yes')
    expect(stderr).toMatch(/^\P{Cc}*there is no key "a \[2Kb"\P{Cc}*\n$/u)
  })

  test('an empty store prints how to create a key', async () => {
    const { exitCode, stdout } = await keys('list')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('petstore keys create')])
  })

  test('shows keys masked, with plan, permissions, creation, last use and state', async () => {
    const secret = (await create('--name', 'My shop', '--plan', 'pro', '--may', 'pets,orders')).stdout.trim()
    for (const listed of [await keys('list'), await keys('list', '--json')]) {
      expect(listed.exitCode).toBe(0)
      expect(listed.stdout).toContain(`${secret.slice(0, 9)}…${secret.slice(-4)}`)
      expect(listed.stdout).not.toContain(secret)
      expect(listed.stdout).toContain('active')
    }
    expect((await keys('list')).stdout).toContain('orders,pets')
    const [json] = JSON.parse((await keys('list', '--json')).stdout)
    expect(json).toMatchObject({
      name: 'My shop',
      plan: 'pro',
      permissions: ['orders', 'pets'],
      limits: { perMinute: 300, perDay: 10_000 },
      paused: false,
      state: 'active',
    })
  })
})

describe('petstore keys revoke', () => {
  test('finds a key by its id, a unique prefix of it, or a unique name, and records who revoked it', async () => {
    for (const name of ['twin', 'twin', 'twin', 'shop']) await create('--name', name, '--plan', 'free')
    const ambiguous = await keys('revoke', 'twin', '--yes')
    expect([ambiguous.exitCode, ambiguous.stderr]).toEqual([1, expect.stringContaining('give the id')])
    const listed: { id: string; name: string }[] = JSON.parse((await keys('list', '--json')).stdout)
    const [first = '', second = ''] = listed.filter(({ name }) => name === 'twin').map(({ id }) => id)
    for (const reference of [first, second.slice(0, 12), 'shop']) {
      expect((await keys('revoke', reference, '--yes')).exitCode).toBe(0)
    }
    const after: { state: string }[] = JSON.parse((await keys('list', '--json')).stdout)
    expect(after.map(({ state }) => state)).toEqual(expect.arrayContaining(['active']))
    expect(after.filter(({ state }) => state === 'revoked')).toHaveLength(3)
    const store = await openStore(`sqlite:${database}`, { tables: 'migrate' })
    const user = expect.stringMatching(/^(?!unknown$)./)
    expect((await auditOf(store, first)).map(({ actor, action }) => [actor, action])).toEqual([
      [user, 'create'],
      [user, 'revoke'],
    ])
    await store.close()
  })

  test('an unknown name or a prefix that is too short revokes nothing, even with a single key', async () => {
    const { id } = await find((await create('--name', 'shop', '--plan', 'free')).stdout.trim())
    for (const reference of ['', 'k', 'key_', id.slice(0, 7), id.slice(4), 'sho']) {
      const { exitCode, stdout, stderr } = await keys('revoke', reference, '--yes')
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`there is no key "${reference}"; give its id`)
      expect(stderr).toEndWith('petstore keys list shows all keys\n')
    }
    expect((await keys('revoke', id.slice(0, 8), '--yes')).stdout).toContain(
      `Revoked ${id} ("shop") in ${database}.`,
    )
  })

  test('asks on a terminal', async () => {
    const secret = (await create('--name', 'shop', '--plan', 'free')).stdout.trim()
    const { id } = await find(secret)
    const answered = (answer: string) =>
      petstoreInTerminal(
        ['keys', 'revoke', id, '--database-url', `sqlite:${database}`],
        `Revoke ${id} ("shop", free) permanently?`,
        (program) => program.type(answer),
      )
    // Ctrl-D.
    expect(await answered('\x04')).toMatchObject({
      exitCode: 1,
      shown: expect.stringContaining('nothing was changed'),
    })
    expect((await find(secret)).revokedAt).toBeUndefined()
    expect((await answered('y\n')).exitCode).toBe(0)
    expect((await find(secret)).revokedAt).toBeNumber()
  })

  test('a revoked key cannot be revoked again', async () => {
    await create('--name', 'shop', '--plan', 'free')
    await keys('revoke', 'shop', '--yes')
    const again = await keys('revoke', 'shop', '--yes')
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining('is revoked, which is permanent'),
    ])
  })
})

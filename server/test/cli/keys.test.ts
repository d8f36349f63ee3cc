import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  DEFAULT_PERMISSIONS,
  hashSecret,
  isWellFormedSecret,
  PERMISSIONS,
} from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { petstore, petstoreInTerminal } from './petstore.ts'

let cwd: string
let database: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-keys-'))
  database = join(cwd, 'keys.db')
  await (await openStore(`sqlite:${database}`, { tables: 'migrate' })).close()
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const keys = (...args: string[]) =>
  petstore(['keys', ...args, '--database-url', `sqlite:${database}`], { cwd })
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

  test('creates an enterprise key with its own limits, for staging, without permissions, with an expiry', async () => {
    const { stdout } = await create(
      ...['--name', 'Chain', '--plan', 'enterprise', '--per-minute', '5000', '--per-day', '7000000'],
      ...['--environment', 'staging', '--expires', '2127-01-31', '--may', 'none'],
    )
    expect(stdout).toStartWith('pst_test_')
    expect(await find(stdout.trim())).toMatchObject({
      limits: { perMinute: 5_000, perDay: 7_000_000 },
      expiresAt: Date.UTC(2127, 0, 31),
      permissions: [],
    })
  })

  test('creates a key that manages keys only if --owner or --may says so', async () => {
    const shop = ['--name', 'Shop', '--plan', 'pro']
    const owner = await create(...shop, '--owner')
    expect((await find(owner.stdout.trim())).permissions).toEqual(PERMISSIONS)
    const manager = await create(...shop, '--may', 'keys')
    expect((await find(manager.stdout.trim())).permissions).toEqual(['keys'])
    const both = await create(...shop, '--owner', '--may', 'stock')
    expect([both.exitCode, both.stderr]).toEqual([2, expect.stringContaining('leave out --may')])
  })

  test('creates a key with the named permissions, and prints them', async () => {
    const { stdout, stderr } = await create('--name', 'a', '--plan', 'pro', '--may', 'orders, stock')
    expect(await find(stdout.trim())).toMatchObject({ permissions: ['stock', 'orders'] })
    expect(stderr).toContain('may change stock, orders')
  })

  test('if the secret cannot be printed, no key is created, and no key is rotated', async () => {
    const secret = (await create('--name', 'shop', '--plan', 'free')).stdout.trim()
    const onFullDisk = (...args: string[]) =>
      petstore(['keys', ...args, '--database-url', `sqlite:${database}`], {
        cwd,
        through: ['/bin/sh', '-c', 'exec "$@" > /dev/full', 'sh'],
      })
    for (const args of [
      ['create', '--name', 'lost', '--plan', 'free'],
      ['rotate', 'shop', '--grace', '0s'],
    ]) {
      const { exitCode, stderr } = await onFullDisk(...args)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('nothing was changed')])
      expect(stderr).toStartWith('petstore: the secret cannot be written to standard output (ENOSPC')
    }
    const [only, ...others] = JSON.parse((await keys('list', '--json')).stdout)
    expect([only.secrets.length, others]).toEqual([1, []])
    expect((await find(secret)).name).toBe('shop')
  })

  test('if the database does not answer, the secret may work, and the message says how to find out', async () => {
    const id = (await find((await create('--name', 'shop', '--plan', 'free')).stdout.trim())).id
    using locking = new Database(database)
    locking.run('BEGIN IMMEDIATE')
    const created = await create('--name', 'other', '--plan', 'free')
    const rotated = await keys('rotate', 'shop')
    for (const { exitCode, stdout, stderr } of [created, rotated]) {
      expect([exitCode, isWellFormedSecret(stdout.trim())]).toEqual([1, true])
      expect(stderr).toContain('the change may or may not have been made; keep the printed secret, and run ')
      expect(stderr).not.toContain('does not work')
    }
    expect(created.stderr).toMatch(/run petstore keys show key_\w+ to check/)
    expect(rotated.stderr).toContain(`run petstore keys show ${id} to check`)
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

  test.each([
    ['no name', ['--plan', 'free'], '--name'],
    ['an empty name', ['--name', ' ', '--plan', 'free'], '--name'],
    ['a name of two lines', ['--name', 'a\nb', '--plan', 'free'], 'without line ends'],
    ['a name that is too long', ['--name', 'a'.repeat(201), '--plan', 'free'], '1 to 200 characters'],
    ['no plan', ['--name', 'a'], '--plan'],
    ['an unknown plan', ['--name', 'a', '--plan', 'gold'], 'free, pro, business, enterprise'],
    ['enterprise without limits', ['--name', 'a', '--plan', 'enterprise', '--per-day', '5'], '--per-minute'],
    ['limits for another plan', ['--name', 'a', '--plan', 'pro', '--per-day', '5'], 'enterprise plan'],
    [
      'an invalid limit',
      ['--name', 'a', '--plan', 'enterprise', '--per-minute', '0', '--per-day', '5'],
      '1 or more',
    ],
    ['an invalid expiry', ['--name', 'a', '--plan', 'pro', '--expires', 'soon'], '2027-01-31'],
    ['an expiry in the past', ['--name', 'a', '--plan', 'pro', '--expires', '2020-01-01'], 'in the future'],
    [
      'an unknown permission',
      ['--name', 'a', '--plan', 'pro', '--may', 'stock,fish'],
      'stock,orders,pets,webhooks',
    ],
    ['an empty permission', ['--name', 'a', '--plan', 'pro', '--may', ''], '--may must be none'],
    ['none among others', ['--name', 'a', '--plan', 'pro', '--may', 'stock,none'], '--may must be none'],
    ['an unknown flag', ['--name', 'a', '--plan', 'pro', '--colour', 'red'], '--colour'],
  ])('%s is wrong usage: one line and exit code 2', async (_, args, message) => {
    const { exitCode, stdout, stderr } = await create(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('petstore keys list and show', () => {
  test('an error prints no control characters, which could change what the terminal shows', async () => {
    const { stderr } = await keys('show', 'a\r\u001b[2Kb')
    expect(stderr).toMatch(/^\P{Cc}*there is no key "a \[2Kb"\P{Cc}*\n$/u)
  })

  test('an empty store prints how to create a key', async () => {
    const { exitCode, stdout } = await keys('list')
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('petstore keys create')])
  })

  test('show keys masked, with plan, permissions, creation, last use and state', async () => {
    const secret = (await create('--name', 'My shop', '--plan', 'pro', '--may', 'pets,orders')).stdout.trim()
    for (const listed of [await keys('list'), await keys('show', 'My shop'), await keys('list', '--json')]) {
      expect(listed.exitCode).toBe(0)
      expect(listed.stdout).toContain(`${secret.slice(0, 9)}…${secret.slice(-4)}`)
      expect(listed.stdout).not.toContain(secret)
      expect(listed.stdout).toContain('active')
    }
    for (const listed of [await keys('list'), await keys('show', 'My shop')]) {
      expect(listed.stdout).toContain('orders,pets')
    }
    const [json] = JSON.parse((await keys('list', '--json')).stdout)
    expect(json).toMatchObject({
      name: 'My shop',
      plan: 'pro',
      permissions: ['orders', 'pets'],
      lastUsedAt: null,
      state: 'active',
    })
  })

  test('show finds the key of a secret from standard input', async () => {
    const secret = (await create('--name', 'My shop', '--plan', 'pro')).stdout.trim()
    const args = ['keys', 'show', '--key-stdin', '--database-url', `sqlite:${database}`]
    const found = await petstore(args, { cwd, stdin: `${secret}\n` })
    expect([found.exitCode, found.stdout]).toEqual([0, expect.stringContaining('My shop')])
    const unknown = await petstore(args, { cwd, stdin: 'pst_live_nothing' })
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.not.stringContaining('pst_live_nothing')])
  })

  test('a key is found by its id, a unique prefix of it, or a unique name', async () => {
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

describe('petstore keys change', () => {
  test('changes the given fields and keeps the rest, prints before and after, and records it', async () => {
    const secret = (await create('--name', 'shop', '--plan', 'free')).stdout.trim()
    const made = await find(secret)
    const { exitCode, stdout } = await keys('change', 'shop', '--may', 'orders', '--plan', 'pro')
    expect(exitCode).toBe(0)
    const [first, ...changes] = stdout.trimEnd().split('\n')
    expect(first).toBe(`Changed ${made.id} ("shop") in ${database}.`)
    const told = [
      'plan: free (60 a minute, 1000 a day) → pro (300 a minute, 10000 a day)',
      'may: stock,orders,pets → orders',
    ]
    expect(changes).toEqual(told)
    const limits = { perMinute: 300, perDay: 10_000 }
    expect(await find(secret)).toEqual({ ...made, plan: 'pro', limits, permissions: ['orders'] })
    const shown = (await keys('show', 'shop')).stdout
    expect(shown).toContain('change by')
    expect(shown).toContain(told.join('; '))
  })

  test('sets a name, an expiry and enterprise limits, and removes the expiry again', async () => {
    const secret = (await create('--name', 'shop', '--plan', 'free', '--may', 'stock')).stdout.trim()
    const limits = ['--plan', 'enterprise', '--per-minute', '7', '--per-day', '70']
    await keys('change', 'shop', '--name', 'till', '--expires', '2127-01-31', ...limits)
    const changed = { name: 'till', plan: 'enterprise', limits: { perMinute: 7, perDay: 70 } }
    expect(await find(secret)).toMatchObject({
      ...changed,
      permissions: ['stock'],
      expiresAt: Date.UTC(2127, 0, 31),
    })
    const { stdout } = await keys('change', 'till', '--expires', 'never')
    expect(stdout).toContain('expires: 2127-01-31T00:00:00.000Z → never')
    expect((await find(secret)).expiresAt).toBeUndefined()
  })

  test.each([
    ['nothing', ['shop'], 2, 'keys change needs at least one of --name, --plan, --expires and --may'],
    ['to its current values', ['shop', '--may', 'stock', '--plan', 'free'], 1, 'nothing was changed'],
    ['an unknown key', ['nobody', '--may', 'none'], 1, 'there is no key'],
    ['to an empty name', ['shop', '--name', ''], 2, '--name must be 1 to 200 characters'],
    ['to an unknown plan', ['shop', '--plan', 'gold'], 2, 'free, pro, business, enterprise'],
    ['to enterprise without limits', ['shop', '--plan', 'enterprise'], 2, '--per-minute'],
    ['limits without a plan', ['shop', '--per-day', '7'], 2, '--plan enterprise'],
    ['to limits of another plan', ['shop', '--plan', 'pro', '--per-day', '5'], 2, 'enterprise plan'],
    ['to an unknown permission', ['shop', '--may', 'all'], 2, 'stock,orders,pets,webhooks'],
    ['to an expiry in the past', ['shop', '--expires', '2020-01-01'], 2, 'in the future'],
  ])('to change %s is rejected in one line, and changes nothing', async (_, args, code, message) => {
    const secret = (await create('--name', 'shop', '--plan', 'free', '--may', 'stock')).stdout.trim()
    const before = await find(secret)
    const { exitCode, stdout, stderr } = await keys('change', ...args)
    expect([exitCode, stdout]).toEqual([code, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(await find(secret)).toEqual(before)
  })
})

describe('petstore keys pause, resume and pair', () => {
  test('pauses and resumes a key, and says if it is so already', async () => {
    const secret = (await create('--name', 'Till', '--plan', 'pro')).stdout.trim()
    expect((await keys('pause', 'Till')).stdout).toStartWith('Paused key_')
    expect((await find(secret)).pausedAt).toBeNumber()
    expect((await keys('list')).stdout).toContain('paused')
    expect((await keys('pause', 'Till')).stderr).toContain('is already paused; nothing was changed')
    expect((await keys('resume', 'Till')).stdout).toStartWith('Resumed key_')
    expect((await find(secret)).pausedAt).toBeUndefined()
    expect((await keys('resume', 'Till')).stderr).toContain('is not paused; nothing was changed')
    const { stdout } = await keys('show', 'Till')
    expect(stdout).toContain('paused: no → yes')
    expect(stdout).toContain('paused: yes → no')
  })

  test('prints a code, its expiry and a link, and stores only the hash of the code', async () => {
    await create('--name', 'Till', '--plan', 'pro')
    const { stdout, exitCode } = await keys('pair', 'Till', '--base-url', 'https://shop.example/v1')
    expect(exitCode).toBe(0)
    const code = /^Code +(\w{4}-\w{4})$/m.exec(stdout)?.[1]?.replace('-', '') ?? ''
    expect(stdout).toMatch(/^Expires +\d{4}-\d\d-\d\d \d\d:\d\d UTC$/m)
    expect(stdout).toContain(`https://shop.example/#pair=${code}`)
    expect((await keys('pair', 'Till')).stdout).toContain('http://127.0.0.1:8080/#pair=')
    const store = await openStore(`sqlite:${database}`, { tables: 'migrate' })
    expect(await store.findKeyByPairingCode(hashSecret(code), Date.now())).toBeUndefined()
    expect(JSON.stringify(await store.listAudit())).not.toContain(code)
    await store.close()
  })
})

test('petstore keys pair prints no code for a key that is paused or has expired', async () => {
  const store = await openStore(`sqlite:${database}`, { tables: 'migrate' })
  const key = { plan: 'pro', limits: { perMinute: 1, perDay: 1 }, permissions: [], createdAt: 1 } as const
  const stamp = { at: 1, actor: 'test' }
  const secretOf = (name: string) => ({ hash: name, hint: name, createdAt: 1 })
  await store.addKey({ ...key, id: 'key_paused', name: 'Paused', pausedAt: 1 }, secretOf('a'), stamp)
  await store.addKey({ ...key, id: 'key_expired', name: 'Expired', expiresAt: 2 }, secretOf('b'), stamp)
  await store.close()
  const refusal = async (name: string) => {
    const { exitCode, stdout, stderr } = await keys('pair', name)
    return [exitCode, stdout, stderr]
  }
  expect(await refusal('Paused')).toEqual([
    1,
    '',
    'petstore: key_paused ("Paused") is paused, so a code for it would not work; resume it first: petstore keys resume key_paused\n',
  ])
  expect(await refusal('Expired')).toEqual([
    1,
    '',
    'petstore: key_expired ("Expired") is expired, so a code for it would not work; give it a later expiry first: petstore keys change key_expired --expires WHEN\n',
  ])
})

describe('petstore keys rotate, revoke and unban', () => {
  test('a later rotation does not extend the secrets of an earlier one, and its message says so', async () => {
    const first = (await create('--name', 'shop', '--plan', 'free')).stdout.trim()
    await keys('rotate', 'shop', '--grace', '1h')
    const { expiresAt } = await find(first)
    const { stderr } = await keys('rotate', 'shop', '--grace', '7d')
    expect((await find(first)).expiresAt).toBe(expiresAt ?? 0)
    expect(stderr).toMatch(/; earlier secrets work until [-\d]+ [:\d]+ UTC at the latest\./)
    const { stdout } = await keys('show', 'shop')
    expect(stdout).toMatch(/earlier secrets end at [-:.\dTZ]+ at the latest$/m)
  })

  test('each command is recorded, and shown with the key', async () => {
    await create('--name', 'shop', '--plan', 'free')
    const rotated = await keys('rotate', 'shop', '--grace', '1h')
    expect(isWellFormedSecret(rotated.stdout.trim())).toBe(true)
    expect((await keys('revoke', 'shop', '--yes')).exitCode).toBe(0)
    const { stdout } = await keys('show', 'shop')
    for (const action of ['create by', 'rotate by', 'revoke by']) expect(stdout).toContain(action)
    expect(stdout).toContain('revoked')
  })

  test.each([
    ['rotate an unknown key', ['rotate', 'nobody'], 1, 'there is no key'],
    ['revoke an unknown key', ['revoke', 'nobody', '--yes'], 1, 'there is no key'],
    ['unban a key that is not banned', ['unban', 'shop'], 1, 'is not banned'],
    ['rotate with an invalid grace period', ['rotate', 'shop', '--grace', 'long'], 2, '--grace must be like'],
    ['revoke without a key', ['revoke'], 2, "missing required argument 'key'"],
    ['run an unknown command', ['forget'], 2, 'unknown command'],
  ])('to %s is rejected in one line', async (_, args, code, message) => {
    await create('--name', 'shop', '--plan', 'free')
    const { exitCode, stdout, stderr } = await keys(...args)
    expect([exitCode, stdout]).toEqual([code, ''])
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('an unknown name or a prefix that is too short revokes nothing, even with a single key', async () => {
    const { id } = await find((await create('--name', 'shop', '--plan', 'free')).stdout.trim())
    for (const reference of ['', 'k', 'key_', id.slice(0, 7), id.slice(4), 'sho']) {
      const { exitCode, stdout, stderr } = await keys('revoke', reference, '--yes')
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain(`there is no key "${reference}"; give its id`)
    }
    expect((await keys('revoke', id.slice(0, 8), '--yes')).stdout).toContain(
      `Revoked ${id} ("shop") in ${database}.`,
    )
  })

  test('revoking asks on a terminal, and needs --yes without one', async () => {
    const secret = (await create('--name', 'shop', '--plan', 'free')).stdout.trim()
    const { id } = await find(secret)
    const unasked = await keys('revoke', id)
    expect([unasked.exitCode, unasked.stderr]).toEqual([
      2,
      'petstore: there is no terminal to ask for confirmation; --yes revokes the key without asking\n',
    ])
    const answered = (answer: string) =>
      petstoreInTerminal(
        ['keys', 'revoke', id, '--database-url', `sqlite:${database}`],
        `Revoke ${id} ("shop", free) permanently?`,
        (program) => program.type(answer),
      )
    expect(await answered('n\n')).toMatchObject({
      exitCode: 1,
      shown: expect.stringContaining('nothing was changed'),
    })
    expect((await find(secret)).revokedAt).toBeUndefined()
    expect((await answered('y\n')).exitCode).toBe(0)
    expect((await find(secret)).revokedAt).toBeNumber()
  })

  test('a revoked key cannot be revoked, rotated or changed', async () => {
    await create('--name', 'shop', '--plan', 'free')
    await keys('revoke', 'shop', '--yes')
    expect((await keys('revoke', 'shop', '--yes')).stderr).toContain('is already revoked')
    expect((await keys('rotate', 'shop')).stderr).toContain('is revoked')
    expect((await keys('change', 'shop', '--may', 'none')).stderr).toContain('is revoked')
  })
})

test('no command removes the last unpaused key without expiry that manages keys', async () => {
  const secret = (await create('--name', 'owner', '--plan', 'free', '--owner')).stdout.trim()
  await create('--name', 'guest', '--plan', 'free', '--owner', '--expires', '90d')
  const before = await find(secret)
  for (const args of [
    ['revoke', 'owner', '--yes'],
    ['pause', 'owner'],
    ['change', 'owner', '--may', 'stock'],
    ['change', 'owner', '--expires', '90d'],
  ]) {
    const { exitCode, stdout, stderr } = await keys(...args)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`${before.id} is the only unpaused key without expiry`)
  }
  expect(await find(secret)).toEqual(before)
})

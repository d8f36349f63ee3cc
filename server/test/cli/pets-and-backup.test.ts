import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toStoredSecret } from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { TestService } from '../support/test-service.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { petstore, petstoreInTerminal } from './petstore.ts'

const AT = Date.UTC(2026, 10, 15, 12, 34, 56, 789)
const BIG = 9223372036854775807n

let cwd: string
let url: string
let store: Store
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-pets-'))
  url = `sqlite:${join(cwd, 'petstore.db')}`
  store = await openStore(url, { tables: 'migrate' })
  await store.addPets([
    { id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 },
    { id: BIG, name: 'Last', categoryId: 1n, status: 'sold', quantity: 0 },
    { id: -7n, name: 'Minus', categoryId: 1n, status: 'sold', quantity: 0 },
  ])
  const key = { id: 'key_a', name: 'The till', plan: 'free' as const, permissions: [], createdAt: AT }
  await store.addKey({ ...key, limits: { perMinute: 60, perDay: 1_000 } }, toStoredSecret('x', AT), {
    at: AT,
    actor: 'test',
  })
  await store.changeStock([
    { type: 'set_quantity', petId: BIG, quantity: 12, keyId: 'key_a', at: AT },
    { type: 'set_quantity', petId: BIG, quantity: 5, keyId: 'key_gone', at: AT + 1_000 },
  ])
})
afterEach(async () => {
  await store.close()
  rmSync(cwd, { recursive: true, force: true })
})

const run = (...args: string[]) => petstore([...args, '--database-url', url], { cwd })

describe('petstore history', () => {
  test('shows each change with its time, size and author', async () => {
    const { exitCode, stdout } = await run('history', String(BIG))
    expect([exitCode, stdout]).toEqual([
      0,
      `WHEN                 BEFORE  AFTER  CHANGE  KEY
2026-11-15 12:34:56       0     12  +12     The till
2026-11-15 12:34:57      12      5  -7      key_gone
`,
    ])
  })

  test('--json prints the same for machines, with exact ids', async () => {
    const { stdout } = await run('history', String(BIG), '--json')
    expect(stdout).toContain('"petId": 9223372036854775807')
    const entries: unknown = JSON.parse(stdout)
    expect(entries).toEqual([
      expect.objectContaining({
        at: '2026-11-15T12:34:56.789Z',
        before: 0,
        after: 12,
        change: 12,
        keyId: 'key_a',
        keyName: 'The till',
      }),
      expect.objectContaining({ change: -7, keyId: 'key_gone', keyName: null }),
    ])
    expect((await run('history', '1', '--json')).stdout).toBe('[]\n')
  })

  test('shows the reason of an adjustment', async () => {
    const origin = { keyId: 'key_a', at: AT, reason: 'damaged', reference: 'note "7"' } as const
    await store.changeStock([{ type: 'adjust', ...origin, changes: [{ petId: BIG, delta: -1 }] }])
    const { stdout } = await run('history', String(BIG))
    expect(stdout).toMatch(/KEY +REASON +REFERENCE/)
    expect(stdout).toMatch(/-1 +The till +damaged +note "7"\n/)
    const entries = JSON.parse((await run('history', String(BIG), '--json')).stdout) as object[]
    expect(entries[2]).toMatchObject({ reason: 'damaged', reference: 'note "7"' })
    expect(entries[0]).not.toContainKey('reason')
  })

  test('shows everything, oldest first, whatever the length', async () => {
    const quantities = Array.from({ length: 2_300 }, (_, index) => index + 10)
    await store.changeStock(
      quantities.map((quantity) => ({
        type: 'set_quantity' as const,
        petId: 1n,
        quantity,
        keyId: 'key_a',
        at: AT,
      })),
    )
    const entries = JSON.parse((await run('history', '1', '--json')).stdout) as { after: number }[]
    expect(entries.map(({ after }) => after)).toEqual(quantities)
  })

  test('says so if nothing changed, and fails for an unknown pet', async () => {
    expect((await run('history', '1')).stdout).toBe('The history has no stock changes for pet 1.\n')
    expect((await run('history', '-7')).exitCode).toBe(0)
    const { exitCode, stderr } = await run('history', '404')
    expect([exitCode, stderr]).toEqual([
      1,
      'petstore: there is no pet 404, and the history has no changes for it\n',
    ])
  })
})

describe('petstore pets remove', () => {
  test('--yes removes the pet and its stock; its history stays', async () => {
    const { exitCode, stdout } = await run('pets', 'remove', String(BIG), '--yes')
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining(`Removed pet ${BIG} ("Last", sold) from ${cwd}/petstore.db.`),
    ])
    expect((await stockOf(store)).map(({ petId }) => petId)).toEqual([-7n, 1n])
    const { stdout: history } = await run('history', String(BIG))
    expect(history).toContain('The till')
    expect(history).toMatch(
      new RegExp(`\nPet ${BIG} was removed at \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d by petstore\\.\n$`),
    )
    const again = await run('pets', 'remove', String(BIG), '--yes')
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      `petstore: there is no pet ${BIG}; nothing was changed\n`,
    ])
  })

  test('a pet without stock changes has its removal as history', async () => {
    await run('pets', 'remove', '1', '--yes')
    const { exitCode, stdout } = await run('history', '1')
    expect([exitCode, stdout.split('\n')]).toEqual([
      0,
      [
        'The history has no stock changes for pet 1.',
        expect.stringMatching(/^Pet 1 was removed at .* by petstore\.$/),
        '',
      ],
    ])
    expect(JSON.parse((await run('history', '1', '--json')).stdout)).toEqual([
      { petId: 1, at: expect.any(String), keyId: 'petstore', keyName: null, removed: true },
    ])
  })

  test.each([
    ['y\n', 0, 2],
    ['n\n', 1, 3],
    ['\n', 1, 3],
  ])('on a terminal it asks, and follows the answer %j', async (answer, code, left) => {
    const { exitCode, shown } = await petstoreInTerminal(
      ['pets', 'remove', '1', '--database-url', url],
      'Remove pet 1 ("Biscuit", available) and its stock?',
      (program) => program.type(answer),
    )
    expect(shown).toContain(code === 0 ? 'Removed pet 1' : 'nothing was changed')
    expect([exitCode, await store.countPets()]).toEqual([code, left])
  })

  test('without a terminal and --yes it refuses', async () => {
    const { exitCode, stderr } = await run('pets', 'remove', '1')
    expect([exitCode, stderr]).toEqual([
      2,
      'petstore: there is no terminal to ask for confirmation; --yes removes the pet without asking\n',
    ])
    expect(await store.countPets()).toBe(3)
  })

  test('a running service no longer lists the pet', async () => {
    const service = await TestService.start({ realTime: true })
    try {
      const before = (await service.call('GET', '/inventory')).items.length
      await petstore(['pets', 'remove', '1', '--yes', '--database-url', `sqlite:${service.databasePath}`])
      const items = (await service.call('GET', '/inventory')).items
      expect([items.length, items[0]?.petId]).toEqual([before - 1, 2])
      expect((await service.setQuantity(1n, '{"quantity": 1}')).status).toBe(404)
    } finally {
      await service.stop()
    }
  })
})

describe('petstore backup', () => {
  test('copies the database while a service writes, complete and private to its owner', async () => {
    const service = await TestService.start({ realTime: true })
    try {
      let isOver = false
      const updating = (async () => {
        for (let quantity = 1; !isOver; quantity++) {
          expect((await service.setQuantity(1n, `{"quantity": ${quantity}}`)).status).toBe(200)
        }
      })()
      const copy = join(cwd, 'copy.db')
      const made = await petstore(['backup', copy, '--database-url', `sqlite:${service.databasePath}`])
      isOver = true
      await updating
      expect([made.exitCode, made.stderr]).toEqual([0, ''])
      expect(statSync(copy).mode & 0o777).toBe(0o600)

      const again = await petstore(['restore', copy, '--data', join(cwd, 'again')], { cwd })
      expect([again.exitCode, again.stderr]).toEqual([0, ''])
      const restored = await openStore(`sqlite:${join(cwd, 'again/petstore.db')}`, {
        tables: 'require_current_tables',
      })
      const history = await historyOf(restored, 1n)
      const [item] = await stockOf(restored)
      expect(item?.quantity).toBe(history.at(-1)?.after ?? 4)
      expect(await restored.findDamage()).toEqual([])
      await restored.close()
    } finally {
      await service.stop()
    }
  })

  test('does not overwrite a file, and leaves nothing behind on failure', async () => {
    expect((await run('backup', 'copy.db')).exitCode).toBe(0)
    const again = await run('backup', 'copy.db')
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      'petstore: copy.db already exists; choose another name\n',
    ])
    for (const [path, problem] of [
      ['none/copy.db', 'cannot write none/copy.db: there is no folder '],
      ['', 'cannot write to a file without a name'],
    ] as const) {
      const { exitCode, stderr } = await run('backup', path)
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)])
    }
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([])
  })
})

describe('Each of these commands', () => {
  test.each(['import', 'export', 'history', 'history prune', 'pets', 'pets remove', 'backup'])(
    '%s has a --help text',
    async (command) => {
      const { exitCode, stdout, stderr } = await petstore([...command.split(' '), '--help'], { cwd })
      expect([exitCode, stderr]).toEqual([0, ''])
      expect(stdout).toStartWith(`Usage: petstore ${command} `)
    },
  )

  test.each([
    [['history']],
    [['history', 'abc']],
    [['history', '9223372036854775808']],
    [['pets', 'remove', '1.5', '--yes']],
    [['backup']],
    [['export', '--colour']],
  ])('%j is wrong usage: one line and exit code 2', async (args) => {
    const { exitCode, stdout, stderr } = await run(...args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

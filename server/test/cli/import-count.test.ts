import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BEFORE, openShop, type Shop } from './shop.ts'

setDefaultTimeout(120_000)

describe('petstore import of a count', () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await openShop()
  })
  afterEach(async () => {
    await shop.close()
  })

  const COUNT = 'quantity,petId\n6,1\n1,2\n0,9223372036854775807\n'

  test('is one adjustment with the reason counted, and changes nothing the second time', async () => {
    const first = await shop.run('import', 'count', shop.file(COUNT, 'count.csv'))
    expect([first.exitCode, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toStartWith('count.csv (counted): 2 pets changed, 1 unchanged (')
    expect(await shop.quantities()).toEqual([6, 1, 0, 0])
    const [entry] = await shop.historyOf(1n)
    expect(entry).toEqual({
      petId: 1n,
      before: 4,
      after: 6,
      at: expect.any(Number),
      keyId: 'petstore-import',
      reason: 'counted',
    })
    expect((await shop.run('import', 'count', 'count.csv')).stdout).toContain('0 pets changed, 3 unchanged')
    expect(await shop.historyOf(1n)).toHaveLength(1)
  })

  test('rejects unknown pets with their lines', async () => {
    const name = shop.file(`${COUNT}4,404\n-1,3\n5,405\n`, 'count.csv')
    const told = [
      '  line 5: there is no pet 404',
      `  line 6: quantity must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, got "-1"`,
      '  line 7: there is no pet 405',
    ]
    const refused = await shop.run('import', 'count', name)
    expect([refused.exitCode, refused.stderr.split('\n')]).toEqual([
      1,
      [
        ...told,
        'petstore: count.csv has 3 bad lines; nothing was changed. Fix the file and run the command again; petstore export shows the current stock',
        '',
      ],
    ])
    expect(await shop.quantities()).toEqual(BEFORE)
    const dry = await shop.run('import', 'count', name, '--dry-run')
    expect([dry.exitCode, dry.stdout.split('\n')]).toEqual([1, expect.arrayContaining(told)])
    expect(dry.stdout).toContain('  line 2: pet 1: quantity 4 → 6\n')
    expect(await shop.quantities()).toEqual(BEFORE)
  })
})

test('a count does not create a missing store', async () => {
  const shop = await openShop()
  const count = shop.file('petId,quantity\n1,1\n')
  const { exitCode, stderr } = await shop.run('import', 'count', count, '--database-url', 'sqlite:none.db')
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`there is no database at ${join(shop.cwd, 'none.db')};`),
  ])
  expect(existsSync(join(shop.cwd, 'none.db'))).toBe(false)
  await shop.close()
})

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { EventReader } from '../support/event-reader.ts'
import { petstore, petstoreInterruptedAt } from './petstore.ts'
import { serve } from './running-petstore.ts'
import { BEFORE, ON_BOTH, openShop, type Shop } from './shop.ts'

setDefaultTimeout(120_000)

const MAX = '9007199254740991'
const RECEIVED = ['--reason', 'received', '--reference', 'PO-1043']
const FIX = 'Fix the file and run the command again; petstore export shows the current stock'
const DELTA = `delta must be an integer other than 0 from -${MAX} to ${MAX}`
const EXPECTED_FILE =
  'expected CSV with the header petId,delta or petId,quantity, each with an optional column named expected; or JSON Lines with these names'

describe.each(ON_BOTH)('petstore adjust on %s', (_, onPostgres) => {
  let shop: Shop
  let running: Awaited<ReturnType<typeof serve>> | undefined
  beforeEach(async () => {
    shop = await openShop(onPostgres)
  })
  afterEach(async () => {
    await running?.stop()
    running = undefined
    await shop.close()
  })

  test('applies the file, and the history shows reason and author', async () => {
    const { exitCode, stdout, stderr } = await shop.run(
      ...['adjust', ...RECEIVED, shop.file('petId,delta\n1,12\n3,+5\n9223372036854775807,-1\n')],
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith('delivery.csv (received, PO-1043): 3 pets changed, 0 unchanged (')
    expect(await shop.quantities()).toEqual([16, 1, 5, Number(MAX) - 1])
    expect(await shop.historyOf(1n)).toEqual([
      {
        petId: 1n,
        before: 4,
        after: 16,
        at: expect.any(Number),
        keyId: 'petstore-adjust',
        reason: 'received',
        reference: 'PO-1043',
      },
    ])
    expect((await shop.run('history', '1')).stdout).toMatch(
      / 4 +16 +\+12 +petstore adjust +received +PO-1043\n/,
    )
    expect(JSON.parse((await shop.run('history', '1', '--json')).stdout)).toMatchObject([
      { keyId: 'petstore-adjust', keyName: 'petstore adjust', reason: 'received', reference: 'PO-1043' },
    ])
  })

  test('sets quantities only if they are as expected, and reads standard input and JSON Lines', async () => {
    const counted = await shop.runWith(
      'expected,petId,quantity\r\n4,1,40\r\n,2,1\r\n',
      ...['adjust', '--reason', 'counted', '-'],
    )
    expect([counted.exitCode, counted.stdout]).toEqual([
      0,
      expect.stringContaining('standard input (counted): 1 pet changed, 1 unchanged'),
    ])
    const lines = '{"petId":1,"delta":-1,"expected":40}\n\n{"petId":9223372036854775807,"quantity":7}\n'
    const mixed = await shop.runWith(lines, 'adjust', '--reason', 'corrected', '-')
    expect([mixed.exitCode, mixed.stderr]).toEqual([0, ''])
    expect(await shop.quantities()).toEqual([39, 1, 0, 7])
    expect((await shop.historyOf(1n)).map(({ reason }) => reason)).toEqual(['counted', 'corrected'])
    expect(await shop.historyOf(2n)).toEqual([])
  })

  test('prints every line that cannot be applied with advice, and changes nothing', async () => {
    const name = shop.file(
      `petId,delta,quantity,expected
1,1,,
1,2,,
2,,,
3,1,1,
404,1,,
2,-2,,
9223372036854775807,1,,
3,0,,
3,1.5,,
3,"5",,3
x,1,,
3,9007199254740992,,
3,,-9007199254740992,
`,
    )
    const expected = `  line 3: pet 1 is already on line 2
  line 4: a change must have exactly one of delta and quantity, got neither
  line 5: a change must have exactly one of delta and quantity, got both
  line 6: there is no pet 404
  line 7: the quantity of petId 2 is 1, so 2 cannot be taken away
  line 8: the quantity of petId 9223372036854775807 is ${MAX}, and with 1 more it would be above ${MAX}
  line 9: ${DELTA}, got "0"
  line 10: ${DELTA}, got "1.5"
  line 11: the quantity of petId 3 is 0, not 3 as expected; read it again before you retry
  line 12: petId must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got "x"
  line 13: ${DELTA}, got "9007199254740992"
  line 14: quantity must be an integer from 0 to ${MAX}, got "-9007199254740992"
petstore: delivery.csv has 12 bad lines; nothing was changed. ${FIX}
`
    const { exitCode, stdout, stderr } = await shop.run('adjust', ...RECEIVED, name)
    expect([exitCode, stdout, stderr]).toEqual([1, '', expected])
    const bounded = await shop.run('adjust', ...RECEIVED, name, '--show', '1')
    expect(bounded.stderr.split('\n')).toEqual([
      '  line 3: pet 1 is already on line 2',
      '  … and 11 more (--show 12 shows all)',
      `petstore: delivery.csv has 12 bad lines; nothing was changed. ${FIX}`,
      '',
    ])
    expect(await shop.quantities()).toEqual(BEFORE)
    expect(await shop.historyOf(1n)).toEqual([])
  })

  test('one unreadable line rejects the whole file', async () => {
    const { exitCode, stderr } = await shop.run('adjust', ...RECEIVED, shop.file('petId,delta\n1,1\n2,x\n'))
    expect([exitCode, stderr.split('\n')[0]]).toEqual([1, `  line 3: ${DELTA}, got "x"`])
    expect(await shop.quantities()).toEqual(BEFORE)
  })

  test('unknown pets are reported even if every line is readable', async () => {
    const { exitCode, stderr } = await shop.run(
      'adjust',
      ...RECEIVED,
      shop.file('petId,delta\n1,1\n404,1\n2,1\n405,1\n'),
    )
    expect([exitCode, stderr.split('\n')]).toEqual([
      1,
      [
        '  line 3: there is no pet 404',
        '  line 5: there is no pet 405',
        `petstore: delivery.csv has 2 bad lines; nothing was changed. ${FIX}`,
        '',
      ],
    ])
    expect(await shop.quantities()).toEqual(BEFORE)
  })

  test('--dry-run shows the changes line by line, and makes none', async () => {
    const name = shop.file('petId,delta,quantity\n1,12,\n2,,1\n404,1,\n3,-1,\n')
    const { exitCode, stdout, stderr } = await shop.run('adjust', ...RECEIVED, '--dry-run', name)
    expect(stdout).toBe(`Dry run of delivery.csv: nothing was changed.

  would change                 1
  would leave alone            1
  refused                      2

Would change
  line 2: pet 1: quantity 4 → 16

Refused
  line 4: there is no pet 404
  line 5: the quantity of petId 3 is 0, so 1 cannot be taken away
`)
    expect([exitCode, stderr]).toEqual([
      1,
      `petstore: delivery.csv has 2 bad lines; nothing was changed. ${FIX}\n`,
    ])
    const good = await shop.run('adjust', ...RECEIVED, '--dry-run', shop.file('petId,delta\n1,12\n'))
    expect([good.exitCode, good.stderr]).toEqual([0, ''])
    expect(await shop.quantities()).toEqual(BEFORE)
  })

  test('a reference of any 200 characters is accepted', async () => {
    const reference = `"${'🐶'.repeat(195)}, \\'`
    const { exitCode } = await shop.run(
      ...['adjust', '--reason', 'lost', '--reference', reference, shop.file('petId,delta\n1,-1\n')],
    )
    expect([exitCode, (await shop.historyOf(1n))[0]?.reference]).toEqual([0, reference])
  })

  test.each([
    ['an empty file', '', `delivery.csv is empty; ${EXPECTED_FILE}`],
    ['only a header', 'petId,delta\n\n', 'delivery.csv names no pet; nothing was changed'],
    ['another header', 'name,status\n1,2\n', `delivery.csv begins with "name,status"; ${EXPECTED_FILE}`],
    [
      ...['a wrong column', 'petId;dleta\n1;2\n'],
      'delivery.csv looks like an adjustment, but its header is wrong: dleta is not a column of an adjustment; did you mean delta?',
    ],
  ])('%s is rejected in one line', async (_, text, message) => {
    const { exitCode, stdout, stderr } = await shop.run('adjust', ...RECEIVED, shop.file(text))
    expect([exitCode, stdout, stderr]).toEqual([1, '', `petstore: ${message}\n`])
  })

  test('reads semicolons, tabs, empty rows and columns in any order', async () => {
    const semicolons = shop.file('\ufeffExpected;DELTA;petid\r\n4;12;1\r\n;;\r\n;-1;2\r\n')
    expect((await shop.run('adjust', ...RECEIVED, semicolons)).stderr).toBe('')
    expect(await shop.quantities()).toEqual([16, 0, 0, Number(MAX)])
    const tabs = shop.file('quantity\tpetId\n5\t3\n')
    expect((await shop.run('adjust', ...RECEIVED, tabs)).stderr).toBe('')
    expect(await shop.quantities()).toEqual([16, 0, 5, Number(MAX)])
  })

  test('does not create a missing database', async () => {
    const missing = onPostgres ? shop.env.DATABASE_URL.replace(/[^/]+$/, 'none') : 'sqlite:none.db'
    const { exitCode, stderr } = await shop.run(
      ...['adjust', ...RECEIVED, shop.file('petId,delta\n1,1\n'), '--database-url', missing],
    )
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/no database at|cannot open the database/)])
  })

  test('a running service lists the change at once, and its events have the reason', async () => {
    const limits = ['--per-minute', '999999', '--per-day', '999999']
    const made = await shop.run('keys', 'create', '--name', 'a', '--plan', 'enterprise', ...limits)
    const key = made.stdout.trim()
    running = await serve([], { cwd: shop.cwd, env: { ...shop.env, LOG_REQUESTS: 'none' } })
    const list = async () => (await running?.call('/inventory', key))?.text()
    expect(await list()).toContain('{"petId":1,"quantity":4,')
    const events = await EventReader.open(`${running.address}/v1/inventory/events`, key)
    try {
      expect((await shop.run('adjust', ...RECEIVED, shop.file('petId,delta\n1,12\n2,1\n'))).exitCode).toBe(0)
      expect(await list()).toContain(
        '{"petId":1,"quantity":16,"status":"available"},{"petId":2,"quantity":2,',
      )
      expect((await shop.run('import', shop.file('petId,quantity\n2,9\n'))).exitCode).toBe(0)
      expect(await list()).toContain('{"petId":2,"quantity":9,')
      const told = () => events.events.filter(({ name }) => name === 'change')
      await events.until(() => told().length === 3)
      expect(told().map(({ data }) => JSON.parse(data))).toMatchObject([
        { petId: 1, before: 4, after: 16, reason: 'received', reference: 'PO-1043' },
        { petId: 2, before: 1, after: 2, reason: 'received', reference: 'PO-1043' },
        { petId: 2, before: 2, after: 9, keyId: 'petstore-import', reason: 'counted' },
      ])
      const history = await (await running.call('/inventory/1/history', key)).json()
      expect(history).toMatchObject([
        { before: 4, after: 16, keyId: 'petstore-adjust', reason: 'received', reference: 'PO-1043' },
      ])
    } finally {
      events.close()
    }
  })

  test('more pets than a request allows are one adjustment, and Ctrl-C during it leaves nothing', async () => {
    const petIds = Array.from({ length: 30_000 }, (_, index) => index + 1)
    const pets = petIds.map((id) => `${id},Pet,1,available,5\n`)
    shop.file(`petId,name,categoryId,status,quantity\n${pets.join('')}`, 'pets.csv')
    expect((await shop.run('import', 'pets.csv')).exitCode).toBe(0)
    const name = shop.file(`petId,quantity\n${petIds.map((id) => `${id},8\n`).join('')}`, 'count.csv')
    const { exitCode, shown } = await petstoreInterruptedAt('writing', 'SIGINT', [
      ...['adjust', '--reason', 'counted', join(shop.cwd, name)],
      ...['--database-url', shop.env.DATABASE_URL],
    ])
    expect(shown).toContain('petstore: stopped by SIGINT; nothing was changed')
    expect([exitCode, new Set((await shop.quantities()).slice(0, 30_000))]).toEqual([130, new Set([5])])
    const counted = await shop.run('adjust', '--reason', 'counted', name)
    expect(counted.stdout).toStartWith('count.csv (counted): 30,000 pets changed, 0 unchanged (')
    expect(new Set((await shop.quantities()).slice(0, 30_000))).toEqual(new Set([8]))
    expect((await shop.run('doctor')).stdout).toContain('the database is intact')
  })
})

test.each([
  [
    'an unknown reason',
    ['--reason', 'stolen', 'x'],
    '--reason must be one of received, returned, sold, damaged, lost, counted, corrected, got "stolen"',
  ],
  ['no reason', ['x'], "required option '--reason <reason>' not specified"],
  [
    'a reference of 201 characters',
    ['--reason', 'lost', '--reference', '🐶'.repeat(201), 'x'],
    '--reference must be a string of at most 200 characters without control characters, got "',
  ],
  [
    'a reference with a control character',
    ['--reason', 'lost', '--reference', 'a\u0007b', 'x'],
    '--reference must be a string of at most 200 characters without control characters, got "a\\u0007b"',
  ],
  ['no file', ['--reason', 'lost'], "missing required argument 'file'"],
  ['--skip-bad', ['--reason', 'lost', '--skip-bad', 'x'], "unknown option '--skip-bad'"],
])('%s is wrong usage, reported in one line', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await petstore(['adjust', ...args])
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toStartWith(`petstore: ${message}`)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

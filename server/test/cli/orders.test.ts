import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewOrder } from '../../src/core/orders/order.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { pet } from '../store/plain-rows.ts'
import { historyOf } from '../support/whole-store.ts'
import { petstore } from './petstore.ts'

setDefaultTimeout(120_000)

const NOW = Date.UTC(2040, 0, 15, 12)
const BIG = 9223372036854775807n
const HEADER = 'id,petId,quantity,shipDate,complete'
const NOTE = 'a gift,\n"wrapped"'

let cwd: string
let path: string
let store: Store
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-orders-'))
  path = join(cwd, 'data/petstore.db')
  store = await openStore(`sqlite:${path}`, { tables: 'migrate', clock: () => NOW })
  await store.addPets([pet(1n, 10), pet(BIG, 5)])
  const drafts: NewOrder[] = [
    { petId: 1n, quantity: 4, shipDate: Date.UTC(2040, 1, 1) },
    { petId: BIG, quantity: 2, holdSeconds: 86_400, customer: 'Anna Smith', note: NOTE },
    { petId: 1n, quantity: 1 },
  ]
  await store.changeStock(
    drafts.map((draft) => ({ type: 'create_order' as const, order: draft, keyId: 'key_a', at: NOW })),
  )
})
afterEach(async () => {
  await store.close()
  rmSync(cwd, { recursive: true, force: true })
})

const run = (...args: string[]) => petstore(args, { cwd })

describe('petstore orders', () => {
  test('list shows open and complete orders, by id', async () => {
    expect(await run('orders', 'list')).toEqual({
      exitCode: 0,
      stdout: `ID  PET                  QUANTITY  STATE  CREATED           EXPIRES           SHIPS             CLOSED  CUSTOMER
1   1                           4  open   2040-01-15 12:00  -                 2040-02-01 00:00  -       -
2   9223372036854775807         2  open   2040-01-15 12:00  2040-01-16 12:00  -                 -       Anna Smith
3   1                           1  open   2040-01-15 12:00  -                 -                 -       -
`,
      stderr: '',
    })
  })

  test('list accepts a state, a pet and a limit, and says if there are more', async () => {
    await run('orders', 'cancel', '3')
    const { stdout } = await run('orders', 'list', '--state', 'cancelled', '--json')
    expect(JSON.parse(stdout)).toEqual([
      {
        id: 3,
        petId: 1,
        quantity: 1,
        state: 'cancelled',
        createdAt: '2040-01-15T12:00:00.000Z',
        expiresAt: null,
        shipDate: null,
        closedAt: expect.any(String),
        createdBy: 'key_a',
        closedBy: 'petstore',
      },
    ])
    const some = await run('orders', 'list', '--limit', '1', '--json')
    expect(JSON.parse(some.stdout)).toHaveLength(1)
    expect(some.stderr).toContain('there are more than 1 order; --limit shows more')
    expect((await run('orders', 'list', '--pet', String(BIG), '--json')).stdout).toContain(`"petId": ${BIG}`)
    expect((await run('orders', 'list', '--customer', 'ANNA', '--json')).stdout).toContain('"id": 2,')
    expect((await run('orders', 'list', '--customer', 'smith')).stdout).toBe('There are no such orders.\n')
    expect((await run('orders', 'list', '--customer', '!')).stderr).toContain('at least one letter or digit')
    expect((await run('orders', 'list', '--state', 'expired')).stdout).toBe('There are no such orders.\n')
  })

  test('show prints one order in any state', async () => {
    expect((await run('orders', 'show', '2')).stdout).toMatch(
      /Expires +2040-01-16 12:00\n.*\nClosed +-\nCustomer +Anna Smith\nNote +a gift, "wrapped"\n/,
    )
    expect(JSON.parse((await run('orders', 'show', '1', '--json')).stdout)).toMatchObject({
      id: 1,
      shipDate: '2040-02-01T00:00:00.000Z',
    })
  })

  test('complete removes its units from the stock, and changes nothing the second time', async () => {
    for (const _ of [1, 2]) {
      const { exitCode, stdout } = await run('orders', 'complete', '1')
      expect([exitCode, stdout]).toEqual([0, `Order 1 (4 of pet 1) is now complete in ${path}.\n`])
    }
    expect(await store.findAvailability(1n)).toEqual({ petId: 1n, quantity: 6, reserved: 1 })
    expect(await historyOf(store, 1n)).toMatchObject([
      { before: 10, after: 6, keyId: 'petstore', reason: 'sold', reference: 'order 1' },
    ])
    const refused = await run('orders', 'cancel', '1')
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      'petstore: order 1 is already complete; nothing was changed\n',
    ])
  })

  test('cancel releases the units; complete is refused with too little stock', async () => {
    await store.changeStock([{ type: 'set_quantity', petId: 1n, quantity: 3, keyId: 'key_a', at: NOW }])
    const refused = await run('orders', 'complete', '1')
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      'petstore: order 1 needs 4 of pet 1, but only 3 are in stock; nothing was changed\n',
    ])
    expect((await run('orders', 'cancel', '1')).stdout).toBe(
      `Order 1 (4 of pet 1) is now cancelled in ${path}.\n`,
    )
    expect(await store.findAvailability(1n)).toMatchObject({ quantity: 3, reserved: 1 })
  })

  test.each(['show', 'complete', 'cancel'])('%s of an unknown order fails', async (verb) => {
    const { exitCode, stderr } = await run('orders', verb, '404')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('there is no order 404')])
    expect((await run('orders', verb, 'x')).exitCode).toBe(2)
  })

  test('a pet with open orders is not removed', async () => {
    const { exitCode, stderr } = await run('pets', 'remove', '1', '--yes')
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('petstore orders list --pet 1 --state open'),
    ])
  })
})

describe('petstore import of orders', () => {
  const lines = (...rows: string[]) =>
    writeFileSync(join(cwd, 'orders.csv'), [HEADER, ...rows, ''].join('\n'))

  test('an open order reserves units; an impossible one is rejected with its line, and nothing changes', async () => {
    lines('11,1,4,,false', '12,1,2,,false', '13,404,1,,false', '1,2,4,,false', '14,404,1,,true')
    const { exitCode, stderr } = await run('import', 'orders.csv')
    expect(exitCode).toBe(1)
    expect(stderr).toContain('line 3: an open order reserves stock: pet 1 has 1 available, 2 are needed')
    expect(stderr).toContain('line 4: an open order reserves stock, but there is no pet 404')
    expect(stderr).toContain('line 5: order 1 is for pet 1 and cannot change to pet 2')
    expect(stderr).toContain('orders.csv has 3 bad lines; nothing was changed')
    expect(await store.findOrder(11n)).toBeUndefined()
    expect(await store.findAvailability(1n)).toMatchObject({ reserved: 5 })
  })

  test('--skip-bad imports the rest, --dry-run shows the changes', async () => {
    lines('11,1,4,,false', '12,1,2,,false', '1,1,4,2041-01-01T00:00:00Z,false', 'x,1,1,,true')
    const dry = await run('import', 'orders.csv', '--dry-run')
    expect(dry.exitCode).toBe(1)
    expect(dry.stdout).toMatch(/would add +1\n +would change +1\n +would leave alone +0\n +refused +2/)
    expect(dry.stdout).toContain('line 2: order 11: petId 1, quantity 4, complete false')
    expect(dry.stdout).toContain('line 3: an open order reserves stock')
    const { exitCode, stdout, stderr } = await run('import', 'orders.csv', '--skip-bad')
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('1 order added, 1 changed, 0 unchanged, 2 bad lines skipped'),
    ])
    expect(stderr).toContain('line 3: an open order reserves stock')
    expect(await store.findAvailability(1n)).toMatchObject({ reserved: 9 })
    expect(await store.findOrder(1n)).toMatchObject({ shipDate: Date.UTC(2041, 0) })
  })

  test('an export has the open and complete orders, and importing it again changes nothing', async () => {
    await run('orders', 'complete', '1')
    await run('orders', 'cancel', '3')
    const { stdout } = await run('export', '--orders')
    const note = `"${NOTE.replaceAll('"', '""')}"`
    expect(stdout).toBe(
      `${HEADER},customer,note\n1,1,4,2040-02-01T00:00:00.000Z,true,,\n2,${BIG},2,,false,Anna Smith,${note}\n`,
    )
    writeFileSync(join(cwd, 'orders.csv'), stdout)
    expect((await run('import', 'orders.csv')).stdout).toContain('0 orders added, 0 changed, 2 unchanged')
    writeFileSync(join(cwd, 'orders.jsonl'), '{"id":20,"petId":1,"quantity":1,"complete":false}\n')
    expect((await run('import', 'orders.jsonl')).exitCode).toBe(0)
    const exported = (await run('export', '--orders', '--format', 'jsonl')).stdout
    expect(exported).toContain(
      '{"id":20,"petId":1,"quantity":1,"shipDate":null,"complete":false,"customer":null,"note":null}\n',
    )
  })
})

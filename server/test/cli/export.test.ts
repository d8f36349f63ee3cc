import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { OrderRow } from '../../src/core/orders/order.ts'
import { openStore } from '../../src/store/open-store.ts'
import { addPets } from '../support/add-pets.ts'
import { addOrders } from '../support/orders.ts'
import { startPetstore } from './petstore.ts'
import { runCommand } from './run-command.ts'

const NASTY = [
  'plain',
  ' leading and trailing ',
  'comma, "quotes", \'apostrophes\'',
  '"',
  '""',
  'semicolon; and \\ backslash',
  '\u2028 a line end of another kind',
  '=1+1',
  '\ufeffmark',
  '{"petId":1}',
  'ключ 狗 🐶 é e\u0301',
  '🐶'.repeat(200),
].map((name) => (name.trim() === '' ? `${name}x${name}` : name))

const PETS: StockedPet[] = NASTY.map((name, index) => ({
  id: BigInt(index),
  name,
  categoryId: -9223372036854775808n + BigInt(index),
  status: (['available', 'pending', 'sold'] as const)[index % 3] ?? 'sold',
  quantity: index,
  ...(index % 2 === 1 ? { barcode: `"bar",code-${index}`, lowStockAt: index } : {}),
}))
PETS.push({ ...PETS[0], id: 9223372036854775807n, quantity: Number.MAX_SAFE_INTEGER } as StockedPet)
PETS.unshift({ ...PETS[0], id: -9223372036854775808n } as StockedPet)

const ORDERS: OrderRow[] = [1n, 9223372036854775807n].map((id, index) => ({
  id,
  petId: index === 0 ? -id : id,
  quantity: Number.MAX_SAFE_INTEGER,
  complete: index === 0,
  shipDate: [Date.UTC(2026, 8, 1, 10, 0, 0, 7), Date.parse('0000-01-01T00:00:00Z')][index] ?? 0,
}))
ORDERS.push({ id: -5n, petId: 3n, quantity: 2, complete: false })
for (const [index, text] of NASTY.entries()) {
  const note = `${text}\r\n${text}\n"\r${text}`
  ORDERS.push({ id: 100n + BigInt(index), petId: 3n, quantity: 1, complete: true, customer: text, note })
}

let cwd: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-export-'))
  const store = await openStore(`sqlite:${join(cwd, 'data/petstore.db')}`, { tables: 'migrate' })
  await addPets(store, PETS)
  await addOrders(store, ORDERS)
  const categories = [
    { type: 'create_category' as const, category: { id: 7n, name: 'Birds, "all"', lowStockAt: 3 } },
  ]
  await store.changeStock(categories.map((one) => ({ ...one, keyId: 'key_a', at: 1 })))
  await store.close()
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const run = (...args: string[]) => runCommand(args, { cwd })
const read = (name: string) => readFileSync(join(cwd, name))

describe('petstore export', () => {
  test.each([
    ['pets', []],
    ['categories', ['--categories']],
    ['orders', ['--orders']],
  ])('%s, imported into an empty database, is exported identically, byte for byte', async (kind, flags) => {
    const empty = ['--database-url', 'sqlite:empty.db']
    // Open orders reserve existing stock.
    if (flags.includes('--orders')) {
      await run('export', 'pets')
      expect((await run('import', 'pets', 'pets', ...empty)).exitCode).toBe(0)
    }
    expect(await run('export', 'one', ...flags)).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect((await run('import', kind, 'one', ...empty)).exitCode).toBe(0)
    expect((await run('export', 'two', ...flags, ...empty)).exitCode).toBe(0)
    expect(read('one').equals(read('two'))).toBe(true)
    expect(read('one').length).toBeGreaterThan(100)
    expect((await run('export', ...flags)).stdout).toBe(read('one').toString())
  })

  test('guards cells against spreadsheets that run formulas, and warns about barcodes that they alter', async () => {
    const file = ['--database-url', 'sqlite:guarded.db']
    const rows = "1,=1+1,1,sold,5,-7,,,@Dogs\n2,'=1,1,sold,5,4006381333931,,,@Dogs\n"
    const guarded = "1,'=1+1,1,sold,5,'-7,,,'@Dogs\n2,''=1,1,sold,5,4006381333931,,,'@Dogs\n"
    const header = 'petId,name,categoryId,status,quantity,barcode,lowStockAt,metadata,category\n'
    writeFileSync(join(cwd, 'given'), header + rows.replace("'=1", "''=1"))
    expect((await run('import', 'pets', 'given', ...file)).exitCode).toBe(0)
    const { stdout, stderr } = await run('export', ...file)
    expect(stdout).toBe(header + guarded)
    expect(stderr).toStartWith('petstore: 1 barcode would be altered by a spreadsheet')
  })

  test('a reader that stops early, such as head, is not a failure', async () => {
    const program = startPetstore(['export'], { cwd })
    await program.stdout.cancel()
    expect([await program.exited, await new Response(program.stderr).text()]).toEqual([0, ''])
  })

  test('an existing file is not overwritten without --force', async () => {
    writeFileSync(join(cwd, 'pets.csv'), 'mine')
    const { exitCode, stderr } = await run('export', 'pets.csv')
    expect([exitCode, stderr]).toEqual([1, 'petstore: pets.csv already exists; --force overwrites it\n'])
    expect(read('pets.csv').toString()).toBe('mine')
    symlinkSync('pets.csv', join(cwd, 'link.csv'))
    expect((await run('export', 'link.csv', '--force')).exitCode).toBe(0)
    expect(read('pets.csv').toString()).toStartWith('petId,name,')
  })

  test('a new file is only for its owner; a file that replaces another has its permissions and, for root, its owner', async () => {
    const path = join(cwd, 'pets.csv')
    expect((await run('export', 'pets.csv')).exitCode).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    if (process.getuid?.() === 0) chownSync(path, 12_345, 12_346)
    chmodSync(path, 0o644)
    const before = statSync(path)
    expect((await run('export', 'pets.csv', '--force')).exitCode).toBe(0)
    const { mode, uid, gid, ino } = statSync(path)
    expect(ino).not.toBe(before.ino)
    expect([mode, uid, gid]).toEqual([before.mode, before.uid, before.gid])
  })

  test('a failure leaves no partial file', async () => {
    expect((await run('export', 'none/pets.csv')).exitCode).toBe(1)
    expect((await run('export', 'data', '--force')).stderr).toBe(
      'petstore: cannot write data: it is not a file\n',
    )
    expect(readdirSync(cwd)).toEqual(['data'])
  })
})

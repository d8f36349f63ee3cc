import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { until } from '../support/until.ts'
import { petstore, startPetstore } from './petstore.ts'
import { runCommand } from './run-command.ts'

const HEADER = 'petId,name,categoryId,status,quantity'
const PETS = `${HEADER}\n1,Biscuit,1,available,4\n2,"Mittens, ""the cat""",2,pending,1\n9223372036854775807,Last,9,sold,0\n`
/** The same rows as in an export: every column, with empty values for columns missing in the file. */
const asExported = (csv: string) =>
  csv.trimEnd().replaceAll(/\n|$/g, ',,,$&').replace(',,,', ',barcode,lowStockAt,metadata').concat('\n')

let cwd: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-import-'))
  await (await openStore(`sqlite:${join(cwd, 'data/petstore.db')}`, { tables: 'migrate' })).close()
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const run = (...args: string[]) => runCommand(args, { cwd })
/** The exported pets, without the names of their categories. */
const exported = async () => (await run('export')).stdout.replaceAll(/,(?:"[^"\n]*"|[^",\n]*)$/gm, '')

function file(content: string | Uint8Array, name = 'pets.csv'): string {
  writeFileSync(join(cwd, name), content)
  return name
}

/** Whether the process has opened the file. */
function hasOpened(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).some((fd) => {
    try {
      return readlinkSync(join(folder, fd)) === path
    } catch {
      return false
    }
  })
}

/** Whether the process handles Ctrl-C. */
function catchesInterrupt(pid: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0'
  return (BigInt(`0x${mask}`) & 2n) !== 0n
}

function manyPets(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `${index + 1},Pet ${index + 1},1,available,5`)
  return `${HEADER}\n${lines.join('\n')}\n`
}

describe('petstore import', () => {
  test('imports pets, prints a summary, and changes nothing the second time', async () => {
    const first = await run('import', 'pets', file(PETS))
    expect([first.exitCode, first.stderr]).toEqual([0, ''])
    expect(first.stdout).toStartWith('pets.csv: 3 pets added, 0 changed, 0 unchanged (')
    expect(await exported()).toBe(asExported(PETS))
    const second = await run('import', 'pets', file(PETS))
    expect(second.stdout).toContain('0 pets added, 0 changed, 3 unchanged')
    const third = await run('import', 'pets', file(`${HEADER}\n2,Mittens,2,sold,3\n`))
    expect(third.stdout).toContain('0 pets added, 1 changed, 0 unchanged')
    expect(await exported()).toBe(
      asExported(PETS.replace('"Mittens, ""the cat""",2,pending,1', 'Mittens,2,sold,3')),
    )
  })

  test('imports orders from standard input', async () => {
    const header =
      'id,petId,quantity,complete,reference,shipDate,customer,note,metadata,createdAt,expiresAt,closedAt'
    const details =
      'true,R-1,2026-09-01T12:00:00+02:00,Anna,,,2026-08-31T10:00:00.000Z,,2026-09-01T10:00:00.000Z'
    const orders = `${header}\n1,2,3,${details}\n1,9,1,${details}\n`
    const imported = await petstore(['import', 'orders', '-'], { cwd, stdin: orders })
    expect([imported.exitCode, imported.stdout]).toEqual([0, expect.stringContaining('2 order lines added')])
    expect((await run('export', '--orders')).stdout).toBe(
      orders.replaceAll('2026-09-01T12:00:00+02:00', '2026-09-01T10:00:00.000Z'),
    )
  })

  const BAD = `${PETS}3,Goldie,1,sold,5x\n1,Again,1,sold,1\n4,Rex,1,sold,1\n`

  test('one bad line rejects the whole file, and each is printed with its line and reason, up to --show', async () => {
    const lines = [
      '  line 5: quantity must be an integer from 0 to 9007199254740991, got "5x"',
      '  line 6: pet 1 is already on line 2',
    ]
    const refused = 'has 2 bad lines; nothing was changed. Fix the file and run the command again\n'
    const all = await run('import', 'pets', file(BAD))
    expect(all).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `${lines.join('\n')}\npetstore: pets.csv ${refused}`,
    })
    const { stderr } = await run('import', 'pets', file(BAD), '--show', '1')
    expect(stderr).toBe(`${lines[0]}\n  … and 1 more (--show 2 shows all)\npetstore: pets.csv ${refused}`)
    expect(await exported()).toBe(asExported(HEADER))
  })

  test('--dry-run counts the changes or prints the refused lines, and changes nothing', async () => {
    await run('import', 'pets', file(PETS))
    const changed = `${PETS.replace('1,Biscuit,1,available,4', '1,Biscuit,1,sold,6')}4,Rex,1,sold,1\n`
    const { exitCode, stdout, stderr } = await run('import', 'pets', file(changed), '--dry-run')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith(
      'pets.csv: nothing was changed, because this is a dry run. It would be 1 pet added, 1 changed, 2 unchanged (',
    )
    const refused = await run('import', 'pets', file(BAD), '--dry-run')
    expect(refused).toEqual(await run('import', 'pets', file(BAD)))
    expect(await exported()).toBe(asExported(PETS))
  })

  test('--map, --locale and --encoding read the columns, numbers and letters of a shop, and other columns are ignored', async () => {
    await run('import', 'pets', file(PETS))
    const rows = 'Nr.;Artikel;Warengruppe;Regal;Soll\n00123;Käfer;Insekten;1.200;7,0\n'
    const shop = file(Buffer.from(rows, 'latin1'), 'shop.csv')
    const flags = ['--map', 'Nr.:barcode, Regal:quantity', '--locale', 'de', '--encoding', 'latin1']
    const { exitCode, stdout, stderr } = await run('import', 'pets', shop, ...flags)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain('1 pet added, 0 changed, 0 unchanged; ignored the columns "Soll" (')
    expect((await run('export')).stdout).toContain(',Käfer,10,available,1200,00123,,,Insekten\n')
    const wrong = await run('import', 'pets', shop, '--map', 'Nr.')
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('--map: a mapping must be like'),
    ])
  })

  test('--preset reads the export of another shop, again without a change, and gives new pets a category', async () => {
    const header = 'Handle,Title,Option1 Name,Option1 Value,SKU,Location,On hand (current),On hand (new)\n'
    const rows = 'collar,Collar,Size,M,COL-M,Shop,12,\ncollar,Collar,Size,M,COL-M,Store room,30,\n'
    const shop = file(header + rows, 'inventory.csv')
    const first = await run('import', 'pets', shop, '--preset', 'shopify')
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('1 pet added, 0 changed')])
    expect((await run('export')).stdout).toContain('1,"Collar, M",1,available,42,COL-M,,,Uncategorized\n')
    await run('import', 'categories', file('id,name\n2,Walks\n', 'categories.csv'))
    await run('import', 'pets', file('petId,categoryId\n1,2\n'))
    const second = await run('import', 'pets', shop, '--preset', 'shopify')
    expect(second.stdout).toContain('0 pets added, 0 changed, 1 unchanged')
    const oversold = file(header + rows.replace(',30,', ',-30,'), 'oversold.csv')
    expect((await run('import', 'pets', oversold, '--preset', 'shopify')).stderr).toContain('got "-18"')
    const orders = await run('import', 'orders', shop, '--preset', 'shopify')
    expect([orders.exitCode, orders.stderr]).toEqual([
      1,
      'petstore: inventory.csv: shopify is a preset for a file of pets; nothing was changed\n',
    ])
  })

  test('SIGTERM while it waits for the lock of another process leaves nothing behind', async () => {
    await run('import', 'pets', file(PETS))
    const path = realpathSync(join(cwd, 'data/petstore.db'))
    using other = new Database(path)
    other.run('BEGIN IMMEDIATE')
    const program = startPetstore(['import', 'pets', file(manyPets(3_000), 'many.csv')], { cwd })
    await until(() => hasOpened(program.pid, path))
    program.kill('SIGTERM')
    expect(await program.exited).toBe(143)
    const errors = await new Response(program.stderr).text()
    expect(errors).toBe('petstore: stopped by SIGTERM; nothing was changed\n')
    other.run('ROLLBACK')
    expect(await exported()).toBe(asExported(PETS))
  })

  test('Ctrl-C works while it waits for standard input', async () => {
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(PETS)),
    })
    const program = startPetstore(['import', 'pets', '-'], { cwd, stdin: endless })
    await until(() => catchesInterrupt(program.pid))
    program.kill('SIGINT')
    expect(await program.exited).toBe(130)
    expect(await exported()).toBe(asExported(HEADER))
  })

  test.each([
    ['a missing file', 'none.csv', 'cannot read none.csv: there is no such file'],
    ['a folder', '.', 'cannot read .: it is a folder'],
    ['another header', 'odd.csv', 'odd.csv: the header "a,b" lacks quantity; name the columns as in petId,'],
    [
      'a missing column',
      'typo.csv',
      'typo.csv: the header "petId,quantitiy" lacks quantity; name the columns',
    ],
  ])('%s is rejected in one line', async (_, path, message) => {
    file('a,b\n', 'odd.csv')
    file('petId,quantitiy\n', 'typo.csv')
    const { exitCode, stdout, stderr } = await run('import', 'count', path)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toStartWith(`petstore: ${message}`)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a database failure is reported, and that nothing was changed', async () => {
    const broken = join(cwd, file('no database at all, but long enough to be one'.repeat(99), 'broken.db'))
    const { exitCode, stderr } = await run('import', 'pets', file(PETS), '--database-url', 'sqlite:broken.db')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`cannot open the database ${broken}`)])
  })
})

test('the example pets can be imported', async () => {
  const { exitCode, stdout } = await run(
    'import',
    'pets',
    join(import.meta.dir, '../../../examples/pets.csv'),
  )
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('17 pets added, 0 changed')])
})

test('import creates a database and prints its path; the other commands find it there', async () => {
  const shop = join(realpathSync(cwd), 'shop', 'petstore.db')
  const first = await run('import', 'pets', file(PETS), '--database-url', 'sqlite:shop/petstore.db')
  expect(first).toMatchObject({ exitCode: 0, stderr: `petstore: created a new database, ${shop}\n` })
  expect(first.stdout).toEndWith(` in ${shop}\n`)
  const env = { DATABASE_URL: 'sqlite:shop/petstore.db' }
  const again = await runCommand(['import', 'pets', 'pets.csv'], { cwd, env })
  expect([again.stderr, again.stdout]).toEqual(['', expect.stringContaining('3 unchanged')])
  const key = await runCommand(['keys', 'create', '--name', 'a', '--plan', 'free'], { cwd, env })
  expect([key.exitCode, key.stderr]).toEqual([0, expect.stringContaining(` in ${shop}.`)])
})

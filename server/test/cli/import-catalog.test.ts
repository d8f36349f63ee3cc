import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

const HEADER = 'petId,name,categoryId,status,quantity'
const PETS = `${HEADER},barcode,lowStockAt\n1,Rex,1,sold,4,4006381333931,5\n2,Tom,2,sold,1,,\n`

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-catalog-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const run = (...args: string[]) => runCommand(args, { cwd })
/** The exported pets, without the names of their categories. */
const exported = async () => (await run('export')).stdout.replaceAll(/,(?:"[^"\n]*"|[^",\n]*)$/gm, '')

function file(content: string, name = 'pets.csv'): string {
  writeFileSync(join(cwd, name), content)
  return name
}

describe('petstore import of the catalogue', () => {
  test('sets barcodes and thresholds that the file has, keeps missing ones, and clears empty ones', async () => {
    await run('import', file(PETS))
    expect(await exported()).toBe(PETS)
    await run(
      'import',
      file(`lowStockAt;petId;name;categoryId;status;quantity\n;1;Rex;1;sold;4\n7;2;Tom;2;sold;1\n`),
    )
    expect(await exported()).toBe(PETS.replace('931,5', '931,').replace('1,,\n', '1,,7\n'))
    const taken = await run('import', file(`${HEADER},barcode\n2,Tom,2,sold,1,4006381333931\n`))
    expect([taken.exitCode, taken.stderr]).toEqual([
      1,
      expect.stringContaining('line 2: barcode 4006381333931 is already used by pet 1'),
    ])
  })

  test('imports categories, prints a summary, and pets keep their categories', async () => {
    await run('import', file(PETS))
    const categories = 'id,name,lowStockAt\n1,Dogs,2\n2,"Cats, all",\n'
    const { exitCode, stdout, stderr } = await run('import', file(categories, 'categories.csv'))
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toStartWith('categories.csv: 0 categories added, 2 changed, 0 unchanged (')
    expect((await run('export', '--categories')).stdout).toBe(categories)
    const more = await run('import', file('NAME; id\nDogs;1\nFish;4\n', 'categories.csv'))
    expect(more.stdout).toContain('1 category added, 0 changed, 1 unchanged')
    expect((await run('export', '--categories', '--format', 'jsonl')).stdout.split('\n').slice(0, 3)).toEqual(
      [
        '{"id":1,"name":"Dogs","lowStockAt":2}',
        '{"id":2,"name":"Cats, all","lowStockAt":null}',
        '{"id":4,"name":"Fish","lowStockAt":null}',
      ],
    )
    const plan = await run('import', file('id,name,lowStockAt\n1,Hounds,\n5,Birds,3\n'), '--dry-run')
    expect(plan.stdout).toEndWith(`
Would add
  line 3: category 5: name "Birds", lowStockAt 3

Would change
  line 2: category 1: name "Dogs" → "Hounds", lowStockAt 2 → none
`)
    expect(await exported()).toBe(PETS)
  })
})

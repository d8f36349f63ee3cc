import { beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { change } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { stockOf } from '../support/whole-store.ts'
import { openMachine, printedBlocks, unitCommands } from './printed-commands.ts'
import { runCommand } from './run-command.ts'

setDefaultTimeout(120_000)

let cwd: string
let path: string
let url: string
beforeEach(async () => {
  cwd = temporaryFolder()
  path = join(cwd, 'data', 'petstore.db')
  url = `sqlite:${path}`
  const store = await openStore(url, { tables: 'migrate' })
  await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 }])
  await store.backupTo(join(cwd, 'backup.db'))
  await store.close()
})

async function quantityIn(databaseUrl = url): Promise<number | undefined> {
  const store = await openStore(databaseUrl, { tables: 'require_current_tables' })
  try {
    expect(await store.findDamage()).toEqual([])
    return (await stockOf(store))[0]?.quantity
  } finally {
    await store.close()
  }
}

test('a restore that fails in its last step says how to finish it', async () => {
  // The time of an interrupted restore is in the name of the replaced database. A folder with this name makes it fail.
  const staged = `${path}.restoring`
  copyFileSync(join(cwd, 'backup.db'), staged)
  utimesSync(staged, 1_800_000_000, 1_800_000_000)
  const obstacle = `${path}.replaced-20270115T080000Z`
  mkdirSync(obstacle)
  const { exitCode, stderr } = await runCommand(['restore', 'backup.db'], { cwd })
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^petstore: cannot restore: EISDIR.*\. The restore was interrupted in its last step/,
    ),
  ])
  expect(stderr).toEndWith(`; finish it with petstore restore ${staged}\n`)
  rmSync(obstacle, { recursive: true })
  expect((await runCommand(['restore', staged], { cwd })).exitCode).toBe(0)
  expect(await quantityIn()).toBe(4)
})

test('a file that cannot be restored is refused in one line', async () => {
  expect(await runCommand(['restore', 'data'], { cwd })).toEqual({
    exitCode: 1,
    stdout: '',
    stderr:
      'petstore: cannot restore: data has no complete snapshot, so it is not the folder of a continuous backup. Nothing was changed\n',
  })
})

test('petstore restore of a PostgreSQL database prints the commands of docs/backup.md', async () => {
  const env = { DATABASE_URL: 'postgres://petstore:hidden@db/petstore' }
  const { exitCode, stdout, stderr } = await runCommand(['restore', "it's.dump"], { cwd, env })
  expect([exitCode, stderr]).toEqual([
    1,
    'petstore: restore postgres://petstore:***@db/petstore with the tools of PostgreSQL, as shown above; nothing was changed\n',
  ])
  const [, printed = ''] = printedBlocks('petstore restore', 'sh')
  const lines = printed.replace(/"[^"]*\.dump"/, `'it'\\''s.dump'`).split('\n')
  for (const line of lines.slice(0, 3)) expect(stdout).toContain(`${line}\n`)
})

test('docs/backup.md: backup by hand, and restore, exactly as printed', async () => {
  const machine = openMachine()
  try {
    const env = { DATABASE_URL: `sqlite:${join(cwd, 'data/petstore.db')}` }
    const [byHand = ''] = printedBlocks('petstore backup', 'sh')
    const [restore = ''] = printedBlocks('petstore restore', 'sh')
    expect(await machine.run(byHand, env)).toMatchObject({ exitCode: 0, stderr: '' })
    const backups = join(machine.root, 'var', 'backups')
    const [name = ''] = readdirSync(backups)
    expect(name).toMatch(/^petstore-\d{4}-\d\d-\d\d\.db$/)

    const data = join(cwd, 'data')
    const store = await openStore(`sqlite:${join(data, 'petstore.db')}`, { tables: 'require_current_tables' })
    await store.changeStock([change(1n, 9)])
    await store.close()
    const outcome = await machine.run(restore, env)
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
    expect(outcome.stdout).toContain('the database is intact')
    expect(outcome.stdout).toContain(`Restored ${join(data, 'petstore.db')} (`)
    expect(await quantityIn(`sqlite:${join(data, 'petstore.db')}`)).toBe(4)
    const [, replaced = ''] = /To undo: petstore restore (\S+)$/m.exec(outcome.stdout) ?? []
    expect((await runCommand(['restore', replaced], { cwd, env })).exitCode).toBe(0)
    expect(await quantityIn(`sqlite:${join(data, 'petstore.db')}`)).toBe(9)
  } finally {
    machine.close()
  }
})

test('the job of petstore-backup.timer writes a backup and removes old backups', async () => {
  const machine = openMachine()
  try {
    const backups = join(machine.root, 'var/backups/petstore')
    mkdirSync(backups)
    const old = join(backups, 'petstore-20260101T031500Z.db')
    copyFileSync(join(cwd, 'backup.db'), old)
    utimesSync(old, Date.now() / 1_000 - 40 * 86_400, Date.now() / 1_000 - 40 * 86_400)
    const outcome = await machine.run(unitCommands('petstore-backup.service'), { DATABASE_URL: url })
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(backups)).toEqual([expect.stringMatching(/^petstore-\d{8}T\d{6}Z\.db$/)])
    const [name = ''] = readdirSync(backups)
    expect((await runCommand(['restore', join(backups, name)], { cwd })).exitCode).toBe(0)
    expect(await quantityIn()).toBe(4)
  } finally {
    machine.close()
  }
})

test('the job of petstore-prune.timer removes old changes', async () => {
  const database = `sqlite:${join(cwd, 'old.db')}`
  const at = Date.now() - 100 * 86_400_000
  const store = await openStore(database, { tables: 'migrate', clock: () => at })
  await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 }])
  await store.changeStock([change(1n, 9, { at })])
  await store.close()
  const machine = openMachine()
  try {
    const outcome = await machine.run(unitCommands('petstore-prune.service'), { DATABASE_URL: database })
    expect(outcome).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Deleted \d (entry|entries) from/),
    })
  } finally {
    machine.close()
  }
})

import { beforeEach, describe, expect, test } from 'bun:test'
import { chownSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { commandNames, runCommand } from './run-command.ts'
import { serve } from './running-petstore.ts'

const NOBODY = 65_534
let cwd: string
beforeEach(() => {
  cwd = temporaryFolder()
})

const start = (database: string, ...args: string[]) =>
  serve(['--database-url', `sqlite:${database}`, ...args], { cwd })

async function expectRefused(database: string, pid: number, ...args: string[]) {
  const serving = ['serve', '--port', '0', '--database-url', `sqlite:${database}`, ...args]
  const outcome = await runCommand(serving, { cwd })
  expect(outcome).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `petstore: cannot open the database ${join(cwd, database)}: another process serves this database (pid ${pid}); stop that process, or choose another database with DATABASE_URL\n`,
  })
}

describe('a SQLite file is served by one process', () => {
  test('a second one is refused in one line, also by another path and in demo mode', async () => {
    await runCommand(['migrate', '--database-url', 'sqlite:data/shop.db'], { cwd })
    symlinkSync('data/shop.db', join(cwd, 'link.db'))
    const store = openSqliteStore(join(cwd, 'data/shop.db'), { exclusive: true })
    for (const args of [['data/shop.db'], ['link.db'], ['data/shop.db', '--demo']]) {
      const [database = '', ...more] = args
      await expectRefused(database, process.pid, ...more)
    }
    await store.close()
    const left = statSync(join(cwd, 'data/shop.db-serving'))
    expect(left.mode & 0o777).toBe(0o600)
    // The file that was left does no harm.
    await openSqliteStore(join(cwd, 'data/shop.db'), { exclusive: true }).close()
  })

  test('of several that start at once, one serves', async () => {
    await runCommand(['migrate', '--database-url', 'sqlite:shop.db'], { cwd })
    const starts = await Promise.allSettled([1, 2].map(() => start('shop.db')))
    const running = starts.filter((one) => one.status === 'fulfilled')
    expect(running).toHaveLength(1)
    for (const one of starts) {
      if (one.status === 'rejected')
        expect(String(one.reason)).toContain('another process serves this database')
    }
    expect(await running[0]?.value.stop()).toBe(0)
  })

  test('the next one starts at once if the first was killed', async () => {
    const first = await start('shop.db')
    first.program.kill('SIGKILL')
    await first.program.exited
    const second = await start('shop.db')
    await expectRefused('shop.db', second.program.pid)
    expect(await second.stop()).toBe(0)
  })

  test('the other commands work while it serves', async () => {
    const { address, stop } = await start('shop.db')
    writeFileSync(join(cwd, 'pets.csv'), 'petId,name,categoryId,status,quantity\n1,Biscuit,1,sold,4\n')
    const commands = [
      'migrate',
      'import pets pets.csv',
      'export',
      'keys create --name a --plan free',
      'keys list',
      'keys revoke a --yes',
      'history prune --keep 1 --yes',
      'backup copy.db',
      'copy --to sqlite:other.db',
      'check',
      `health --port ${new URL(address).port}`,
      'restore copy.db --database-url sqlite:restored.db',
    ]
    for (const command of commands) {
      const { exitCode, stdout } = await runCommand(command.split(' '), {
        cwd,
        env: { DATABASE_URL: 'sqlite:shop.db' },
      })
      expect([command, exitCode, stdout]).toEqual([command, 0, expect.stringMatching(/\n$/)])
    }
    const missing = commandNames().filter((name) => !commands.some((command) => command.startsWith(name)))
    expect(missing).toEqual(['serve', 'follow'])
    expect(await stop()).toBe(0)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'root leaves the lock file to the owner of the database',
    async () => {
      await runCommand(['migrate', '--database-url', 'sqlite:shop.db'], { cwd })
      chownSync(join(cwd, 'shop.db'), NOBODY, NOBODY)
      await openSqliteStore(join(cwd, 'shop.db'), { exclusive: true }).close()
      expect(statSync(join(cwd, 'shop.db-serving')).uid).toBe(NOBODY)
    },
  )

  test('an unusable lock file is reported in one line with advice', async () => {
    await runCommand(['migrate', '--database-url', 'sqlite:shop.db'], { cwd })
    writeFileSync(
      join(cwd, 'shop.db-serving'),
      'not a database, but long enough to look like a file'.repeat(40),
    )
    const { exitCode, stderr } = await runCommand(
      ['serve', '--port', '0', '--database-url', 'sqlite:shop.db'],
      { cwd },
    )
    expect(exitCode).toBe(1)
    expect(stderr).toContain('shop.db-serving cannot be used (file is not a database)')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    // Nothing serves the database, so check must not report a deleted write-ahead log.
    const { stdout } = await runCommand(['check', '--database-url', 'sqlite:shop.db'], { cwd })
    expect(stdout).toContain('the database is intact')
    expect(stdout).not.toContain('was deleted')
  })
})

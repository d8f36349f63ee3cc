import { expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import { cronCommand, openMachine, printedBlocks } from '../cli/printed-commands.ts'
import { change } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import { createOrder } from '../support/orders.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { stockOf } from '../support/whole-store.ts'

/** Debian's programs: the npm package has no pg_dump, which must not be older than the server. */
const BINARIES = '/usr/lib/postgresql'
const installed = existsSync(BINARIES)
  ? readdirSync(BINARIES)
      .map((version) => join(BINARIES, version, 'bin'))
      .filter((folder) => ['initdb', 'pg_ctl', 'pg_dump'].every((name) => existsSync(join(folder, name))))
      .at(-1)
  : undefined

/** Runs `work` with a server of that version. */
async function withServer(binaries: string, work: (url: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const isRoot = process.getuid?.() === 0
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  const owner = isRoot ? { uid: id('-u'), gid: id('-g') } : {}
  if (isRoot) {
    chmodSync(folder, 0o755)
    chownSync(folder, id('-u'), id('-g'))
  }
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = listener
  listener.stop(true)
  const data = join(folder, 'data')
  const run = (name: string, ...args: string[]) =>
    execFileSync(join(binaries, name), args, { ...owner, cwd: folder, stdio: 'ignore' })
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync')
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`
  run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start')
  try {
    await work(`postgres://postgres@127.0.0.1:${port}/postgres`)
  } finally {
    run('pg_ctl', '-D', data, '-m', 'immediate', 'stop')
  }
}

test.skipIf(installed === undefined)(
  'docs/backup.md: a dump from cron and its restore, exactly as printed, restore the stock, and followers list again',
  async () => {
    const machine = openMachine()
    try {
      await withServer(installed ?? '', async (url) => {
        const env = { DATABASE_URL: url }
        const first = await openStore(url, { tables: 'migrate' })
        await addPets(first, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 }])
        const [nightly = ''] = printedBlocks('petstore backup', 'cron')
        const job = cronCommand(nightly).replace(/^export DATABASE_URL=.*$/m, `export DATABASE_URL='${url}'`)
        expect(await machine.run(job, {})).toEqual({ exitCode: 0, stdout: '', stderr: '' })
        const cursor = await first.latestEventCursor()
        const order = createOrder([1n, 1])
        await first.changeStock([order, change(1n, 9)])
        await first.close()

        const [, restore = ''] = printedBlocks('petstore restore', 'sh')
        const outcome = await machine.run(restore, env)
        expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
        expect(outcome.stdout).toContain('has a new identity')
        expect(outcome.stdout).toContain('the database is intact')
        const second = await openStore(url, { tables: 'require_current_tables' })
        try {
          expect((await stockOf(second))[0]?.quantity).toBe(4)
          // The order after the dump had the id 1.
          await second.changeStock([order])
          expect((await second.listOrders({}, 10))[0]?.id).toBeGreaterThan(1n)
          expect(await second.eventsAfter(cursor, 10)).toBe('relist_needed')
          const now = await second.latestEventCursor()
          await second.changeStock([change(1n, 5)])
          expect(await second.eventsAfter(now, 10)).toMatchObject({ events: [{ before: 4, after: 5 }] })
        } finally {
          await second.close()
        }
        expect(existsSync(join(machine.root, 'before-restore.dump'))).toBe(true)
      })
    } finally {
      machine.close()
    }
  },
  120_000,
)

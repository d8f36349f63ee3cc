import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeNewFile } from '../../src/cli/files.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { TestService } from '../support/test-service.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { petstore } from './petstore.ts'
import { runCommand } from './run-command.ts'

let cwd: string
let url: string
let store: Store
beforeEach(async () => {
  cwd = temporaryFolder()
  url = `sqlite:${join(cwd, 'petstore.db')}`
  store = await openStore(url, { tables: 'migrate' })
  await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'available', quantity: 4 }])
})
afterEach(async () => {
  await store.close()
})

const inShop = (args: readonly string[]) => [...args, '--database-url', url]
const run = (...args: string[]) => runCommand(inShop(args), { cwd })

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

      const again = await runCommand(['restore', copy, '--database-url', 'sqlite:again/petstore.db'], { cwd })
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
    expect(partialFiles()).toEqual([])
  })

  test('removes what a killed backup left behind, but not the file of a running one', async () => {
    await killedWhileWriting(join(cwd, 'monday.db'))
    expect(partialFiles()).toHaveLength(2)
    const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
    const running = writeNewFile(join(cwd, 'tuesday.db'), 'overwrite', async (temporary) => {
      writeFileSync(temporary, '')
      await finished
    })
    expect(partialFiles()).toEqual([expect.stringMatching(/^\.tuesday/)])
    await killedWhileWriting(join(cwd, 'wednesday.db'))
    expect(partialFiles()).toHaveLength(3)
    // A process of its own, which looks for the process that writes Tuesday's backup.
    expect((await petstore(inShop(['backup', 'thursday.db']), { cwd })).exitCode).toBe(0)
    expect(partialFiles()).toEqual([expect.stringMatching(/^\.tuesday/)])
    finish()
    await running
    expect(partialFiles()).toEqual([])
  })
})

const partialFiles = () => readdirSync(cwd).filter((name) => name.includes('partial'))

/** Runs a process that is killed when the temporary file of `path` has been written. */
async function killedWhileWriting(path: string): Promise<void> {
  const program = `
    import { writeFileSync } from 'node:fs'
    import { writeNewFile } from ${JSON.stringify(fileURLToPath(new URL('../../src/cli/files.ts', import.meta.url)))}
    await writeNewFile(${JSON.stringify(path)}, 'overwrite', async (temporary) => {
      for (const name of [temporary, temporary + '-journal']) writeFileSync(name, '')
      process.kill(process.pid, 'SIGKILL')
    })`
  const killed = Bun.spawn([process.execPath, '-e', program])
  await killed.exited
  expect(killed.signalCode).toBe('SIGKILL')
}

import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open-store.ts'
import { petstore } from '../../cli/petstore.ts'
import { serve } from '../../cli/running-petstore.ts'
import { addPets } from '../../support/add-pets.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

setDefaultTimeout(120_000)

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'petstore.db')
})

const env = { DATABASE_URL: 'sqlite:petstore.db' }
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

/** All files of the database, with their modes. */
function modes(): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]))
}

describe('a database is private to its owner', () => {
  test.each([
    ['lets everybody read', 0o000],
    ['lets the group write', 0o002],
    ['removes permissions even from the owner', 0o377],
  ])('from its first byte, if the umask %s', async (_, mask) => {
    const before = process.umask(mask)
    try {
      const store = await openStore(`sqlite:${path}`, { tables: 'migrate' })
      await addPets(store, [{ id: 1n, name: 'a', categoryId: 1n, status: 'sold', quantity: 1 }])
      expect(modes()).toEqual({ 'petstore.db': '600', 'petstore.db-shm': '600', 'petstore.db-wal': '600' })
      await store.backupTo(join(folder, 'backup.db'))
      expect(modeOf(join(folder, 'backup.db'))).toBe('600')
      await store.close()
    } finally {
      process.umask(before)
    }
  })

  test('behind a symbolic link', async () => {
    symlinkSync(join(folder, 'elsewhere.db'), path)
    const before = process.umask(0)
    const store = await openStore(`sqlite:${path}`, { tables: 'migrate' })
    process.umask(before)
    expect(modeOf(join(folder, 'elsewhere.db'))).toBe('600')
    await store.close()
  })

  test('an existing database keeps the permissions that its owner gave it', async () => {
    await (await openStore(`sqlite:${path}`, { tables: 'migrate' })).close()
    chmodSync(path, 0o640)
    await (await openStore(`sqlite:${path}`, { tables: 'migrate' })).close()
    expect(modeOf(path)).toBe('640')
  })
})

describe('a database that others can read', () => {
  const exposed = async () => {
    await petstore(['migrate'], { cwd: folder, env })
    chmodSync(path, 0o644)
  }

  test('is reported by serve at its start, which continues', async () => {
    await exposed()
    const running = await serve([], { cwd: folder, env })
    expect((await fetch(`${running.address}/healthz`)).status).toBe(200)
    expect(await running.stop()).toBe(0)
    const told = await running.errors()
    expect(told).toContain(`other users can read the database: ${path} (mode 644)`)
    expect(told).toContain(`chmod 600 ${path}`)
  })

  test('is reported by check, including the files next to it', async () => {
    await exposed()
    const store = await openStore(`sqlite:${path}`, { tables: 'migrate' })
    await store.ping()
    expect(existsSync(`${path}-wal`)).toBe(true)
    chmodSync(path, 0o600)
    const { exitCode, stdout } = await petstore(['check'], { cwd: folder, env })
    await store.close()
    expect(exitCode).toBe(1)
    expect(stdout).toContain(`chmod 600 ${path}-wal ${path}-shm`)
  })

  test('is not reported if the permissions are right', async () => {
    await petstore(['migrate'], { cwd: folder, env })
    const running = await serve([], { cwd: folder, env })
    await running.stop()
    expect(await running.errors()).toBe('')
  })
})

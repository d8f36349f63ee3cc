import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '../cli/running-petstore.ts'
import { createReadyDatabase } from '../support/postgres-databases.ts'
import { PET_IDS, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Another commit to test with, for example before the first release. */
const GIVEN = Bun.env.TEST_VERSION_BEFORE
const folder = mkdtempSync(join(tmpdir(), 'petstore-version-before-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function git(...args: readonly string[]): string {
  const { stdout, success } = Bun.spawnSync(['git', '-C', ROOT, ...args])
  return success ? stdout.toString().trim() : ''
}

/** The sources of a version, with the installed packages. */
function sourcesOf(version: string): string {
  const tree = join(folder, 'tree')
  mkdirSync(tree)
  const archive = Bun.spawnSync(['git', '-C', ROOT, 'archive', version])
  Bun.spawnSync(['tar', '-x', '-C', tree], { stdin: archive.stdout })
  const modules = join(tree, 'node_modules')
  mkdirSync(join(modules, '@petstore'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@petstore') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  for (const name of readdirSync(join(ROOT, 'node_modules', '@petstore'))) {
    if (existsSync(join(tree, name))) symlinkSync(join(tree, name), join(modules, '@petstore', name))
  }
  if (existsSync(join(ROOT, 'web/dist')))
    cpSync(join(ROOT, 'web/dist'), join(tree, 'web/dist'), { recursive: true })
  return tree
}

test('the previous version works alongside this one, on tables that this one has created', async () => {
  const version =
    GIVEN ?? git('tag', '--list', 'v*', '--no-contains', 'HEAD', '--sort=-version:refname').split('\n')[0]
  if (version === undefined || version === '') {
    console.log('there is no release yet (no tag v*), so no version before that could run beside this one')
    return
  }
  const database = await createReadyDatabase()
  const key = await stockUp(database.url)
  const main = join(sourcesOf(version), 'server/src/cli/main.ts')
  const options = { cwd: '/', env: { DATABASE_URL: database.url } }
  const [before, now] = await Promise.all([
    serve([], { ...options, program: [process.execPath, main] }),
    serve([], options),
  ])
  let quantity = 0
  for (const petId of PET_IDS) {
    for (const [writer, reader] of [
      [before, now],
      [now, before],
    ] as const) {
      const body = JSON.stringify({ quantity: ++quantity })
      expect((await writer.call(`/inventory/${petId}`, key, { method: 'PATCH', body })).status).toBe(200)
      expect(await (await reader.call(`/inventory/${petId}`, key)).json()).toMatchObject({ petId, quantity })
    }
  }
  for (const { address } of [before, now]) expect((await fetch(`${address}/readyz`)).status).toBe(200)
  expect(await Promise.all([before.stop(), now.stop()])).toEqual([0, 0])
  await database.drop()
})

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { buildClient, ROOT, run } from './support/built-client.ts'

const readme = await Bun.file(`${ROOT}client/README.md`).text()
const code = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block).join('\n')
/** Beside the built client, where its name resolves and git does not look. */
const path = `${ROOT}client/dist/readme-examples.ts`
afterAll(() => rmSync(path, { force: true }))

test('the examples of the README run in the order they stand, against the demo, and print what they say', async () => {
  await buildClient()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-readme-'))
  const demo = await serve(['--demo'], { cwd: folder })
  try {
    await Bun.write(path, code.replaceAll('http://127.0.0.1:8080', demo.address))
    const { stdout, stderr } = await run([process.execPath, path])
    expect(stderr).toBe('')
    const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)/g)].map(([, text]) => text)
    expect(normal(stdout)).toBe(normal(promised.join('\n')))
  } finally {
    await demo.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)

test('the examples of the README compile against the built declarations', async () => {
  await buildClient()
  await Bun.write(path, code)
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom',
  ]
  const { stdout } = await run(['node_modules/.bin/tsc', '--ignoreConfig', '--types', '', ...options, path])
  expect(stdout).toBe('')
}, 60_000)

/** An object stands on one line in the README and on several when it is printed. */
function normal(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll(', }', ' }').trim()
}

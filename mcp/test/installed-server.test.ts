import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { supportedNode } from '../../client/test/support/node.ts'
import { runProgram } from '../../server/test/support/run-program.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { type Adjusted, callTool, connectProgram, newKey } from './support/connections.ts'

setDefaultTimeout(300_000)

const ROOT = join(import.meta.dir, '..', '..')
/** The files of the repository that `npm pack` needs. */
const SOURCES = ['tsconfig.base.json', 'openapi.json', 'client/package.json', 'client/src', 'mcp']

const folder = mkdtempSync(join(tmpdir(), 'petstore-mcp-'))
const project = join(folder, 'project')
beforeAll(async () => {
  const sources = join(folder, 'sources')
  for (const path of SOURCES) cpSync(join(ROOT, path), join(sources, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(sources, 'node_modules'))
  await npm(['pack', '--pack-destination', folder], join(sources, 'mcp/npm'))
  mkdirSync(project)
  await Bun.write(join(project, 'package.json'), '{ "private": true }')
  const { version } = await Bun.file(join(ROOT, 'mcp/npm/package.json')).json()
  await npm(['install', '--offline', '--no-audit', '--no-fund', `../petstore-mcp-${version}.tgz`], project)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('in an empty project, Node 22 runs the installed tarball, which has no dependencies', async () => {
  const node = await supportedNode(join(folder, 'node'))
  if (node !== undefined) return sellWith(node)
  if ((Bun.env.CI ?? '') !== '') throw new Error('CI must run it in Node 22, and npm could not install it')
  console.warn('SKIPPED: there is no Node 22, and npm could not install it')
})

test('and so does Bun', () => sellWith(process.execPath))

test('both packages have the version of the repository', async () => {
  const read = async (path: string) => (await Bun.file(join(ROOT, path)).json()).version
  const version = await read('package.json')
  expect([await read('mcp/package.json'), await read('mcp/npm/package.json')]).toEqual([version, version])
})

async function sellWith(runtime: string): Promise<void> {
  const service = await TestService.start({ realTime: true })
  const program = join(project, 'node_modules/.bin/petstore-mcp')
  const agent = await connectProgram([runtime, program], service, '2025-11-25')
  const sale = { lines: [{ petId: '9007199254740993', quantity: 2 }], ...newKey() }
  expect((await callTool<Adjusted>(agent, 'sell', sale)).items).toMatchObject([
    { petId: '9007199254740993', quantity: 5 },
  ])
}

async function npm(words: readonly string[], cwd: string): Promise<void> {
  const path = `${join(ROOT, 'node_modules/.bin')}:${Bun.env.PATH}`
  const { exitCode, stdout, stderr } = await runProgram(['npm', ...words], { cwd, env: { PATH: path } })
  if (exitCode !== 0) throw new Error(`npm ${words.join(' ')} failed:\n${stdout}${stderr}`)
}

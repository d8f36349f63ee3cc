import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../../src/core/values/version.ts'
import { petstoreInTerminal } from './petstore.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'petstore-executable-'))
/** `npm test` has built it. */
const { TEST_PETSTORE: executable = join(folder, 'petstore') } = Bun.env
/** An empty folder, and an empty PATH. */
const cwd = join(folder, 'empty')

beforeAll(async () => {
  mkdirSync(cwd)
  if (Bun.env.TEST_PETSTORE !== undefined) return
  const build = Bun.spawn([process.execPath, 'server/scripts/build.ts', executable], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  expect([await build.exited, await new Response(build.stderr).text()]).toEqual([0, expect.any(String)])
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (...args: string[]) =>
  Bun.spawn([executable, ...args], { cwd, env: { PATH: '' }, stdout: 'pipe', stderr: 'pipe' })

async function run(...args: string[]) {
  const program = start(...args)
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  return { exitCode: await program.exited, stdout, stderr }
}

describe('the executable of npm run build, without any other files', () => {
  test('prints its version and commit', async () => {
    const { stdout: commit } = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: root })
    const text = commit.length === 0 ? VERSION : `${VERSION} (${commit.toString().trim()})`
    expect(await run('--version')).toEqual({ exitCode: 0, stdout: `${text}\n`, stderr: '' })
  })

  test('creates a key and serves with it', async () => {
    await run('migrate')
    const made = await run('keys', 'create', '--name', 'Shop', '--plan', 'free')
    expect([made.exitCode, made.stdout]).toEqual([0, expect.stringMatching(/^pst_live_/)])

    const program = start('serve', '--port', '0', '--metrics-port', '0')
    const reader = program.stdout.getReader()
    const line = JSON.parse(new TextDecoder().decode((await reader.read()).value))
    const headers = { Authorization: `Bearer ${made.stdout.trim()}` }
    const answer = await fetch(`${line.address}/v1/inventory`, { headers })
    expect([answer.status, await answer.json()]).toEqual([200, []])
    // The search worker is part of the executable.
    const found = await fetch(`${line.address}/v1/inventory/search?q=rex`, { headers })
    expect([found.status, await found.json()]).toEqual([200, []])
    expect((await fetch(line.metrics)).status).toBe(200)
    expect((await fetch(`${line.address}/openapi.json`)).status).toBe(200)
    program.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })

  test('logs text on a terminal', async () => {
    const { exitCode, shown } = await petstoreInTerminal(
      ['serve', '--port', '0', '--metrics-port', 'off'],
      '/openapi.json',
      (program) => program.kill('SIGTERM'),
      { cwd, program: [executable] },
    )
    expect(exitCode).toBe(0)
    expect(Bun.stripANSI(shown)).toMatch(/\[\d\d:\d\d:\d\d\] INFO: stopping\r?\n.* INFO: stopped\r?\n/)
  })

  test('contains the pages', async () => {
    const program = start('serve', '--port', '0', '--metrics-port', 'off')
    const { address } = JSON.parse(new TextDecoder().decode((await program.stdout.getReader().read()).value))
    for (const path of ['/', '/docs', '/docs/store', '/docs/guides/errors']) {
      const html = await (await fetch(address + path)).text()
      const built = await Bun.file(join(root, `web/dist/${path === '/' ? 'staff-page' : path}.html`)).text()
      expect(html).toBe(built)
      const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? []
      const answer = await fetch(address + script)
      expect([answer.status, answer.headers.get('Content-Type')]).toEqual([
        200,
        'text/javascript;charset=utf-8',
      ])
      expect(await answer.text()).toBe(await Bun.file(join(root, 'web/dist', script)).text())
    }
    program.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  })
})

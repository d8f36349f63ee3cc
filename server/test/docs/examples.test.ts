import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, SETTING_NAMES, variableOf } from '../../src/service/config.ts'
import { serve } from '../cli/running-petstore.ts'
import { runProgram } from '../support/run-program.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const README = read('examples/README.md')
/** Each command of the README, and what it prints. */
const programs = [...README.matchAll(/```sh\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
  ([, command = '', output = '']) => [command.trim(), output] as const,
)

const folder = mkdtempSync(join(tmpdir(), 'petstore-examples-'))
let demo: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  demo = await serve(['--demo'], { cwd: folder })
})
afterAll(async () => {
  await demo.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('the README has programs to run', () => {
  expect(programs).toHaveLength(3)
})

test.each(programs)(
  '%s prints what the README shows, each time',
  async (command, output) => {
    const [npx, , file = '', , key = 'pst_demo_pro'] = command.split(' ')
    expect(npx).toBe('npx')
    const baseUrl = `${demo.address}/v1`
    for (let run = 0; run < 2; run++) {
      const { exitCode, stdout, stderr } = await runProgram([process.execPath, file, baseUrl, key], {
        cwd: ROOT,
      })
      const expected = output.replace('http://127.0.0.1:8080/v1', baseUrl).replace(/pet \d+/, 'pet N')
      expect([exitCode, stderr, stdout.replace(/pet \d+/, 'pet N')]).toEqual([0, '', expected])
    }
  },
  120_000,
)

// The options of `script` are those of Linux.
test.skipIf(process.platform !== 'linux')(
  'the race starts a demo of its own, draws a mark for each buyer, and leaves nothing behind',
  async () => {
    const command = ['script', '--quiet', '--return', '--command', `${process.execPath} examples/race.ts`]
    const { exitCode, stdout } = await runProgram([...command, '/dev/null'], {
      cwd: ROOT,
      env: { TMPDIR: folder },
    })
    expect(exitCode).toBe(0)
    const [drawing = ''] = stdout.match(/(?:[●×]{50}\s+\S*){4}/g)?.slice(-1) ?? []
    expect([drawing.match(/●/g)?.length, drawing.match(/×/g)?.length]).toEqual([20, 180])
    expect(stdout).toContain('The documents: 20 sales of 20 pieces, and 0 left.')
    expect(readdirSync(folder).filter((name) => name.startsWith('petstore-race-'))).toEqual([])
  },
  120_000,
)

/** The parts of deploy/compose.yaml that the test checks. */
interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, null>>
}
interface ComposeService {
  readonly deploy?: { readonly replicas: number }
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
}

test('compose.yaml starts two instances with existing settings, services, volumes and files', () => {
  // Bun.YAML.parse returns unknown.
  const { services, volumes } = Bun.YAML.parse(read('deploy/compose.yaml')) as Compose
  expect(services.petstore?.deploy?.replicas).toBe(2)

  const environment = services.petstore?.environment ?? {}
  expect(Object.keys(environment).filter((name) => !SETTING_NAMES.map(variableOf).includes(name))).toEqual([])
  const withoutVariables = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(/\$\{\w+:-(.*)\}/, '$1').replace(/\$\{.*?\}/, 'secret'),
  ])
  const { databaseUrl, trustProxy } = readConfig({}, Object.fromEntries(withoutVariables))
  expect([databaseUrl, trustProxy]).toEqual(['postgres://petstore:secret@postgres/petstore', 1])

  for (const { volumes: mounts = [], depends_on = {} } of Object.values(services)) {
    for (const name of Object.keys(depends_on)) expect(services).toHaveProperty(name)
    for (const [source = ''] of mounts.map((mount) => mount.split(':'))) {
      const exists = source.startsWith('.') ? existsSync(join(ROOT, 'deploy', source)) : source in volumes
      // A path alone is a volume without a name.
      expect([source, exists || source.startsWith('/')]).toEqual([source, true])
    }
  }
})

test('nginx of compose.yaml forwards as in docs/scaling.md', () => {
  const locations = (text: string) => /\n {4}location .*?\n\}\n/s.exec(text)?.[0]
  const [, printed = ''] = /```nginx\n(.*?)```/s.exec(read('docs/scaling.md')) ?? []
  expect(locations(read('deploy/nginx.conf.template'))).toBe(locations(printed))
})

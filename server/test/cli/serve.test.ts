import { beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { petstore, petstoreInTerminal } from './petstore.ts'
import { runCommand } from './run-command.ts'
import { serve as serveIn } from './running-petstore.ts'

let cwd: string
beforeEach(() => {
  cwd = temporaryFolder()
})

const WITHOUT_LOW_PORTS = ['setpriv', '--bounding-set=-net_bind_service', '--']

function canDropPortPermission(): boolean {
  const firstPort = readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')
  return process.getuid?.() === 0 && Number(firstPort) === 1_024 && Bun.which('setpriv') !== null
}

const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  serveIn(args, { cwd, env })

/** What a person sees who starts the service, up to `last`, and stops it. */
async function banner(args: readonly string[], last = '/openapi.json'): Promise<string> {
  const { exitCode, shown } = await petstoreInTerminal(
    ['serve', '--port', '0', ...args],
    last,
    (program) => program.kill('SIGTERM'),
    { cwd, env: { METRICS_PORT: 'off' } },
  )
  expect(exitCode).toBe(0)
  return shown.replaceAll('\r\n', '\n')
}

describe('petstore serve --demo', () => {
  test('prints the addresses, the keys and a curl command on a terminal', async () => {
    const text = await banner(['--demo', '--metrics-port', '0'], 'Ctrl-C')
    const address = /http:\S+(?=\/v1\n)/.exec(text)?.[0]
    for (const plan of ['free', 'pro', 'business', 'enterprise']) expect(text).toContain(`pst_demo_${plan}`)
    expect(text).toContain(`Staff page  ${address}/\n`)
    expect(text).toContain(`API docs    ${address}/docs\n`)
    expect(text).toMatch(/Metrics {5}http:\S+\/metrics\n/)
    expect(text).toContain(`Data        ${join(realpathSync(cwd), 'data/demo.db')} (new)\n`)
    expect(text).toContain(`curl -H "Authorization: Bearer pst_demo_free" ${address}/v1/inventory`)
  })

  test('serves a demo store with a key for each plan, and a second start keeps the data and the limit windows', async () => {
    const { address, call, stop } = await serve(['--demo'])
    expect(address).toStartWith('http://127.0.0.1:')
    for (const plan of ['free', 'pro', 'business', 'enterprise']) {
      expect((await call('/inventory', `pst_demo_${plan}`)).status).toBe(200)
    }
    for (const path of ['/', '/docs']) {
      expect(await (await fetch(address + path)).text()).toStartWith('<!doctype html>')
    }
    const answer = await call('/inventory', 'pst_demo_enterprise')
    expect(answer.headers.get('X-RateLimit-Limit')).toBe('1000000')
    const items = (await answer.json()) as { petId: number; quantity: number; status: string }[]
    expect(items.map(({ petId }) => petId)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
    expect(new Set(items.map(({ status }) => status)).size).toBe(3)
    await call('/inventory/1', 'pst_demo_free', { method: 'PATCH', body: '{"quantity": 99}' })
    expect(await stop('SIGINT')).toBe(0)

    const second = await serve(['--demo'])
    const again = await second.call('/inventory', 'pst_demo_free')
    expect(((await again.json()) as { quantity: number }[])[0]?.quantity).toBe(99)
    expect(again.headers.get('X-RateLimit-Remaining')).toBe('57')
    await second.stop()
    const real = await serve(['--database-url', 'sqlite:data/demo.db'])
    expect((await real.call('/inventory', 'pst_demo_enterprise')).status).toBe(401)
    await real.stop()
  })

  test('listens only on this machine in the demo, because its keys are public', async () => {
    const { exitCode, stderr } = await runCommand(['serve', '--demo', '--host', '0.0.0.0', '--port', '0'], {
      cwd,
    })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the demo has publicly known keys')])
  })

  test('does not add the public demo keys to a store that has keys but no pets yet', async () => {
    const database = ['--database-url', 'sqlite:data/petstore.db']
    expect((await runCommand(['migrate', ...database], { cwd })).exitCode).toBe(0)
    const owner = ['keys', 'create', '--name', 'Owner', '--owner', '--plan', 'business', ...database]
    expect((await runCommand(owner, { cwd })).exitCode).toBe(0)
    const { exitCode, stderr } = await runCommand(['serve', '--demo', ...database, '--port', '0'], { cwd })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('contains a real store')])
  })

  test('does not open a real store to the public demo keys', async () => {
    expect((await runCommand(['migrate'], { cwd })).exitCode).toBe(0)
    const { Database } = await import('bun:sqlite')
    const database = new Database(join(cwd, 'data/petstore.db'))
    database.run("INSERT INTO pets (id, name, words, category_id) VALUES (1, 'Biscuit', 'biscuit', 1)")
    database.close()
    const { exitCode, stderr } = await runCommand(
      ['serve', '--demo', '--database-url', 'sqlite:data/petstore.db', '--port', '0'],
      { cwd },
    )
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('contains a real store')])
  })
})

describe('petstore serve', () => {
  test('reads the settings from the environment, and a flag overrides them', async () => {
    const { address, stop } = await serve([], {
      PORT: 'not read',
      HOST: '127.0.0.1',
      BASE_URL: 'https://shop.test/v1',
    })
    expect(await (await fetch(`${address}/openapi.json`)).json()).toMatchObject({
      servers: [{ url: 'https://shop.test/v1' }],
    })
    await stop()
  })

  async function expectRefused(args: readonly string[], message: string, env: Record<string, string> = {}) {
    const { exitCode, stdout, stderr } = await runCommand(['serve', ...args], { cwd, env })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toStartWith('petstore: ')
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }

  test('a used port: one line and exit code 1', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await expectRefused(['--port', String(taken.port)], `port ${taken.port} on 127.0.0.1 is in use`)
    const env = { npm_lifecycle_event: 'start' }
    const { exitCode, stderr } = await petstore(['serve', '--port', String(taken.port)], { cwd, env })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('under npm: npm start -- --port 8081')])
    await taken.stop()
  })

  test.skipIf(!canDropPortPermission())('a port below 1024 without the permission: what to do', async () => {
    const { exitCode, stderr } = await petstore(['serve', '--port', '81'], {
      cwd,
      through: WITHOUT_LOW_PORTS,
    })
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(
        'only root can listen on port 81, because it is below 1024; choose another port',
      ),
    ])
  })

  test('the command that creates a key can be pasted, also if the path has a quote, and is shown only without a key', async () => {
    const path = "Anna's shop/petstore.db"
    const database = ['--database-url', `sqlite:${path}`]
    const text = await banner(database, '--owner')
    const command = /^ *petstore (keys create .*)$/m.exec(text)?.[1] ?? ''
    expect(command).toContain('--owner --plan business --database-url')
    // The shell passes the arguments of the printed line on to the program.
    const through = ['/bin/sh', '-c', `exec "$@" ${command}`, 'sh']
    const { exitCode, stderr } = await petstore([], { cwd, through })
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(join(cwd, path))])
    expect(await banner(database)).not.toContain('petstore keys create')
  })

  test('a database that cannot be opened: one line and exit code 1', async () => {
    writeFileSync(join(cwd, 'notes.txt'), 'not a database, but long enough to look like a file'.repeat(40))
    await expectRefused(
      ['--database-url', 'sqlite:notes.txt'],
      `cannot open the database ${join(cwd, 'notes.txt')}`,
    )
    await expectRefused(['--database-url', 'sqlite:/proc/none/petstore.db'], 'cannot open the database')
  })

  test('a setting with a wrong value: one line and exit code 1', async () => {
    await expectRefused([], 'PORT must be ', { PORT: '80a' })
  })
})

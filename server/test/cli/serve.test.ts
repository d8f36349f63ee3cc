import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { petstore } from './petstore.ts'
import { serve as serveIn } from './running-petstore.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-serve-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const WITHOUT_LOW_PORTS = ['setpriv', '--bounding-set=-net_bind_service', '--']

function canDropPortPermission(): boolean {
  const firstPort = readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')
  return process.getuid?.() === 0 && Number(firstPort) === 1_024 && Bun.which('setpriv') !== null
}

const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  serveIn(args, { cwd, env })

describe('petstore serve --demo', () => {
  test('serves a demo store and prints the addresses, the keys and a curl command', async () => {
    const { banner, address, call, stop } = await serve(['--demo'])
    expect(address).toStartWith('http://127.0.0.1:')
    for (const plan of ['free', 'pro', 'business', 'enterprise']) {
      expect(banner).toContain(`pst_demo_${plan}`)
      expect((await call('/inventory', `pst_demo_${plan}`)).status).toBe(200)
    }
    expect(banner).toContain(`Staff page  ${address}/\n`)
    expect(banner).toContain(`API docs    ${address}/docs\n`)
    for (const path of ['/', '/docs']) {
      expect(await (await fetch(address + path)).text()).toStartWith('<!doctype html>')
    }
    expect(banner).toContain(`curl -H "Authorization: Bearer pst_demo_free" ${address}/v1/inventory`)

    const items = (await (await call('/inventory', 'pst_demo_pro')).json()) as {
      petId: number
      quantity: number
      status: string
    }[]
    expect(items.map(({ petId }) => petId)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1))
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']))
    expect(Math.min(...items.map(({ quantity }) => quantity))).toBe(0)
    const orders = (await (await call('/store/orders', 'pst_demo_pro')).json()) as unknown[]
    expect(orders.length).toBeGreaterThanOrEqual(24)

    const enterprise = await call('/inventory', 'pst_demo_enterprise')
    expect(enterprise.headers.get('X-RateLimit-Limit')).toBe('1000000')
    expect(await stop()).toBe(0)
  })

  test('a second start keeps the data and the limit windows', async () => {
    const first = await serve(['--demo'])
    await first.call('/inventory/1', 'pst_demo_free', { method: 'PATCH', body: '{"quantity": 99}' })
    expect(await first.stop('SIGINT')).toBe(0)
    const second = await serve(['--demo'])
    const answer = await second.call('/inventory', 'pst_demo_free')
    const items = (await answer.json()) as { quantity: number }[]
    expect(items[0]?.quantity).toBe(99)
    expect(answer.headers.get('X-RateLimit-Remaining')).toBe('58')
    await second.stop()
  })

  test('the demo keys do not work on the same data outside demo mode', async () => {
    await (await serve(['--demo'])).stop()
    const real = await serve(['--database-url', 'sqlite:data/demo.db'])
    expect(real.banner).not.toContain('pst_demo')
    expect((await real.call('/inventory', 'pst_demo_enterprise')).status).toBe(401)
    await real.stop()
  })

  test('listens only on this machine in the demo, because its keys are public', async () => {
    const { exitCode, stderr } = await petstore(['serve', '--demo', '--host', '0.0.0.0', '--port', '0'], {
      cwd,
    })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the demo has publicly known keys')])
  })

  test('does not add the public demo keys to a store that has keys but no pets yet', async () => {
    const database = ['--database-url', 'sqlite:data/petstore.db']
    expect((await petstore(['migrate', ...database], { cwd })).exitCode).toBe(0)
    const owner = ['keys', 'create', '--name', 'Owner', '--owner', '--plan', 'business', ...database]
    expect((await petstore(owner, { cwd })).exitCode).toBe(0)
    const { exitCode, stderr } = await petstore(['serve', '--demo', ...database, '--port', '0'], { cwd })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('contains a real store')])
  })

  test('does not open a real store to the public demo keys', async () => {
    expect((await petstore(['migrate'], { cwd })).exitCode).toBe(0)
    const { Database } = await import('bun:sqlite')
    const database = new Database(join(cwd, 'data/petstore.db'))
    database.run("INSERT INTO pets (id, name, words, category_id) VALUES (1, 'Biscuit', 'biscuit', 1)")
    database.close()
    const { exitCode, stderr } = await petstore(
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
      ANONYMOUS_PER_MINUTE: '7',
    })
    const answer = await fetch(`${address}/v1/inventory`)
    expect([answer.status, answer.headers.get('X-RateLimit-Limit')]).toEqual([401, '7'])
    await stop()
  })

  async function expectRefused(args: readonly string[], message: string, env: Record<string, string> = {}) {
    const { exitCode, stdout, stderr } = await petstore(['serve', ...args], { cwd, env })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toStartWith('petstore: ')
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  }

  test('a used port: one line and exit code 1', async () => {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    await expectRefused(['--port', String(taken.port)], `port ${taken.port} on 127.0.0.1 is in use`)
    await expectRefused(['--port', String(taken.port)], 'under npm: npm start -- --port 8081', {
      npm_lifecycle_event: 'start',
    })
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

  test('the command that creates a key is shown only while there is no key', async () => {
    const first = await serve(['--log-format', 'text'])
    expect(first.banner).toContain('petstore keys create')
    await first.stop()
    const other = await serve(['--log-format', 'text', '--database-url', 'sqlite:other.db'])
    expect(other.banner).toContain('--owner --plan business --database-url sqlite:other.db')
    await other.stop()
    await petstore(['keys', 'create', '--name', 'a', '--plan', 'free'], { cwd })
    const second = await serve(['--log-format', 'text'])
    await second.stop()
    expect(second.output()).toContain('/openapi.json')
    expect(second.output()).not.toContain('petstore keys create')
  })

  test('the command that creates a key can be pasted, also if the folder has a space or a quote in its name', async () => {
    const folder = "Anna's shop"
    const { banner, stop } = await serve(['--log-format', 'text', '--data', folder])
    await stop()
    const command = /^ *petstore (keys create .*)$/m.exec(banner)?.[1] ?? ''
    // The shell passes the arguments of the printed line on to the program.
    const through = ['/bin/sh', '-c', `exec "$@" ${command}`, 'sh']
    const { exitCode, stderr } = await petstore([], { cwd, through })
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(join(cwd, folder, 'petstore.db'))])
  })

  test('a database that cannot be opened: one line and exit code 1', async () => {
    writeFileSync(join(cwd, 'notes.txt'), 'not a database, but long enough to look like a file'.repeat(40))
    await expectRefused(
      ['--database-url', 'sqlite:notes.txt'],
      `cannot open the database ${join(cwd, 'notes.txt')}`,
    )
    await expectRefused(['--database-url', 'sqlite:/proc/none/petstore.db'], 'cannot open the database')
    await expectRefused(['--database-url', 'mysql://x'], '--database-url must be of the form sqlite:PATH')
    await expectRefused(
      ['--database-url', 'sqlite::memory:'],
      '--database-url must be of the form sqlite:PATH',
    )
  })

  test('an unknown setting: one line and exit code 1', async () => {
    await expectRefused(['--prot', '1'], "unknown option '--prot' (Did you mean --port?)")
  })

  test.each([
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['ENVIRONMENT', 'test'],
    ['BASE_URL', 'https://shop.test/'],
    ['BASE_URL', 'https://shop.test/v1?x=1'],
    ['TRUST_PROXY', 'perhaps'],
    ['TRUST_PROXY', 'constructor'],
    ['ANONYMOUS_PER_MINUTE', '0'],
    ['PET_SUNSET', 'soon'],
    ['PET_SUNSET', '2030-02-31'],
  ])('%s=%s is rejected with the valid values', async (name, value) => {
    await expectRefused([], `${name} must be `, { [name]: value })
  })

  test('--help lists every setting with its default', async () => {
    const { exitCode, stdout } = await petstore(['serve', '--help'])
    expect(exitCode).toBe(0)
    for (const name of ['--demo', '--port', '--host', '--database-url', '--trust-proxy', '--pet-sunset']) {
      expect(stdout).toContain(name)
    }
    expect(stdout).toContain('TRUST_PROXY, default off')
  })
})

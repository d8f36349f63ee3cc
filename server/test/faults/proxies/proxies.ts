import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../cli/running-petstore.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import type { ProxiedUpdates } from './proxied-updates.ts'

export const PROXIES = ['nginx', 'haproxy'] as const
export type ProxyName = (typeof PROXIES)[number]

const DOCS = join(import.meta.dir, '../../../../docs/scaling.md')
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
/** The time until a proxy that checks once a second has seen that an instance is back. */
const SEEN_AGAIN_MS = 1_000
/** The ports in the configurations: the proxy, and both instances behind it. */
const PRINTED_PORTS = ['8080', '8081', '8082'] as const

/** The configuration of docs/scaling.md as printed, with other ports. */
export function printedConfiguration(name: ProxyName, ports: readonly number[]): string {
  const text = readFileSync(DOCS, 'utf8')
  const printed = new RegExp(`\`\`\`${name}\n(.*?)\`\`\``, 's').exec(text)?.[1]
  if (printed === undefined) throw new Error(`docs/scaling.md has no configuration for ${name}`)
  return PRINTED_PORTS.reduce((config, port, index) => config.replaceAll(port, String(ports[index])), printed)
}

export interface Shop {
  /** The address of the proxy. */
  readonly address: string
  /** Restarts one instance after the other, each once the proxy has seen that the previous one is back. */
  restartAll(): Promise<void>
  /** Stops the process without ending it: it keeps its connections and responds to nothing. */
  freeze(index: number): void
  thaw(index: number): void
  stop(): Promise<void>
}

/** Two instances behind a proxy; `delayMs` delays each byte between them. */
export async function openShop(name: ProxyName, delayMs = 0): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), `petstore-${name}-`))
  const front = freePort()
  const behind = [freePort(), freePort()]
  const ports = delayMs === 0 ? behind : [freePort(), freePort()]
  const start = (index: number) =>
    serve(['--demo', '--port', String(behind[index]), '--database-url', `sqlite:${index}.db`], {
      cwd: folder,
      env: { TRUST_PROXY: 'on' },
    })
  const instances = await Promise.all(behind.map((_, index) => start(index)))
  const relays = delayMs === 0 ? [] : behind.map((to, index) => relay(ports[index] ?? 0, to, delayMs))
  const proxy = await startProxy(name, folder, [front, ...ports])
  const address = `http://127.0.0.1:${front}`
  await until(async () => {
    if (proxy.exitCode !== null) throw new Error(`${name} ended: ${await new Response(proxy.stderr).text()}`)
    const asked = fetch(`${address}/readyz`)
    return asked.then(
      ({ ok }) => ok,
      () => false,
    )
  })
  return {
    address,
    restartAll: async () => {
      for (const index of instances.keys()) {
        await Bun.sleep(SEEN_AGAIN_MS)
        const exitCode = await instances[index]?.stop()
        if (exitCode !== 0) throw new Error(`an instance ended with exit code ${exitCode}`)
        instances[index] = await start(index)
      }
    },
    freeze: (index) => instances[index]?.program.kill('SIGSTOP'),
    thaw: (index) => instances[index]?.program.kill('SIGCONT'),
    stop: async () => {
      proxy.kill()
      await proxy.exited
      for (const one of relays) one.close()
      for (const { program } of instances) program.kill('SIGCONT')
      await Promise.all(instances.map((instance) => instance.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startProxy(
  name: ProxyName,
  folder: string,
  ports: readonly number[],
): Promise<Bun.Subprocess<'ignore', 'ignore', 'pipe'>> {
  const printed = printedConfiguration(name, ports)
  const file = join(folder, `${name}.conf`)
  const commands = {
    nginx: ['nginx', '-p', folder, '-e', join(folder, 'error.log'), '-c', file],
    haproxy: ['haproxy', '-db', '-f', file],
  }
  // The main configuration of a machine, which includes the printed one.
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ')
  await Bun.write(
    file,
    name === 'haproxy'
      ? printed
      : `daemon off; pid ${folder}/nginx.pid; events { worker_connections 4096; } http { access_log off; ${temporary}\n${printed}}\n`,
  )
  return Bun.spawn(commands[name], { env: { PATH }, stdout: 'ignore', stderr: 'pipe' })
}

/** Forwards all data, and its end, after a delay. */
function relay(port: number, to: number, delayMs: number): { close(): void } {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    for (const [from, into] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => setTimeout(() => into.write(bytes), delayMs))
      from.on('end', () => setTimeout(() => into.end(), delayMs))
      from.on('error', () => into.destroy())
    }
  })
  return server.listen(port, '127.0.0.1')
}

interface UpdateOptions {
  readonly connections: number
  readonly gapMs?: readonly [min: number, max: number]
  /** Whether an update that no instance answered is sent again. */
  readonly mode?: 'once' | 'retry'
}

/** Sends updates through the proxy during the work. */
export async function updatesDuring(
  address: string,
  { connections, gapMs = [0, 0], mode = 'once' }: UpdateOptions,
  work: () => Promise<void>,
): Promise<ProxiedUpdates> {
  const script = join(import.meta.dir, 'proxied-updates.ts')
  const args = [address, ...[connections, ...gapMs].map(String), mode]
  const load = Bun.spawn([process.execPath, script, ...args], { stdin: 'pipe', stdout: 'pipe' })
  try {
    await work()
  } finally {
    load.stdin.end()
  }
  return (await new Response(load.stdout).json()) as ProxiedUpdates
}

import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openMachine, printedBlocks } from '../../cli/printed-commands.ts'
import { stockUp } from '../../postgres/shop.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { MAX_LOSS_MS } from './doomed-shop.ts'

setDefaultTimeout(120_000)

const machine = openMachine()
const running: Bun.Subprocess[] = []
async function end(program: Bun.Subprocess, signal: NodeJS.Signals): Promise<number> {
  if (program.exitCode === null) process.kill(-program.pid, signal)
  return program.exited
}
afterEach(async () => {
  for (const program of running) await end(program, 'SIGKILL').catch(() => {})
  machine.close()
})

const port = freePort()
const address = `http://127.0.0.1:${port}`
function start(block: string | undefined, env: Readonly<Record<string, string>> = {}) {
  const program = machine.start(block ?? '', { PORT: String(port), METRICS_PORT: 'off', ...env })
  running.push(program)
  return program
}
const isReady = () =>
  fetch(`${address}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

test('docs/backup.md: the machine is gone, exactly as printed', async () => {
  const [serve, restore] = printedBlocks('petstore serve --backup-to', 'sh')
  const [follow, takeOver] = printedBlocks('The machine is gone', 'sh')
  for (const folder of ['shop', 'mnt/backup/petstore', 'var/lib/petstore', 'tmp']) {
    mkdirSync(join(machine.root, folder), { recursive: true })
  }
  const env = { DATABASE_URL: `sqlite:${machine.root}/shop/petstore.db` }
  const key = await stockUp(env.DATABASE_URL)
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const quantity = async () => {
    const response = await fetch(`${address}/v1/inventory/1`, { headers })
    return (await response.json()).quantity
  }

  const service = start(serve, env)
  const follower = start(follow)
  const followed = new Response(follower.stdout).text()
  await until(isReady)
  await until(() => existsSync(join(machine.root, 'var/lib/petstore/petstore.db')))
  const body = JSON.stringify({ quantity: 7 })
  expect((await fetch(`${address}/v1/inventory/1`, { method: 'PATCH', headers, body })).status).toBe(200)
  await Bun.sleep(MAX_LOSS_MS)
  await end(service, 'SIGKILL')
  rmSync(join(machine.root, 'shop'), { recursive: true })

  await end(follower, 'SIGTERM')
  expect(await followed).toMatch(/Its last change is number \d+, made at 20/)
  const spare = start(takeOver)
  await until(isReady)
  expect(await quantity()).toBe(7)
  await end(spare, 'SIGTERM')

  const restored = await machine.run((restore ?? '').replace('--at 15m', '--at 1s'), env)
  expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
  expect(existsSync(join(machine.root, 'tmp/look.db'))).toBe(true)
  start('petstore serve', env)
  await until(isReady)
  expect(await quantity()).toBe(7)
})

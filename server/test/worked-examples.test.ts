import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO_SECRETS } from '../src/service/demo.ts'
import { serve } from './cli/running-petstore.ts'
import { runProgram } from './support/run-program.ts'

const ROOT = join(import.meta.dir, '..', '..')
const EXAMPLES = join(import.meta.dir, 'worked-examples')
const WORKSPACES = ['wire', 'server', 'client', 'web']

/** A copy of the repository with the changes of all worked examples, and with what is generated from them. */
const copy = mkdtempSync(join(tmpdir(), 'petstore-examples-'))
let service: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.base.json', 'biome.json', '.gitignore']
  for (const name of [...WORKSPACES, 'docs', 'openapi.json', ...settings]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  }
  linkPackages()
  for (const name of readdirSync(EXAMPLES)) await run(['git', 'apply', join(EXAMPLES, name)])
  await run([process.execPath, 'server/scripts/contract.ts', '--write'])
  await run([process.execPath, 'client/scripts/contract-types.ts', '--write'])
  await run([process.execPath, 'web/build.ts'])
  service = await serve(['--demo'], { cwd: copy, program: [process.execPath, 'server/src/cli/main.ts'] })
}, 120_000)
afterAll(async () => {
  await service?.stop()
  rmSync(copy, { recursive: true, force: true })
})

/** Packages of this repository are those of the copy. */
function linkPackages(): void {
  const packages = join(ROOT, 'node_modules')
  mkdirSync(join(copy, 'node_modules/@petstore'), { recursive: true })
  for (const name of readdirSync(packages).filter((each) => each !== '@petstore')) {
    symlinkSync(join(packages, name), join(copy, 'node_modules', name))
  }
  for (const name of WORKSPACES) symlinkSync(join(copy, name), join(copy, 'node_modules/@petstore', name))
}

async function run(command: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await runProgram(command, { cwd: copy })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`)
}

const read = (path: string) => readFileSync(join(copy, path), 'utf8')
const call = (path: string, init?: RequestInit) => service.call(path, DEMO_SECRETS.enterprise, init)

test('a new field of a pet is stored, found by a search, and part of files', async () => {
  const body = JSON.stringify({ name: 'Fern', categoryId: 1, supplierCode: 'F-17' })
  expect((await call('/pets', { method: 'POST', body })).status).toBe(201)
  const [pet] = await (await call('/inventory/search?q=Fern')).json()
  expect(pet).toMatchObject({ name: 'Fern', supplierCode: 'F-17' })
  const exported = await runProgram([process.execPath, 'server/src/cli/main.ts', 'export'], {
    cwd: copy,
    env: { DATABASE_URL: 'sqlite:data/demo.db' },
  })
  expect(exported.stdout).toMatch(/^petId,.*,supplierCode,/)
  expect(exported.stdout).toContain(',F-17,')
})

test('a new order state is in the contract, with its webhook, and orders are listed by it', async () => {
  const { components, webhooks } = JSON.parse(read('openapi.json'))
  expect(components.schemas.OrderState.enum).toContain('picked')
  expect(webhooks).toHaveProperty(['order.picked'])
  expect(await (await call('/store/orders?state=picked')).json()).toEqual([])
})

test('a new operation answers, and is a method of the client', async () => {
  expect(await (await call('/store/orders/summary')).json()).toEqual({ orders: 12 })
  expect(read('client/src/resources.ts').includes("summarizeOrders: 'orders.summarize'")).toBe(true)
})

test('a new view is part of the staff page', async () => {
  const scripts = readdirSync(join(copy, 'web/dist/assets')).filter((name) => name.endsWith('.js'))
  expect(scripts.some((name) => read(`web/dist/assets/${name}`).includes('"Suppliers"'))).toBe(true)
})

/**
 * Generates clients from openapi.json with tools that integrators use, compiles each of them with a short program that
 * uses it: `npm run generators`. Names of tools as arguments select some of them. The tools
 * are installed into a temporary folder, because together they have 750 packages.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingPackage } from '../../wire/test/debian-package.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TSC = join(ROOT, 'node_modules/.bin/tsc')
/** The generators use the compiler as a library, which version 7 does not offer. */
const TYPESCRIPT_LIBRARY = 'typescript@5.9.3'

/** Fails to compile if a generator turns a union of the contract into something that accepts anything or nothing. */
const PROGRAM = `
export const changes: AdjustmentChange[] = [{ petId: 1, delta: 2 }, { petId: 2, quantity: 3, expected: 4 }]
export const updates: OrderUpdate[] = [{ complete: true }, { shipDate: '2026-12-01T10:00:00Z' }]
// @ts-expect-error: a change has a delta or a quantity
export const change: AdjustmentChange = { petId: 1 }
// @ts-expect-error: no such field
export const update: OrderUpdate = { shipdate: '2026-12-01T10:00:00Z' }
`

interface Tool {
  readonly packages: readonly string[]
  /** Throws if the tool fails, or if its result does not compile. `folder` has the tool and openapi.json. */
  readonly check: (folder: string) => Promise<void>
}

const TOOLS: Readonly<Record<string, Tool>> = {
  'openapi-typescript': {
    packages: ['openapi-typescript@7.13.0', TYPESCRIPT_LIBRARY],
    check: async (folder) => {
      await runTool(folder, 'openapi-typescript', ['openapi.json', '--output', 'client.ts'])
      await compile(
        folder,
        `import type { components } from './client.ts'
type AdjustmentChange = components['schemas']['AdjustmentChange']
type OrderUpdate = components['schemas']['OrderUpdate']`,
      )
    },
  },
  'hey-api': {
    packages: ['@hey-api/openapi-ts@0.99.0', TYPESCRIPT_LIBRARY],
    check: async (folder) => {
      await runTool(folder, 'openapi-ts', ['--input', 'openapi.json', '--output', 'client'])
      await compile(folder, `import type { AdjustmentChange, OrderUpdate } from './client/index.ts'`)
    },
  },
  orval: {
    packages: ['orval@8.20.0', TYPESCRIPT_LIBRARY],
    check: async (folder) => {
      const files = ['--input', 'openapi.json', '--output', 'client.ts']
      await runTool(folder, 'orval', [...files, '--client', 'fetch'])
      await compile(folder, `import type { AdjustmentChange, OrderUpdate } from './client.ts'`)
    },
  },
  'swagger-typescript-api': {
    packages: ['swagger-typescript-api@13.13.0'],
    check: async (folder) => {
      const files = ['--path', 'openapi.json', '--output', '.', '--name', 'client.ts']
      await runTool(folder, 'swagger-typescript-api', ['generate', ...files])
      await compile(folder, `import type { AdjustmentChange, OrderUpdate } from './client.ts'`)
    },
  },
  'quicktype for Go': { packages: ['quicktype@26.0.0'], check: checkGo },
  'modelina for Java and C#': { packages: ['@asyncapi/modelina@5.10.1'], check: checkJavaAndCSharp },
}

/** The registry did not provide the packages, so nothing is known about the contract. */
export class NotInstalled extends Error {}

/** Throws if the tool is unknown or fails. */
export async function checkWith(name: string): Promise<void> {
  const tool = TOOLS[name]
  if (tool === undefined) throw new Error(`there is no ${name}; choose from ${Object.keys(TOOLS).join(', ')}`)
  const folder = mkdtempSync(join(tmpdir(), 'petstore-generators-'))
  try {
    cpSync(join(ROOT, 'openapi.json'), join(folder, 'openapi.json'))
    await install(folder, tool.packages)
    await tool.check(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  if (packages.length === 0) return
  await Bun.write(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
  try {
    await run(folder, ['npm', 'install', ...flags, ...packages])
  } catch (cause) {
    throw new NotInstalled(`npm cannot install ${packages.join(' ')}`, { cause })
  }
}

/** Bun runs the tool, because some of them need a newer Node.js than this repository does. */
async function runTool(folder: string, name: string, flags: readonly string[]): Promise<void> {
  await run(folder, [process.execPath, '--bun', join(folder, 'node_modules/.bin', name), ...flags])
}

async function compile(folder: string, imports: string): Promise<void> {
  await Bun.write(join(folder, 'program.ts'), `${imports}\n${PROGRAM}`)
  const resolution = ['--module', 'preserve', '--moduleResolution', 'bundler', '--allowImportingTsExtensions']
  const libraries = ['--target', 'esnext', '--lib', 'esnext,dom,dom.iterable', '--types', '']
  await run(folder, [TSC, '--strict', '--noEmit', ...resolution, ...libraries, 'program.ts'])
}

/** Compiles the Go program of docs/clients.md, with the types that quicktype generates as that page says. */
async function checkGo(folder: string): Promise<void> {
  const missing = await missingPackage('golang-go', 'go')
  if (missing !== undefined) throw new Error(missing)
  const page = await Bun.file(join(ROOT, 'docs/clients.md')).text()
  const command = /^npx quicktype@\S+ (.*)$/m.exec(page)?.[1]
  const program = /```go\n(.*?)```/s.exec(page)?.[1]
  if (command === undefined || program === undefined) {
    throw new Error('docs/clients.md does not show how to generate types for Go')
  }
  await runTool(folder, 'quicktype', command.split(' '))
  const types = await Bun.file(join(folder, 'petstore.go')).text()
  const item = /^type InventoryItem struct \{.*?^\}/ms.exec(types)?.[0] ?? ''
  if (!/\bQuantity +int64\b/.test(item)) throw new Error(`the quantity is not 64 bits wide:\n${item}`)
  await Bun.write(join(folder, 'main.go'), program)
  await Bun.write(join(folder, 'go.mod'), 'module shop\n\ngo 1.19\n')
  await run(folder, ['go', 'vet', '.'])
}

const MODELS = `
import { CSharpGenerator, JavaGenerator } from '@asyncapi/modelina'
const contract = await Bun.file('openapi.json').json()
for (const generator of [new JavaGenerator(), new CSharpGenerator()]) {
  for (const { modelName, result } of await generator.generate(contract)) {
    if (modelName === 'InventoryItem') console.log(result)
  }
}
`

/** The quantities of the generated classes must hold 3,000,000,000. The classes are not compiled. */
async function checkJavaAndCSharp(folder: string): Promise<void> {
  await Bun.write(join(folder, 'models.ts'), MODELS)
  const classes = await run(folder, [process.execPath, 'models.ts'])
  const quantities = classes.match(/private \w+ quantity;/g) ?? []
  if (quantities.length !== 2 || quantities.some((field) => field !== 'private long quantity;')) {
    throw new Error(`the quantities are not 64 bits wide:\n${classes}`)
  }
}

async function run(folder: string, command: readonly string[]): Promise<string> {
  const program = Bun.spawn([...command], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  if ((await program.exited) !== 0) throw new Error(stdout + stderr)
  return stdout
}

if (import.meta.main) {
  const selected = process.argv.slice(2)
  const names = selected.length === 0 ? Object.keys(TOOLS) : selected
  await Promise.all(
    names.map(async (name) => {
      try {
        await checkWith(name)
        console.log(`${[name, ...(TOOLS[name]?.packages ?? [])].join(' ')}: passed`)
      } catch (error) {
        console.error(`${name}: FAILED\n${error instanceof Error ? (error.cause ?? error) : error}`)
        process.exitCode = 1
      }
    }),
  )
}

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

setDefaultTimeout(120_000)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Files with an import that biome.json forbids, and the reason. */
const FORBIDDEN: readonly (readonly [path: string, specifier: string])[] = [
  ['wire/src/x.ts', '../../server/src/http/reply.ts'],
  ['wire/src/x.ts', 'typebox'],
  ['wire/test/x.ts', '../../server/test/support/y.ts'],
  ['server/src/core/values/x.ts', '../catalog/pet.ts'],
  ['server/src/core/stock/x.ts', '../../store/sqlite/store.ts'],
  ['server/src/core/keys/x.ts', '../../http/app.ts'],
  ['server/src/core/stock/x.ts', 'node:fs'],
  ['server/src/core/stock/x.ts', 'commander'],
  ['server/src/store/x.ts', './sqlite/y.ts'],
  ['server/src/store/sqlite/x.ts', '../postgres/y.ts'],
  ['server/src/store/postgres/x.ts', '../sqlite/y.ts'],
  ['server/src/store/sqlite/x.ts', '../../http/app.ts'],
  ['server/src/store/open-store.ts', '../http/y.ts'],
  ['server/src/http/x.ts', '../store/store.ts'],
  ['server/src/http/x.ts', '../telemetry/metrics.ts'],
  ['server/src/http/x.ts', '../../../wire/src/y.ts'],
  ['server/src/delivery/x.ts', '../http/app.ts'],
  ['server/src/telemetry/x.ts', '../http/app.ts'],
  ['server/src/service/compose.ts', '../store/sqlite/y.ts'],
  ['server/src/service/demo.ts', '../../../web/dist/pages.ts'],
  ['server/src/cli/commands/x.ts', '../../store/sqlite/store.ts'],
  ['server/src/cli/commands/x.ts', '../../http/app.ts'],
  ['server/src/unknown/x.ts', './y.ts'],
  ['client/src/x.ts', 'undici'],
  ['mcp/src/x.ts', '../../client/src/y.ts'],
  ['mcp/src/x.ts', '../../server/src/http/app.ts'],
  ['mcp/src/x.ts', 'zod'],
  ['web/src/staff-page/data/x.ts', '../orders/orders-view.tsx'],
  ['web/src/staff-page/data/stock/x.ts', '../../ui/button.tsx'],
  ['web/src/staff-page/ui/x.ts', '../orders/orders-view.tsx'],
  ['web/src/staff-page/orders/x.ts', '../sell/sell-view.tsx'],
  ['web/src/staff-page/orders/x.ts', '../../../../client/src/y.ts'],
  ['web/docs/x.ts', '../src/docs-page/page.ts'],
  ['web/src/docs-page/x.ts', '../staff-page/ui/button.tsx'],
  ['web/src/shared/x.ts', '../../../server/src/core/catalog/pet.ts'],
]
const CYCLE = ['server/src/core/stock/first.ts', 'server/src/core/stock/second.ts']

interface Diagnostic {
  readonly category: string
  readonly location: { readonly path: string | { readonly file: string } }
}

let folder: string
let found: { rule: string; path: string }[]
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-layers-'))
  cpSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  for (const [index, [path, specifier]] of FORBIDDEN.entries()) {
    const target = path.endsWith('/x.ts') ? path.replace(/x\.ts$/, `x${index}.ts`) : path
    write(target, `import type { Y } from '${specifier}'\n\nexport type X = Y\n`)
  }
  write(CYCLE[0] ?? '', "import type { B } from './second.ts'\n\nexport type A = B\n")
  write(CYCLE[1] ?? '', "import type { A } from './first.ts'\n\nexport type B = A\n")
  const command = ['lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']
  const biome = Bun.spawn([join(ROOT, 'node_modules/.bin/biome'), ...command], {
    cwd: folder,
    stderr: 'ignore',
  })
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(await new Response(biome.stdout).text())
  found = diagnostics.map(({ category, location: { path } }) => ({
    rule: category.replace(/^.*\//, ''),
    path: typeof path === 'string' ? path : path.file,
  }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the linter refuses', () => {
  test.each(FORBIDDEN.map(([path, specifier], index) => [path, specifier, index] as const))(
    'in %s the import of %s',
    (path, _, index) => {
      const target = path.endsWith('/x.ts') ? path.replace(/x\.ts$/, `x${index}.ts`) : path
      expect(found).toContainEqual({ rule: 'noRestrictedImports', path: target })
    },
  )

  test('a cycle of imports, types included', () => {
    for (const path of CYCLE) expect(found).toContainEqual({ rule: 'noImportCycles', path })
  })
})

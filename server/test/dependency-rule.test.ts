import { describe, expect, test } from 'bun:test'
import {
  cycleViolations,
  findCycles,
  importsOf,
  readImports,
  violations,
} from '../scripts/dependency-rule.ts'

const found = (path: string, source: string) => violations(path, importsOf(path, source))

describe('the dependency rule fails if', () => {
  test.each([
    [
      'the wire imports the server',
      'wire/src/x.ts',
      "import type { Reply } from '../../server/src/http/reply.ts'",
    ],
    ['the wire imports a package', 'wire/src/x.ts', "import Type from 'typebox'"],
    [
      'a test of the wire imports the server',
      'wire/test/x.test.ts',
      "import { y } from '../../server/test/support/y.ts'",
    ],
    [
      'core/values imports a subject',
      'server/src/core/values/x.ts',
      "import type { Pet } from '../catalog/pet.ts'",
    ],
    [
      'the core imports an adapter',
      'server/src/core/stock/x.ts',
      "import { y } from '../../store/sqlite/store.ts'",
    ],
    [
      'the core imports a type of http',
      'server/src/core/keys/x.ts',
      "import type { App } from '../../http/app.ts'",
    ],
    ['the core imports a package', 'server/src/core/x.ts', "import { Command } from 'commander'"],
    ['the core reads files', 'server/src/core/x.ts', "import { readFileSync } from 'node:fs'"],
    [
      'the core takes all ports',
      'server/src/core/stock/x.ts',
      "import type { Store } from '../../store/store.ts'",
    ],
    ['an adapter imports the other', 'server/src/store/sqlite/x.ts', "import { y } from '../postgres/y.ts'"],
    ['the other imports the first', 'server/src/store/postgres/x.ts', "import { y } from '../sqlite/y.ts'"],
    ['an adapter imports http', 'server/src/store/sqlite/x.ts', "export { y } from '../../http/app.ts'"],
    ['shared adapter code imports one of them', 'server/src/store/x.ts', "import { y } from './sqlite/y.ts'"],
    ['a store is opened by http', 'server/src/store/open-store.ts', "import { y } from '../http/y.ts'"],
    ['http imports an adapter', 'server/src/http/x.ts', "import { y } from '../store/sqlite/y.ts'"],
    ['http opens a store', 'server/src/http/x.ts', "import { openStore } from '../store/open-store.ts'"],
    ['http takes all ports', 'server/src/http/x.ts', "import type { Store } from '../store/store.ts'"],
    [
      'http imports the telemetry',
      'server/src/http/x.ts',
      "import { Metrics } from '../telemetry/metrics.ts'",
    ],
    ['http imports the service', 'server/src/http/x.ts', "import { SETTINGS } from '../service/config.ts'"],
    [
      'http imports the built pages',
      'server/src/http/x.ts',
      "import { FILES } from '../../../web/dist/pages.ts'",
    ],
    ['http reaches into the wire', 'server/src/http/x.ts', "import { y } from '../../../wire/src/y.ts'"],
    ['the telemetry imports http', 'server/src/telemetry/x.ts', "import type { App } from '../http/app.ts'"],
    [
      'the telemetry takes all ports',
      'server/src/telemetry/x.ts',
      "import type { Store } from '../store/store.ts'",
    ],
    ['the telemetry imports a package', 'server/src/telemetry/x.ts', "import pino from 'pino'"],
    ['compose imports a command', 'server/src/service/compose.ts', "import { y } from '../cli/y.ts'"],
    ['compose knows an adapter', 'server/src/service/compose.ts', "import { y } from '../store/sqlite/y.ts'"],
    [
      'a file other than compose imports the pages',
      'server/src/service/demo.ts',
      "const { FILES } = await import('../../../web/dist/pages.ts')",
    ],
    [
      'a command bypasses open-store',
      'server/src/cli/commands/x.ts',
      "import { y } from '../../store/sqlite/store.ts'",
    ],
    ['a command imports http', 'server/src/cli/commands/x.ts', "import { y } from '../../http/app.ts'"],
    ['the client imports a package', 'client/src/x.ts', "import { y } from 'undici'"],
    [
      'the staff page bypasses the client',
      'web/src/staff-page/x.ts',
      "import type { Pet } from '../../../server/src/core/catalog/pet.ts'",
    ],
    [
      'the staff page reaches into the client',
      'web/src/staff-page/x.ts',
      "import { y } from '../../../client/src/y.ts'",
    ],
    ['a page imports another package', 'web/src/docs-page/x.tsx', "import { marked } from 'marked'"],
    [
      'an import spans several lines',
      'server/src/core/x.ts',
      "import {\n  y,\n  z,\n} from '../http/app.ts'",
    ],
    ['a dynamic import is used', 'server/src/core/x.ts', "const y = await import('../http/app.ts')"],
    ['an inline type import is used', 'server/src/core/x.ts', "let y: import('../http/app.ts').App"],
    ['a file has no layer', 'server/src/other/x.ts', ''],
  ])('%s', (_, path, source) => {
    expect(found(path, source)).toHaveLength(1)
  })

  test.each([
    ['server/src/core/values/x.ts', "import { y } from './y.ts'"],
    ['server/src/core/stock/x.ts', "import { y } from '../values/y.ts'\nexport const a = 'http'"],
    ['server/src/store/sqlite/x.ts', "import type { Store } from '../store.ts'\nimport 'bun:sqlite'"],
    ['server/src/store/open-store.ts', "import { y } from './sqlite/store.ts'\nimport './postgres/store.ts'"],
    ['server/src/http/x.ts', "import { y } from '../core/keys/y.ts'\nimport Type from 'typebox'"],
    ['server/src/telemetry/x.ts', "import type { FinishedRequest } from '../http/request-context.ts'"],
    ['server/src/service/compose.ts', "const { FILES } = await import('../../../web/dist/pages.ts')"],
    ['server/src/service/demo.ts', "import type { Store } from '../store/store.ts'"],
    ['server/src/cli/commands/x.ts', "import { openStore } from '../../store/open-store.ts'"],
    ['wire/test/x.test.ts', "import { listen } from '../src/index.ts'\nimport { test } from 'bun:test'"],
    [
      'web/src/docs-page/x.tsx',
      "import { useState } from 'preact/compat'\nimport { PetstoreClient } from '@petstore/client'\nimport '../design/base.css'",
    ],
  ])('and accepts what %s may import', (path, source) => {
    expect(found(path, source)).toEqual([])
  })

  test('and says what to do', () => {
    expect(found('server/src/http/x.ts', "import { openStore } from '../store/open-store.ts'")).toEqual([
      'server/src/http/x.ts may not import server/src/store/open-store.ts: http gets ports of core as arguments; ' +
        'service/compose.ts passes them in',
    ])
    expect(found('server/src/http/x.ts', "import type { Store } from '../store/store.ts'")).toEqual([
      'server/src/http/x.ts may not import server/src/store/store.ts: import the port that you need, ' +
        'core/<subject>/<subject>-store.ts',
    ])
  })
})

describe('an import cycle', () => {
  const filesOf = (sources: Record<string, string>) =>
    new Map(Object.entries(sources).map(([path, source]) => [path, importsOf(path, source)]))
  const three = filesOf({
    'core/b.ts': "import type { C } from './c.ts'\nimport './outside.ts'",
    'core/c.ts': "export { a } from './a.ts'",
    'core/a.ts': "import { b } from './b.ts'",
  })

  test('of three files is found, types included, and printed from file to file', () => {
    expect(findCycles(three)).toEqual(['core/a.ts → core/b.ts → core/c.ts → core/a.ts'])
    expect(cycleViolations(three, {})).toEqual([
      'core/a.ts → core/b.ts → core/c.ts → core/a.ts is a cycle: ' +
        'move the shared code into a file that imports neither end',
    ])
  })

  test('is found behind other files, and so are two of them', () => {
    const several = filesOf({
      'a.ts': "import './m.ts'",
      'm.ts': "import './n.ts'\nimport './x.ts'",
      'n.ts': "import './m.ts'",
      'x.ts': "import './x.ts'",
    })
    expect(findCycles(several)).toEqual(['m.ts → n.ts → m.ts', 'x.ts → x.ts'])
  })

  test('is not reported if two paths lead to the same file', () => {
    const diamond = filesOf({
      'a.ts': "import './b.ts'\nimport './c.ts'",
      'b.ts': "import './d.ts'",
      'c.ts': "import './d.ts'",
      'd.ts': '',
    })
    expect(findCycles(diamond)).toEqual([])
  })

  test('is allowed if listed, and must be removed from the list when it is gone', () => {
    const known = { 'core/a.ts → core/b.ts → core/c.ts → core/a.ts': 'a reason' }
    expect(cycleViolations(three, known)).toEqual([])
    expect(cycleViolations(new Map(), known)).toEqual([
      'core/a.ts → core/b.ts → core/c.ts → core/a.ts is no longer a cycle: remove it from KNOWN_CYCLES',
    ])
  })
})

describe('the rule covers', () => {
  test('every source file of the server, the wire, the client and the pages', async () => {
    const read = await readImports()
    expect(read.has('server/src/service/compose.ts')).toBe(true)
    expect([...read.keys()].filter((path) => path.startsWith('web/src/')).length).toBeGreaterThan(50)
    for (const folder of ['wire/src/', 'wire/test/', 'client/src/']) {
      expect([...read.keys()].some((path) => path.startsWith(folder))).toBe(true)
    }
  })

  test('and fails if it finds no files', async () => {
    await expect(readImports(['server/gone'])).rejects.toThrow('server/gone has no source file')
  })
})

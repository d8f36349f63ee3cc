import { describe, expect, test } from 'bun:test'
import { violations } from '../scripts/dependency-rule.ts'

describe('the dependency rule fails when', () => {
  test.each([
    ['the core imports an adapter', 'core/x.ts', "import { y } from '../store/sqlite/store.ts'"],
    ['the core imports a type of http', 'core/x.ts', "import type { App } from '../http/app.ts'"],
    ['the core imports a package', 'core/x.ts', "import Type from 'typebox'"],
    ['the core reads files', 'core/x.ts', "import { readFileSync } from 'node:fs'"],
    ['http imports the store', 'http/operations/x.ts', "import { y } from '../../store/sqlite/store.ts'"],
    ['the store imports http', 'store/sqlite/x.ts', "export { y } from '../../http/app.ts'"],
    ['http imports the telemetry', 'http/x.ts', "import { Metrics } from '../telemetry/metrics.ts'"],
    ['the wire imports http', 'wire/x.ts', "import type { Reply } from '../http/reply.ts'"],
    ['the telemetry imports http', 'telemetry/x.ts', "import type { App } from '../http/app.ts'"],
    ['the telemetry imports a package', 'telemetry/x.ts', "import pino from 'pino'"],
    [
      'the command line goes past compose',
      'cli/commands/x.ts',
      "import { y } from '../../store/sqlite/store.ts'",
    ],
    ['http imports the built pages', 'http/x.ts', "import { FILES } from '../../../web/dist/pages.ts'"],
    [
      'the staff page goes past the client',
      'web/src/stock-page/x.ts',
      "import type { Pet } from '../../../server/src/core/pet.ts'",
    ],
    [
      'the staff page reaches into the client',
      'web/src/stock-page/x.ts',
      "import { y } from '../../../client/src/y.ts'",
    ],
    ['a page imports another package', 'web/src/docs-page/x.tsx', "import { marked } from 'marked'"],
    ['an import over several lines', 'core/x.ts', "import {\n  y,\n  z,\n} from '../http/app.ts'"],
    ['an import at run time', 'core/x.ts', "const y = await import('../http/app.ts')"],
    ['a file belongs to no part', 'other/x.ts', ''],
  ])('%s', (_, path, source) => {
    expect(violations(path, source)).toHaveLength(1)
  })

  test('and is content with what is allowed', () => {
    expect(violations('core/x.ts', "import { y } from './y.ts'\nexport const a = 'http'")).toEqual([])
    expect(violations('http/x.ts', "import { y } from '../core/y.ts'\nimport Type from 'typebox'")).toEqual(
      [],
    )
    expect(violations('compose.ts', "const { FILES } = await import('../../web/dist/pages.ts')")).toEqual([])
    expect(
      violations(
        'web/src/docs-page/x.tsx',
        "import { useState } from 'react'\nimport { PetstoreClient } from '@petstore/client'\nimport '../design/base.css'",
      ),
    ).toEqual([])
  })
})

/** Fails if a file imports a file that its layer must not import, or if imports form a cycle. `npm run check` runs this script. */
import { Glob } from 'bun'

const ROOT = new URL('../../', import.meta.url).pathname
const FOLDERS = ['server/src', 'wire/src', 'wire/test', 'client/src', 'web/src']

/**
 * Patterns of paths from the root of the repository. A pattern that ends in `/` or `:` matches everything that starts with
 * it. A pattern that ends in `/*` matches the files of that folder, but not those of its subfolders.
 */
interface Layer {
  readonly files: string
  /** The imports that are allowed, in addition to files of the same layer. */
  readonly mayImport: readonly string[]
  /** Advice for a file that imports anything else. */
  readonly advice: string
}

const CORE = 'server/src/core/'
const STORE = 'server/src/store/'
const SERVICE_MAY_IMPORT = [
  'server/src/service/',
  CORE,
  `${STORE}*`,
  'server/src/http/',
  'server/src/telemetry/',
  'server/src/delivery/',
  '@petstore/wire',
]

const STAFF = 'web/src/staff-page/'
const FILE_FORMATS = ['csv.ts', 'rows.ts'].map((name) => `${CORE}transfer/${name}`)
const PAGE_LIBRARIES = ['web/src/design/', 'web/src/shared/', '@petstore/client', 'preact', 'preact/compat']
/** What several views use and is more than a component of ui/. */
const SHARED_PARTS = ['scanner/', 'quantity/', 'pet-form/', 'order-rows/'].map((part) => STAFF + part)
const VIEWS_MAY_IMPORT = [`${STAFF}data/`, `${STAFF}ui/`, `${STAFF}session/`, ...SHARED_PARTS]
const VIEWS = [
  'stock',
  'sell',
  'receive',
  'count',
  'orders',
  'low-stock',
  'activity',
  'pet',
  'pets',
  'people',
  'webhooks',
  'overview',
]

/** From the bottom up. The first layer that matches a file applies to it. */
const LAYERS: readonly Layer[] = [
  {
    files: 'wire/src/',
    mayImport: ['bun', 'node:'],
    advice: 'wire is HTTP/1.1 on a socket and imports no higher layer; pass the value in as an argument',
  },
  {
    files: 'wire/test/',
    mayImport: ['wire/', 'bun', 'bun:test', 'fast-check', 'node:'],
    advice: 'wire is tested on its own; move the helper into wire/test, or this test into server/test',
  },
  {
    files: `${CORE}values/`,
    // Hashing and schemas are computation, not I/O. The version is in package.json.
    mayImport: ['node:crypto', 'typebox', 'package.json'],
    advice: 'values are below every subject; move this file into the subject that it needs',
  },
  {
    files: CORE,
    mayImport: ['node:crypto', 'typebox'],
    advice:
      'core has no I/O, no HTTP and no SQL; add a method to the port of the subject, and implement it in store/',
  },
  {
    files: `${STORE}open-store.ts`,
    mayImport: [CORE, STORE],
    advice: 'open-store.ts opens a store and imports no higher layer',
  },
  {
    files: `${STORE}sqlite/`,
    mayImport: [CORE, `${STORE}*`, 'bun:sqlite', 'node:fs', 'node:path', 'node:worker_threads'],
    advice: 'an adapter knows core and the shared files in store/; move code that both adapters need there',
  },
  {
    files: `${STORE}postgres/`,
    mayImport: [CORE, `${STORE}*`, 'bun', 'node:net', 'node:path', 'node:worker_threads'],
    advice: 'an adapter knows core and the shared files in store/; move code that both adapters need there',
  },
  {
    files: `${STORE}*`,
    mayImport: [CORE, 'node:worker_threads'],
    advice: 'code that both adapters share knows only core; only open-store.ts knows the adapters',
  },
  {
    files: 'server/src/http/',
    mayImport: [CORE, '@petstore/wire', 'typebox', 'typebox/compile', 'node:crypto', 'node:zlib'],
    advice: 'http gets ports of core as arguments; service/compose.ts passes them in',
  },
  {
    files: 'server/src/delivery/',
    mayImport: [
      CORE,
      'server/src/http/events.ts',
      'server/src/http/reply.ts',
      'node:crypto',
      'node:dns/promises',
      'node:net',
    ],
    advice: 'delivery sends messages; core/webhooks decides which messages are sent, and when',
  },
  {
    files: 'server/src/telemetry/',
    mayImport: [CORE, 'server/src/http/request-context.ts', '@petstore/wire', 'node:fs'],
    advice: 'telemetry observes finished requests (http/request-context.ts); service/compose.ts connects it',
  },
  {
    files: 'server/src/service/compose.ts',
    mayImport: [...SERVICE_MAY_IMPORT, 'web/dist/pages.ts'],
    advice: 'compose.ts only connects core, store, http, telemetry and the built pages',
  },
  {
    files: 'server/src/service/',
    mayImport: [...SERVICE_MAY_IMPORT, 'node:path'],
    advice:
      'connect the parts in service/compose.ts; only that file imports the pages, and no file imports an adapter',
  },
  {
    files: 'server/src/cli/',
    mayImport: [
      CORE,
      'server/src/service/',
      'commander',
      'node:',
      ...['open-store.ts', 'opening.ts', 'store.ts'].map((name) => STORE + name),
      // Checks the address of a new webhook, and has the option of requests without a proxy.
      'server/src/delivery/http-sender.ts',
      // The supervisor logs like the service.
      'server/src/telemetry/logger.ts',
    ],
    advice: 'a command opens a store with store/open-store.ts and runs the service with service/',
  },
  {
    files: 'client/src/',
    mayImport: [],
    advice: 'the client uses web standards only and has no dependencies',
  },
  {
    // The page writes files by the same rules as `petstore export`.
    files: `${STAFF}data/catalog-export.ts`,
    mayImport: [...PAGE_LIBRARIES, `${STAFF}data/`, ...FILE_FORMATS],
    advice: 'the export uses only the file formats of core; everything else goes through @petstore/client',
  },
  {
    files: `${STAFF}data/`,
    mayImport: PAGE_LIBRARIES,
    advice: 'data/ is what the page knows and sends, without a view; move the component into ui/ or a view',
  },
  {
    files: `${STAFF}ui/`,
    mayImport: [...PAGE_LIBRARIES, `${STAFF}data/`],
    advice: 'ui/ holds components that any view may use; pass the session or the view in as an argument',
  },
  {
    files: `${STAFF}session/`,
    mayImport: [...PAGE_LIBRARIES, `${STAFF}data/`, `${STAFF}ui/`],
    advice: 'session/ is below every view; let shell/ or the view use the session instead',
  },
  {
    // The page reads files by the same rules as `petstore import`.
    files: `${STAFF}import/`,
    mayImport: [...PAGE_LIBRARIES, ...VIEWS_MAY_IMPORT, ...FILE_FORMATS],
    advice:
      'the import view uses only the file readers of core; everything else goes through @petstore/client',
  },
  {
    files: `${STAFF}shell/`,
    mayImport: [...PAGE_LIBRARIES, STAFF],
    advice: 'the shell uses the service through @petstore/client and its views',
  },
  {
    files: `${STAFF}*`,
    mayImport: [...PAGE_LIBRARIES, STAFF],
    advice: 'the staff page uses the service through @petstore/client',
  },
  ...SHARED_PARTS.map((part) => ({
    files: part,
    mayImport: [...PAGE_LIBRARIES, ...VIEWS_MAY_IMPORT],
    advice: 'a part that several views share knows no view; pass the value in as an argument',
  })),
  {
    // Loaded only with the first code, because no other view draws one.
    files: `${STAFF}people/qr-code.tsx`,
    mayImport: [...PAGE_LIBRARIES, 'uqr'],
    advice: 'this file only draws a QR code',
  },
  ...VIEWS.map((view) => ({
    files: `${STAFF}${view}/`,
    mayImport: [...PAGE_LIBRARIES, ...VIEWS_MAY_IMPORT],
    advice: 'a view does not import another view; move what both need into data/, ui/ or a shared folder',
  })),
  {
    files: 'web/src/docs-page/',
    mayImport: PAGE_LIBRARIES,
    advice: 'the docs page uses the service like any client, through @petstore/client',
  },
  {
    files: 'web/src/',
    mayImport: PAGE_LIBRARIES,
    advice: 'shared/ and design/ are below both pages and know neither',
  },
]

/** The type with all ports, and the folders that may import it. */
const ALL_PORTS = `${STORE}store.ts`
const MAY_IMPORT_ALL_PORTS = [STORE, 'server/src/service/', 'server/src/cli/']

/** Cycles that are tolerated: the text of each cycle, and the reason. */
export const KNOWN_CYCLES: Readonly<Record<string, string>> = {}

const IMPORT = /^\s*(?:import|export)\b[\w\s{},*]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

/** The imports of a file, types included: the paths of files and the names of packages. */
export function importsOf(path: string, source: string): string[] {
  return [...source.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((specifier) => (specifier.startsWith('.') ? resolveSpecifier(path, specifier) : specifier))
}

/** The forbidden imports of one file. */
export function violations(path: string, imports: readonly string[]): string[] {
  const layer = LAYERS.find(({ files }) => matches(files, path))
  if (layer === undefined)
    return [`${path} is in no layer: add its folder to server/scripts/dependency-rule.ts`]
  const allowed = [layer.files, ...layer.mayImport]
  return imports.flatMap((target) => {
    if (target === ALL_PORTS && !MAY_IMPORT_ALL_PORTS.some((pattern) => matches(pattern, path))) {
      return `${path} may not import ${target}: import the port that you need, core/<subject>/<subject>-store.ts`
    }
    if (allowed.some((pattern) => matches(pattern, target))) return []
    return `${path} may not import ${target}: ${layer.advice}`
  })
}

/** Finds the cycles of imports. The text of each starts with its first file in alphabetical order. */
export function findCycles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>()
  /** The files on the way from the first file to the current file. */
  const trail: string[] = []
  const done = new Set<string>()
  const visit = (path: string): void => {
    const start = trail.indexOf(path)
    if (start !== -1) {
      found.add(cycleText(trail.slice(start)))
      return
    }
    if (done.has(path)) return
    trail.push(path)
    for (const target of imports.get(path) ?? []) if (imports.has(target)) visit(target)
    trail.pop()
    done.add(path)
  }
  for (const path of [...imports.keys()].toSorted()) visit(path)
  return [...found].toSorted()
}

/** Reports cycles that are not known, and known cycles that no longer exist. */
export function cycleViolations(
  imports: ReadonlyMap<string, readonly string[]>,
  known: Readonly<Record<string, string>>,
): string[] {
  const found = findCycles(imports)
  return [
    ...found
      .filter((cycle) => known[cycle] === undefined)
      .map((cycle) => `${cycle} is a cycle: move the shared code into a file that imports neither end`),
    ...Object.keys(known)
      .filter((cycle) => !found.includes(cycle))
      .map((cycle) => `${cycle} is no longer a cycle: remove it from KNOWN_CYCLES`),
  ]
}

function cycleText(cycle: readonly string[]): string {
  const first = cycle.indexOf(cycle.toSorted()[0] ?? '')
  const rotated = [...cycle.slice(first), ...cycle.slice(0, first)]
  return [...rotated, rotated[0]].join(' → ')
}

function matches(pattern: string, path: string): boolean {
  if (pattern.endsWith('/*')) {
    const folder = pattern.slice(0, -1)
    return path.startsWith(folder) && !path.slice(folder.length).includes('/')
  }
  return /[/:]$/.test(pattern) ? path.startsWith(pattern) : path === pattern
}

function resolveSpecifier(path: string, specifier: string): string {
  return new URL(specifier, `file:///${path}`).pathname.slice(1)
}

/** The imports of every file that the rule covers. */
export async function readImports(folders: readonly string[] = FOLDERS): Promise<Map<string, string[]>> {
  const imports = new Map<string, string[]>()
  for (const folder of folders) {
    const before = imports.size
    // One pattern per folder: Bun's Glob finds nothing if an alternative in braces contains a slash.
    for await (const path of new Glob(`${folder}/**/*.{ts,tsx}`).scan(ROOT)) {
      imports.set(path, importsOf(path, await Bun.file(ROOT + path).text()))
    }
    if (imports.size === before) {
      throw new Error(`${folder} has no source files: fix FOLDERS in server/scripts/dependency-rule.ts`)
    }
  }
  return imports
}

if (import.meta.main) {
  const imports = await readImports()
  const found = [
    ...[...imports].flatMap(([path, targets]) => violations(path, targets)).toSorted(),
    ...cycleViolations(imports, KNOWN_CYCLES),
  ]
  for (const violation of found) console.error(violation)
  if (found.length > 0) process.exit(1)
  console.log(`the imports of ${imports.size} files follow the dependency rule and contain no cycle`)
}

/** Fails if a file imports a file that its layer may not know, or if imports are circular. `npm run check` runs it. */
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
  readonly may: readonly string[]
  /** Advice for a file that imports anything else. */
  readonly instead: string
}

const CORE = 'server/src/core/'
const STORE = 'server/src/store/'
const SERVICE_MAY = [
  'server/src/service/',
  CORE,
  `${STORE}*`,
  'server/src/http/',
  'server/src/telemetry/',
  'server/src/delivery/',
  '@petstore/wire',
]

/** From the bottom up. The first layer that matches a file applies to it. */
const LAYERS: readonly Layer[] = [
  {
    files: 'wire/src/',
    may: ['bun', 'node:'],
    instead: 'wire is HTTP/1.1 on a socket and knows nothing above it; pass in what it needs',
  },
  {
    files: 'wire/test/',
    may: ['wire/', 'bun', 'bun:test', 'fast-check', 'node:'],
    instead: 'wire is tested on its own; move the helper into wire/test, or this test into server/test',
  },
  {
    files: `${CORE}values/`,
    // Hashing and schemas are computation, not I/O.
    may: ['node:crypto', 'typebox'],
    instead: 'values are below every subject; move this file into the subject that it needs',
  },
  {
    files: CORE,
    may: ['node:crypto', 'typebox'],
    instead:
      'core has no I/O, no HTTP and no SQL; add a method to the port of the subject, and implement it in store/',
  },
  {
    files: `${STORE}open-store.ts`,
    may: [CORE, STORE],
    instead: 'open-store.ts opens a store and knows nothing above it',
  },
  {
    files: `${STORE}sqlite/`,
    may: [CORE, `${STORE}*`, 'bun:sqlite', 'node:fs', 'node:path', 'node:worker_threads'],
    instead: 'an adapter knows core and the shared files in store/; move code that both adapters need there',
  },
  {
    files: `${STORE}postgres/`,
    may: [CORE, `${STORE}*`, 'bun', 'node:net', 'node:path', 'node:worker_threads'],
    instead: 'an adapter knows core and the shared files in store/; move code that both adapters need there',
  },
  {
    files: `${STORE}*`,
    may: [CORE, 'node:worker_threads'],
    instead: 'code that both adapters share knows only core; only open-store.ts knows the adapters',
  },
  {
    files: 'server/src/http/',
    may: [CORE, '@petstore/wire', 'typebox', 'typebox/compile', 'node:crypto', 'node:zlib'],
    instead: 'http gets ports of core as arguments; service/compose.ts passes them in',
  },
  {
    files: 'server/src/delivery/',
    may: [
      CORE,
      'server/src/http/events.ts',
      'server/src/http/reply.ts',
      'node:crypto',
      'node:dns/promises',
      'node:net',
    ],
    instead: 'delivery sends messages; core/webhooks decides which messages are sent, and when',
  },
  {
    files: 'server/src/telemetry/',
    may: [CORE, 'server/src/http/request-context.ts', '@petstore/wire', 'node:fs'],
    instead: 'telemetry observes finished requests (http/request-context.ts); service/compose.ts connects it',
  },
  {
    files: 'server/src/service/compose.ts',
    may: [...SERVICE_MAY, 'web/dist/pages.ts'],
    instead: 'compose.ts only connects core, store, http, telemetry and the built pages',
  },
  {
    files: 'server/src/service/',
    may: [...SERVICE_MAY, 'node:path'],
    instead: 'connect it in service/compose.ts; only that file knows the pages, and no file names an adapter',
  },
  {
    files: 'server/src/cli/',
    may: [
      CORE,
      'server/src/service/',
      'commander',
      'node:',
      ...['open-store.ts', 'opening.ts', 'store.ts'].map((name) => STORE + name),
      // Checks the address of a new webhook.
      'server/src/delivery/http-sender.ts',
      // The supervisor logs like the service.
      'server/src/telemetry/logger.ts',
    ],
    instead: 'a command opens a store with store/open-store.ts and runs the service with service/',
  },
  {
    files: 'client/src/',
    may: [],
    instead: 'the client uses web standards only and has no dependencies',
  },
  {
    // The page reads files by the same rules as `petstore import`.
    files: 'web/src/stock-page/import/',
    may: [
      'web/src/',
      '@petstore/client',
      'react',
      ...['csv.ts', 'rows.ts'].map((name) => `${CORE}transfer/${name}`),
    ],
    instead: 'of the core it uses only the file readers; everything else goes through @petstore/client',
  },
  {
    files: 'web/src/',
    may: ['@petstore/client', 'react', 'react-dom', 'react-dom/client'],
    instead: 'the pages use the service like any client, through @petstore/client',
  },
]

/** The type with all ports, and the folders that may import it. */
const ALL_PORTS = `${STORE}store.ts`
const MAY_IMPORT_ALL_PORTS = [STORE, 'server/src/service/', 'server/src/cli/']

/** Tolerated circles, as they are printed, with the reason. */
export const KNOWN_CIRCLES: Readonly<Record<string, string>> = {}

const IMPORT = /^\s*(?:import|export)\b[\w\s{},*]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

/** The imports of a file, types included: the paths of files and the names of packages. */
export function importsOf(path: string, source: string): string[] {
  return [...source.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((specifier) => (specifier.startsWith('.') ? resolved(path, specifier) : specifier))
}

/** The forbidden imports of one file. */
export function violations(path: string, imports: readonly string[]): string[] {
  const layer = LAYERS.find(({ files }) => matches(files, path))
  if (layer === undefined)
    return [`${path} is in no layer: add its folder to server/scripts/dependency-rule.ts`]
  const allowed = [layer.files, ...layer.may]
  return imports.flatMap((target) => {
    if (target === ALL_PORTS && !MAY_IMPORT_ALL_PORTS.some((pattern) => matches(pattern, path))) {
      return `${path} may not import ${target}: import the port that you need, core/<subject>/<subject>-store.ts`
    }
    if (allowed.some((pattern) => matches(pattern, target))) return []
    return `${path} may not import ${target}: ${layer.instead}`
  })
}

/** The circles of imports. Each starts with its first file in alphabetical order. */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>()
  const visited: string[] = []
  const done = new Set<string>()
  const visit = (path: string): void => {
    const start = visited.indexOf(path)
    if (start !== -1) found.add(circleText(visited.slice(start)))
    if (start !== -1 || done.has(path)) return
    visited.push(path)
    for (const target of imports.get(path) ?? []) if (imports.has(target)) visit(target)
    visited.pop()
    done.add(path)
  }
  for (const path of [...imports.keys()].toSorted()) visit(path)
  return [...found].toSorted()
}

/** Circles that are not known, and known circles that no longer exist. */
export function circleViolations(
  imports: ReadonlyMap<string, readonly string[]>,
  known: Readonly<Record<string, string>>,
): string[] {
  const found = circles(imports)
  return [
    ...found
      .filter((circle) => known[circle] === undefined)
      .map((circle) => `${circle} is a circle: move the shared code into a file that imports neither end`),
    ...Object.keys(known)
      .filter((circle) => !found.includes(circle))
      .map((circle) => `${circle} is no longer a circle: remove it from KNOWN_CIRCLES`),
  ]
}

function circleText(circle: readonly string[]): string {
  const first = circle.indexOf(circle.toSorted()[0] ?? '')
  const rotated = [...circle.slice(first), ...circle.slice(0, first)]
  return [...rotated, rotated[0]].join(' → ')
}

function matches(pattern: string, path: string): boolean {
  if (pattern.endsWith('/*')) {
    const folder = pattern.slice(0, -1)
    return path.startsWith(folder) && !path.slice(folder.length).includes('/')
  }
  return /[/:]$/.test(pattern) ? path.startsWith(pattern) : path === pattern
}

function resolved(path: string, specifier: string): string {
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
    ...circleViolations(imports, KNOWN_CIRCLES),
  ]
  for (const violation of found) console.error(violation)
  if (found.length > 0) process.exit(1)
  console.log(`the imports of ${imports.size} files follow the dependency rule and contain no circle`)
}

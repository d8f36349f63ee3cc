/** Fails when a file imports what its floor may not know, or when imports go in a circle. `npm run check` runs it. */
import { Glob } from 'bun'

const ROOT = new URL('../../', import.meta.url).pathname
const FOLDERS = ['server/src', 'wire/src', 'wire/test', 'client/src', 'web/src']

/**
 * Paths begin at the root of the repository. What ends in `/` or `:` means everything that begins so, what ends in `/*`
 * the files of that folder without those of the folders in it, and anything else itself.
 */
interface Floor {
  readonly files: string
  /** What they may import beside each other. */
  readonly may: readonly string[]
  /** What somebody who imports anything else should do. */
  readonly instead: string
}

const CORE = 'server/src/core/'
const STORE = 'server/src/store/'
const SERVICE_MAY = [
  ...['server/src/service/', CORE, `${STORE}*`, 'server/src/http/', 'server/src/telemetry/'],
  'server/src/delivery/',
  '@petstore/wire',
]

/** From the bottom up; the first that fits a file is its own. */
const FLOORS: readonly Floor[] = [
  {
    files: 'wire/src/',
    may: ['bun', 'node:'],
    instead: 'wire is HTTP/1.1 on a socket and knows nothing above it; let the caller pass in what it needs',
  },
  {
    files: 'wire/test/',
    may: ['wire/', 'bun', 'bun:test', 'fast-check', 'node:'],
    instead: 'wire is tested alone; move what it needs into wire/test, or this test into server/test',
  },
  {
    files: `${CORE}values/`,
    // Hashing is computation, not I/O: the one thing the core takes from outside.
    may: ['node:crypto', 'typebox'],
    instead: 'values are below every subject; move this file into the subject that it needs',
  },
  {
    files: CORE,
    may: ['node:crypto', 'typebox'],
    instead:
      'core has no I/O, no HTTP and no SQL; give the port of the subject a verb, and fulfil it in store/',
  },
  {
    files: `${STORE}open-store.ts`,
    may: [CORE, STORE],
    instead: 'it opens a store and knows nothing above it',
  },
  {
    files: `${STORE}sqlite/`,
    may: [CORE, `${STORE}*`, 'bun:sqlite', 'node:fs', 'node:path', 'node:worker_threads'],
    instead: 'an adapter knows core and what stands in store/ for both; move what both need there',
  },
  {
    files: `${STORE}postgres/`,
    may: [CORE, `${STORE}*`, 'bun', 'node:net', 'node:path', 'node:worker_threads'],
    instead: 'an adapter knows core and what stands in store/ for both; move what both need there',
  },
  {
    files: `${STORE}*`,
    may: [CORE, 'node:worker_threads'],
    instead: 'what both adapters share knows core alone; only open-store.ts knows the adapters',
  },
  {
    files: 'server/src/http/',
    may: [CORE, '@petstore/wire', 'typebox', 'typebox/compile', 'node:crypto', 'node:zlib'],
    instead: 'http takes what it needs as an argument, by a port of core; service/compose.ts hands it in',
  },
  {
    files: 'server/src/delivery/',
    may: [
      ...[CORE, 'server/src/http/events.ts', 'server/src/http/reply.ts'],
      ...['node:crypto', 'node:dns/promises', 'node:net'],
    ],
    instead: 'delivery brings messages to addresses; what is told and when is decided in core/webhooks',
  },
  {
    files: 'server/src/telemetry/',
    may: [CORE, 'server/src/http/request-context.ts', '@petstore/wire', 'node:fs'],
    instead: 'telemetry observes finished requests (http/request-context.ts); service/compose.ts connects it',
  },
  {
    files: 'server/src/service/compose.ts',
    may: [...SERVICE_MAY, 'web/dist/pages.ts'],
    instead: 'compose.ts connects core, store, http, telemetry and the built pages, and does nothing itself',
  },
  {
    files: 'server/src/service/',
    may: [...SERVICE_MAY, 'node:path'],
    instead: 'connect it in service/compose.ts, which alone knows that there are pages; no adapter by name',
  },
  {
    files: 'server/src/cli/',
    may: [
      ...[CORE, 'server/src/service/', 'commander', 'node:'],
      ...['open-store.ts', 'opening.ts', 'database-url.ts', 'store.ts'].map((name) => STORE + name),
      // Whether an address will do is asked of the one who would send there.
      'server/src/delivery/http-sender.ts',
      // The supervisor logs as the service does.
      'server/src/telemetry/logger.ts',
    ],
    instead: 'a command opens a store with store/open-store.ts and runs the service with service/',
  },
  {
    files: 'client/src/',
    may: [],
    instead: 'the client is made of web standards alone and has no dependencies',
  },
  {
    // A file is read in the page by the very rules by which `petstore import` reads it.
    files: 'web/src/stock-page/import/',
    may: [
      ...['web/src/', '@petstore/client', 'react'],
      ...['csv.ts', 'rows.ts'].map((name) => `${CORE}transfer/${name}`),
    ],
    instead: 'of the core it takes how a file is read; all else goes through @petstore/client',
  },
  {
    files: 'web/src/',
    may: ['@petstore/client', 'react', 'react-dom', 'react-dom/client'],
    instead: 'the pages use the service as everybody does, through @petstore/client',
  },
]

/** The type that has every port in it, and who may take it. */
const ALL_PORTS = `${STORE}store.ts`
const TAKES_ALL_PORTS = [STORE, 'server/src/service/', 'server/src/cli/']

/** Circles that stand for now, each as it is printed, with the reason. */
export const KNOWN_CIRCLES: Readonly<Record<string, string>> = {}

const IMPORT = /^\s*(?:import|export)\b[\w\s{},*]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

/** What a file imports, types included: files as their paths, packages by their names. */
export function importsOf(path: string, source: string): string[] {
  return [...source.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((specifier) => (specifier.startsWith('.') ? resolved(path, specifier) : specifier))
}

/** What is wrong with the imports of one file. */
export function violations(path: string, imports: readonly string[]): string[] {
  const floor = FLOORS.find(({ files }) => matches(files, path))
  if (floor === undefined)
    return [`${path} is on no floor: name its folder in server/scripts/dependency-rule.ts`]
  const allowed = [floor.files, ...floor.may]
  return imports.flatMap((target) => {
    if (target === ALL_PORTS && !TAKES_ALL_PORTS.some((one) => matches(one, path))) {
      return `${path} may not import ${target}: take the one port you need, core/<subject>/<subject>-store.ts`
    }
    if (allowed.some((one) => matches(one, target))) return []
    return `${path} may not import ${target}: ${floor.instead}`
  })
}

/** Each way on which a file comes back to itself by imports, from its first file in the order of names. */
export function circles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>()
  const way: string[] = []
  const done = new Set<string>()
  const visit = (path: string): void => {
    const start = way.indexOf(path)
    if (start !== -1) found.add(asText(way.slice(start)))
    if (start !== -1 || done.has(path)) return
    way.push(path)
    for (const target of imports.get(path) ?? []) if (imports.has(target)) visit(target)
    way.pop()
    done.add(path)
  }
  for (const path of [...imports.keys()].toSorted()) visit(path)
  return [...found].toSorted()
}

/** What is wrong with all files together. */
export function circleViolations(
  imports: ReadonlyMap<string, readonly string[]>,
  known: Readonly<Record<string, string>>,
): string[] {
  const found = circles(imports)
  return [
    ...found
      .filter((circle) => known[circle] === undefined)
      .map((circle) => `${circle} is a circle: move what both ends need into a file that imports neither`),
    ...Object.keys(known)
      .filter((circle) => !found.includes(circle))
      .map((circle) => `${circle} is no circle any more: take it off KNOWN_CIRCLES`),
  ]
}

function asText(circle: readonly string[]): string {
  const first = circle.indexOf(circle.toSorted()[0] ?? '')
  const turned = [...circle.slice(first), ...circle.slice(0, first)]
  return [...turned, turned[0]].join(' → ')
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

/** Every file under the rule, with what it imports. */
export async function readImports(folders: readonly string[] = FOLDERS): Promise<Map<string, string[]>> {
  const imports = new Map<string, string[]>()
  for (const folder of folders) {
    const before = imports.size
    // One pattern each: Bun's Glob finds nothing where a choice in braces has a slash in it.
    for await (const path of new Glob(`${folder}/**/*.{ts,tsx}`).scan(ROOT)) {
      imports.set(path, importsOf(path, await Bun.file(ROOT + path).text()))
    }
    if (imports.size === before) {
      throw new Error(`${folder} has no source file: mend FOLDERS in server/scripts/dependency-rule.ts`)
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
  console.log(`the imports of ${imports.size} files keep to the dependency rule, and none goes in a circle`)
}

/** Fails when a file imports what its part may not know. `npm run check` runs it. */
import { Glob } from 'bun'

const ROOT = new URL('../../', import.meta.url).pathname
const SOURCES = new Glob('{server/src,web/src}/**/*.{ts,tsx}')
/** In the rules, paths of the server begin here; all others at the root. */
const SERVER = 'server/src/'

/** Each part, and the parts and packages it may import beside itself. First match wins. */
const RULES: readonly { readonly part: string; readonly may: readonly string[] }[] = [
  // Hashing is computation, not I/O: the one thing the core takes from outside.
  { part: 'core/', may: ['node:crypto'] },
  { part: 'store/sqlite/', may: ['core/', 'store/', 'bun:sqlite', 'node:fs', 'node:path'] },
  { part: 'store/postgres/', may: ['core/', 'store/', 'bun'] },
  { part: 'store/', may: ['core/'] },
  {
    part: 'http/',
    may: ['core/', '@petstore/wire', 'node:zlib', 'typebox', 'typebox/compile', 'node:crypto'],
  },
  { part: 'telemetry/', may: ['core/', 'http/', '@petstore/wire', 'node:fs'] },
  {
    part: 'service/',
    may: ['core/', 'store/', 'http/', 'telemetry/', '@petstore/wire', 'web/dist/pages.ts'],
  },
  {
    part: 'cli/',
    may: [
      ...['core/', 'store/', 'service/', 'commander'],
      ...['node:fs', 'node:fs/promises', 'node:os', 'node:path', 'node:stream'],
    ],
  },
  { part: 'web/src/', may: ['@petstore/client', 'react', 'react-dom', 'react-dom/client'] },
]

const IMPORT = /^\s*(?:import|export)\b[\w\s{},*]*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

/** What is wrong with one file, `path` being as in the rules. */
export function violations(path: string, source: string): string[] {
  const rule = RULES.find(({ part }) => path.startsWith(part))
  if (rule === undefined) return [`${path} belongs to no part that dependency-rule.ts knows`]
  const allowed = [rule.part, ...rule.may]
  return [...source.matchAll(IMPORT)]
    .map((match) => match[1] ?? match[2] ?? '')
    .map((specifier) => (specifier.startsWith('.') ? resolved(path, specifier) : specifier))
    .filter((target) => !allowed.some((one) => (one.endsWith('/') ? target.startsWith(one) : target === one)))
    .map((target) => `${path} may not import ${target}`)
}

function resolved(path: string, specifier: string): string {
  return new URL(specifier, `file:///${path}`).pathname.slice(1)
}

if (import.meta.main) {
  const found: string[] = []
  for await (const path of SOURCES.scan(ROOT)) {
    found.push(...violations(path.replace(SERVER, ''), await Bun.file(ROOT + path).text()))
  }
  for (const violation of found) console.error(violation)
  if (found.length > 0) process.exit(1)
  console.log('every import keeps to the dependency rule')
}

import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PET_ROW_KIND } from '../../src/core/transfer/rows.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const DECISIONS = 'docs/decisions'
const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...['client/README.md', 'client-python/README.md', 'mcp/README.md', 'wire/README.md', 'bench/README.md'],
  'examples/README.md',
  ...markdownIn('docs'),
  ...markdownIn(DECISIONS),
]

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function wordsOf(path: string): number {
  return read(path).trim().split(/\s+/).length
}

/** The anchors of a page, as GitHub makes them of its headings. */
function anchorsOf(markdown: string): Set<string> {
  const withoutCode = markdown.replace(/^```.*?^```/gms, '')
  const headings = [...withoutCode.matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1] ?? '')
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** The relative links of a page that lead nowhere. */
function deadLinks(path: string): string[] {
  const markdown = read(path).replace(/^```.*?^```/gms, '')
  return [...markdown.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).has(anchor)
    })
}

test.each(PAGES)('every link of %s leads somewhere', (path) => {
  expect(deadLinks(path)).toEqual([])
})

test('every test that SECURITY.md names exists', () => {
  const named = [...read('SECURITY.md').matchAll(/`([\w/.-]+\.test\.tsx?)`/g)].map(([, path = '']) => path)
  const missing = named.filter(
    (path) => !['', 'server/test'].some((folder) => existsSync(join(ROOT, folder, path))),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(missing).toEqual([])
})

test('the README has at most 1,000 words', () => {
  expect(wordsOf('README.md')).toBeLessThanOrEqual(1_000)
})

test('CONTRIBUTING.md has at most 1,500 words', () => {
  expect(wordsOf('CONTRIBUTING.md')).toBeLessThanOrEqual(1_500)
})

test('the docs beside the README have at most 25,000 words', () => {
  const pages = [
    ...['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
    ...markdownIn('docs'),
    ...markdownIn(DECISIONS),
  ]
  const words = pages.map(wordsOf).reduce((sum, count) => sum + count, 0)
  expect(words).toBeLessThanOrEqual(25_000)
})

test('docs/cli.md has the 14 commands', () => {
  const commands = [...read('docs/cli.md').matchAll(/^### petstore (.+)$/gm)].map(([, name]) => name)
  expect(commands).toEqual([
    ...['serve', 'keys create', 'keys list', 'keys revoke', 'import', 'export', 'history prune'],
    ...['backup', 'restore', 'migrate', 'follow', 'copy', 'check', 'health'],
  ])
})

/** The page says which columns a file may have; `metadata` is for programs. */
const IMPORT_VIEW = 'web/src/staff-page/import/import-view.tsx'

test('docs/data.md names each column of a file of pets, and the import page each one for people', () => {
  const columns = PET_ROW_KIND.columns.map(({ name }) => name)
  const [, row = ''] = /^\| `pets` \| (.*) \|$/m.exec(read('docs/data.md')) ?? []
  expect(new Set([...row.matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''))).toEqual(new Set(columns))
  const [, hint = ''] = /names the columns: (.*?)\. /.exec(read(IMPORT_VIEW)) ?? []
  const forPeople = columns.filter((name) => name !== 'metadata' && name !== 'categoryId')
  expect(new Set(hint.split(/, | and /))).toEqual(new Set(forPeople))
})

test('every page of docs/ can be reached from the README', () => {
  const unreachable = markdownIn('docs').filter((path) => !read('README.md').includes(`](${path}`))
  expect(unreachable).toEqual([])
})

test('the index of the decisions names every record once', () => {
  const index = read(`${DECISIONS}/README.md`)
  const records = markdownIn(DECISIONS).filter((path) => !path.endsWith('README.md'))
  const rows = index.split('\n').filter((line) => line.startsWith('| ['))
  const named = rows.map((row) => /\]\((.+?)\)/.exec(row)?.[1] ?? '')
  expect(named).toHaveLength(records.length)
  expect(new Set(named)).toEqual(new Set(records.map((path) => path.slice(DECISIONS.length + 1))))
})

describe('docs/troubleshooting.md', () => {
  const page = read('docs/troubleshooting.md')

  test('has a row for every alert, and no other', () => {
    const alerts = [...read('deploy/prometheus/petstore.rules.yml').matchAll(/alert: (\w+)/g)]
    const rows = [...page.matchAll(/^\| `(Petstore\w+)`/gm)]
    expect(rows.map((match) => match[1])).toEqual(alerts.map((match) => match[1]))
  })

  test('quotes only messages that the program has', () => {
    const sources = sourcesIn('server/src') + sourcesIn('wire/src') + sourcesIn('web/src/staff-page')
    const sections = page
      .split(/^## /m)
      .filter((section) => /^(The service|`\/readyz|What `pet|What the log)/.test(section))
    const quotes = sections.flatMap((section) =>
      section
        .split('\n')
        .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
        .flatMap((line) =>
          [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
        ),
    )
    // Messages of PostgreSQL and PgBouncer, and what stands for a value.
    const foreign = ['prepared statement "P0" already exists', 'unsupported startup parameter']
    const own = quotes.filter((quote) => !foreign.includes(quote))
    expect(own.length).toBeGreaterThan(25)
    const isKnown = (quote: string) =>
      quote
        .split(/HOST: |…/)
        .map((part) => part.replace(/[;:,]\s*$/, '').trim())
        .every((part) => sources.includes(part))
    expect(own.filter((quote) => !isKnown(quote))).toEqual([])
  })
})

function sourcesIn(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => read(`${folder}/${name}`))
    .join('\n')
}

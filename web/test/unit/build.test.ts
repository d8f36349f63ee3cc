import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { buildPages } from '../support/built-pages.ts'

/** A tree with two small pages around the real build script. */
const root = mkdtempSync(join(tmpdir(), 'petstore-web-build-'))
const dist = join(root, 'web/dist')

beforeAll(async () => {
  const web = join(import.meta.dir, '../..')
  for (const name of [
    'build.ts',
    'guides.ts',
    'src/docs-page/guides/guide.ts',
    'src/docs-page/page-route.ts',
  ])
    cpSync(join(web, name), join(root, 'web', name))
  cpSync(join(web, '../openapi.json'), join(root, 'openapi.json'))
  symlinkSync(join(web, '../node_modules'), join(root, 'node_modules'))
  await writeGuide('See GET /catalog, [the start](#/) and [this](#/guides/feeding/first-heading).')
  await Bun.write(join(root, 'package-lock.json'), '{}')
  await Bun.write(join(root, 'client/src/price.ts'), 'export const price = 5')
  await Bun.write(join(root, 'web/src/design/icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  for (const page of ['staff-page', 'docs-page']) {
    const folder = join(root, 'web/src', page)
    await Bun.write(
      join(folder, 'index.html'),
      `<!doctype html><head><title>${page}</title><script type="module" src="./main.ts"></script></head>`,
    )
    await Bun.write(join(folder, 'page.css'), `body { --page: ${page} }`)
    await Bun.write(
      join(folder, 'main.ts'),
      "import './page.css'\nimport { price } from '../../../client/src/price.ts'\ndocument.title = String(price)\nimport('./later.ts')",
    )
    await Bun.write(join(folder, 'later.ts'), "import './later.css'\nexport const later = 'later'")
    await Bun.write(join(folder, 'later.css'), `body { --later: ${page} }`)
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The docs page of this tree imports this guide. */
async function writeGuide(text: string): Promise<void> {
  const header = '---\ntitle: Feeding\nsummary: How to feed\nkeywords: food\n---\n'
  await Bun.write(
    join(root, 'web/src/docs-page/guides/feeding.md'),
    `${header}\n## First heading\n\n${text}\n\n{{plans}}\n`,
  )
}

async function build() {
  const program = Bun.spawn([process.execPath, 'web/build.ts'], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  return { exitCode: await program.exited, stdout, stderr }
}

const html = (page: string) => readFileSync(join(dist, `${page}.html`), 'utf8')
const linksOf = (page: string) =>
  [...html(page).matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1] ?? '')
const textOf = (name: string) => readFileSync(join(dist, name), 'utf8')

test('each page is built with its script, its style, an icon and a manifest, all of them there', async () => {
  expect(await build()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('web/dist is built') })
  for (const page of ['staff-page', 'docs-page']) {
    const links = linksOf(page)
    const kinds = new Set(links.map((name) => name.replace(/.*\./, '')))
    expect(kinds).toEqual(new Set(['js', 'css', 'svg', 'webmanifest']))
    for (const name of links) expect(textOf(name).length).toBeGreaterThan(0)
    expect(textOf(links.find((name) => name.endsWith('.css')) ?? '')).toContain(page)
  }
  const { FILES } = await import(join(dist, 'pages.ts'))
  const paths = new Set(FILES.map(({ path }: { path: string }) => path))
  for (const path of ['/', '/docs', ...linksOf('staff-page').map((name) => `/${name}`)]) {
    expect([path, paths.has(path)]).toEqual([path, true])
  }
})

test('the styles of what is loaded later come with the page, and are not there a second time', () => {
  const styles = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.css'))
  expect(styles.map((name) => `assets/${name}`).sort()).toEqual(
    ['staff-page', 'docs-page']
      .flatMap((page) => linksOf(page).filter((name) => name.endsWith('.css')))
      .sort(),
  )
  for (const name of styles) expect(textOf(`assets/${name}`)).toContain('--later:')
})

test('without a change nothing is built again', async () => {
  const before = statSync(join(dist, 'pages.ts')).mtimeMs
  expect((await build()).stdout).toBe('')
  expect(statSync(join(dist, 'pages.ts')).mtimeMs).toBe(before)
})

test('an edit, also one of the client, gives new names to what it changes and keeps those of the rest', async () => {
  const before = linksOf('staff-page')
  // As if the build before had been some time ago: what nobody can be reading any more goes.
  for (const name of readdirSync(join(dist, 'assets'))) utimesSync(join(dist, 'assets', name), 0, 0)
  await Bun.write(join(root, 'client/src/price.ts'), 'export const price = 6')
  expect((await build()).stdout).toContain('web/dist is built')
  const after = linksOf('staff-page')
  const changed = before.filter((name) => !after.includes(name))
  expect(changed).toEqual([expect.stringMatching(/\.js$/)])
  expect(textOf(after.find((name) => name.endsWith('.js')) ?? '')).toContain('6')
  expect(readdirSync(dist, { recursive: true })).not.toContain(changed[0] ?? '')
})

test('a guide is compiled into the page, with links to operations', async () => {
  await Bun.write(
    join(root, 'web/src/docs-page/main.ts'),
    "import './page.css'\nimport { guide } from './guides/feeding.md'\ndocument.title = JSON.stringify(guide)\nimport('./later.ts')",
  )
  expect((await build()).exitCode).toBe(0)
  const script = textOf(linksOf('docs-page').find((name) => name.endsWith('.js')) ?? '')
  expect(script).toContain('href="#/operations/listCatalog"')
  expect(script).toContain('First heading')
})

test.each([
  ['See [limits](#/guides/limits).', 'feeding.md links to #/guides/limits'],
  ['See [more](#/guides/feeding/second-heading).', 'feeding.md links to #/guides/feeding/second-heading'],
  ['See [a schema](#/schemas/Unicorn).', 'feeding.md links to #/schemas/Unicorn'],
  ['See GET /unicorns.', 'feeding.md mentions GET /unicorns'],
  ['See <b>this</b>.', 'feeding.md contains HTML'],
  ['{{unicorns}}', 'feeding.md: there is no table {{unicorns}}'],
])('a guide with %p fails the build', async (text, problem) => {
  await writeGuide(text)
  const { exitCode, stderr } = await build()
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)])
})

test('a source that does not compile is named, and the last build stays', async () => {
  const before = html('staff-page')
  await writeGuide('Nothing wrong here.')
  await Bun.write(join(root, 'web/src/docs-page/main.ts'), "import './missing.ts'")
  const { exitCode, stderr } = await build()
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('web/src/docs-page/main.ts:1')])
  expect(html('staff-page')).toBe(before)
})

/** What a browser loads before it shows the first view: what the page links to, and all that this imports. */
function firstFiles(built: string): ReadonlySet<string> {
  const page = readFileSync(join(built, 'staff-page.html'), 'utf8')
  const files = new Set(
    [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name]) => name ?? ''),
  )
  const reader = new Bun.Transpiler({ loader: 'js' })
  for (const name of files) {
    if (!name.endsWith('.js')) continue
    for (const { kind, path } of reader.scanImports(readFileSync(join(built, name), 'utf8'))) {
      if (kind === 'import-statement') files.add(`assets/${basename(path)}`)
    }
  }
  return files
}

test('the first view of the staff page loads at most 110 kB, and the other views are files of their own', async () => {
  await buildPages()
  const built = join(import.meta.dir, '../../dist')
  const first = firstFiles(built)
  const sizes = Array.from(first, (name) => statSync(join(built, `${name}.gz`)).size)
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(110_000)
  const main = [...first].find((name) => name.endsWith('.js')) ?? ''
  const later = readFileSync(join(built, main), 'utf8').match(/import\("\/assets\/[^"]+"\)/g) ?? []
  // Receive, count, orders, the overview, a pet, at the least.
  expect(new Set(later).size).toBeGreaterThanOrEqual(5)
})

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

/** A tree with the API docs and a small staff page around the real build script. */
const root = mkdtempSync(join(tmpdir(), 'petstore-web-build-'))
const dist = join(root, 'web/dist')

beforeAll(async () => {
  const web = join(import.meta.dir, '../..')
  for (const name of ['build.ts', 'docs', 'src/docs-page', 'src/design', 'src/shared'])
    cpSync(join(web, name), join(root, 'web', name), { recursive: true })
  cpSync(join(web, '../openapi.json'), join(root, 'openapi.json'))
  symlinkSync(join(web, '../node_modules'), join(root, 'node_modules'))
  await Bun.write(join(root, 'package-lock.json'), '{}')
  await Bun.write(join(root, 'client/src/price.ts'), 'export const price = 5')
  const folder = join(root, 'web/src/staff-page')
  await Bun.write(
    join(folder, 'index.html'),
    '<!doctype html><head><title>Stock</title><script type="module" src="./main.ts"></script></head>',
  )
  await Bun.write(join(folder, 'page.css'), 'body { --page: staff-page }')
  await Bun.write(join(folder, 'main.ts'), MAIN)
  await Bun.write(join(folder, 'later.ts'), "import './later.css'\nexport const later = 'later'")
  await Bun.write(join(folder, 'later.css'), 'body { --later: staff-page }')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const MAIN = `import './page.css'
import { price } from '../../../client/src/price.ts'
document.title = String(price)
import('./later.ts')`

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
  [...html(page).matchAll(/<(?:script|link)[^>]* (?:src|href)="\/([^"]+)"/g)].map((match) => match[1] ?? '')
const textOf = (name: string) => readFileSync(join(dist, name), 'utf8')

test('each page is built with its script, its style, an icon and a manifest, all of them there', async () => {
  expect(await build()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('web/dist is built') })
  const pages = ['staff-page', 'docs', 'docs/store', 'docs/guides/errors']
  for (const page of pages) {
    const links = linksOf(page)
    expect(new Set(links.map((name) => name.replace(/.*\./, '')))).toEqual(
      new Set(['js', 'css', 'svg', 'webmanifest']),
    )
    for (const name of links) expect(textOf(name).length).toBeGreaterThan(0)
  }
  const { FILES } = await import(join(dist, 'pages.ts'))
  const paths = new Set(FILES.map(({ path }: { path: string }) => path))
  for (const path of ['/', '/docs', '/docs/store', ...pages.flatMap(linksOf).map((name) => `/${name}`)]) {
    expect([path, paths.has(path)]).toEqual([path, true])
  }
})

test('the styles of what is loaded later come with the page, and are not there a second time', () => {
  const styles = readdirSync(join(dist, 'assets')).filter((name) => name.endsWith('.css'))
  expect(styles).toHaveLength(2)
  const style = linksOf('staff-page').find((name) => name.endsWith('.css')) ?? ''
  expect(textOf(style)).toContain('--page:')
  expect(textOf(style)).toContain('--later:')
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

test('a guide with a dead link, and a source that does not compile, are named, and the last build stays', async () => {
  const before = html('docs')
  const guide = join(root, 'web/docs/guides/limits.md')
  const text = readFileSync(guide, 'utf8')
  await Bun.write(guide, `${text}\nSee [this](feeding.md).\n`)
  expect(await build()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('limits.md: the link to feeding.md is dead'),
  })
  await Bun.write(guide, text)
  await Bun.write(join(root, 'web/src/docs-page/try-it.ts'), "import './missing.ts'")
  expect(await build()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('web/src/docs-page/try-it.ts:1'),
  })
  expect(html('docs')).toBe(before)
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

test('the start page of the API docs and all that it loads have at most 150 kB before compression', async () => {
  await buildPages()
  const built = join(import.meta.dir, '../../dist')
  const page = readFileSync(join(built, 'docs.html'), 'utf8')
  const files = [...page.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="\/([^"]+)"/g)].map(
    ([, name]) => name ?? '',
  )
  const sizes = ['docs.html', ...new Set(files)].map((name) => statSync(join(built, name)).size)
  expect(sizes.length).toBeGreaterThan(3)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000)
})

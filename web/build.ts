/** Builds the staff page and the API docs into web/dist, for the service to serve. `npm run build:web` runs it. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { Html } from './docs/html.ts'
import { docsPages } from './docs/pages.ts'

const ROOT = join(import.meta.dir, '..')
const DIST = join(import.meta.dir, 'dist')
/** Written last, so that every file it names exists. The service and the executable import it. */
const MODULE = join(DIST, 'pages.ts')
const DOCS = join(import.meta.dir, 'docs')
/** Everything that the pages depend on. */
const SOURCES = [
  'web/src/**/*',
  'client/src/**/*',
  'server/src/core/catalog/name-words.ts',
  'web/build.ts',
  'web/docs/**/*',
  'openapi.json',
  'package-lock.json',
  'tsconfig.base.json',
]

/** Compressing a smaller file saves less than a packet. */
const LEAST_BYTES_TO_COMPRESS = 1_400
/** A service that is starting may still read the files of the previous build. */
const KEEP_OUTDATED_MS = 60_000

interface BuiltFile {
  /** The path of its URL. */
  readonly path: string
  /** Its path in DIST. */
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

interface Form {
  readonly coding: 'identity' | 'br' | 'gzip'
  readonly name: string
  readonly bytes: Uint8Array
}

interface ServedFile extends BuiltFile {
  readonly forms: readonly Form[]
}

async function digestOfSources(): Promise<string> {
  const paths: string[] = []
  for (const pattern of SOURCES) paths.push(...(await Array.fromAsync(new Bun.Glob(pattern).scan(ROOT))))
  const hash = new Bun.CryptoHasher('sha256')
  for (const path of paths.sort((one, other) => (one < other ? -1 : 1)))
    hash.update(`${path}\0`).update(await Bun.file(join(ROOT, path)).bytes())
  return hash.digest('base64url')
}

const BUNDLE: Omit<Bun.BuildConfig, 'entrypoints'> = {
  target: 'browser',
  conditions: ['bun'],
  define: { 'process.env.NODE_ENV': '"production"' },
  minify: true,
  publicPath: '/',
}

async function staffPageFiles(links: string): Promise<BuiltFile[]> {
  const { outputs } = await Bun.build({
    ...BUNDLE,
    entrypoints: [join(import.meta.dir, 'src/staff-page/index.html')],
    splitting: true,
    naming: {
      entry: 'staff-page.[ext]',
      chunk: 'assets/staff-page-[hash].[ext]',
      asset: 'assets/[name]-[hash].[ext]',
    },
  })
  const files = await Promise.all((await usedOutputs(outputs)).map(builtFile))
  return files.map((file) => {
    if (!file.name.endsWith('.html')) return file
    const page = new TextDecoder().decode(file.bytes).replace('</head>', `${links}</head>`)
    return { ...file, path: '/', bytes: new TextEncoder().encode(page) }
  })
}

/** The script and the style of the API docs, and their pages, which are generated from the contract and Markdown. */
async function docsFiles(links: string, icon: string): Promise<BuiltFile[]> {
  const { outputs } = await Bun.build({
    ...BUNDLE,
    entrypoints: ['page.ts', 'docs.css'].map((name) => join(import.meta.dir, 'src/docs-page', name)),
    format: 'iife',
    naming: { entry: 'assets/docs-[hash].[ext]' },
  })
  const assets = await Promise.all(outputs.map(builtFile))
  const pathOf = (extension: string) => assets.find(({ name }) => name.endsWith(extension))?.path ?? ''
  const document = await Bun.file(join(ROOT, 'openapi.json')).json()
  const sources = { document, guides: await textsIn('*.md'), drawings: await textsIn('*.svg') }
  const pages = docsPages(sources, {
    script: pathOf('.js'),
    style: pathOf('.css'),
    icon,
    links: new Html(links),
  })
  const type = 'text/html;charset=utf-8'
  return [
    ...assets,
    ...pages.map(({ path, html }) => ({
      path,
      name: `${path.slice(1)}.html`,
      type,
      bytes: new TextEncoder().encode(html),
    })),
  ]
}

async function builtFile(output: Bun.BuildArtifact): Promise<BuiltFile> {
  const name = output.path.replace(/^\.\//, '')
  return { path: `/${name}`, name, type: output.type, bytes: new Uint8Array(await output.arrayBuffer()) }
}

/** The files of the guides by name; Markdown without its extension. */
async function textsIn(pattern: string): Promise<ReadonlyMap<string, string>> {
  const names = await Array.fromAsync(new Bun.Glob(pattern).scan(join(DOCS, 'guides')))
  const texts = await Promise.all(names.map((name) => Bun.file(join(DOCS, 'guides', name)).text()))
  return new Map(names.map((name, index) => [basename(name, '.md'), texts[index] ?? '']))
}

/**
 * Leaves out the separate style sheets of views that are loaded later: the style sheet of the page includes their
 * rules, and nothing loads these files.
 */
async function usedOutputs(outputs: readonly Bun.BuildArtifact[]): Promise<readonly Bun.BuildArtifact[]> {
  const isStyle = ({ path }: Bun.BuildArtifact) => path.endsWith('.css')
  const texts = await Promise.all(outputs.filter((output) => !isStyle(output)).map((output) => output.text()))
  const isNamed = ({ path }: Bun.BuildArtifact) => texts.some((text) => text.includes(basename(path)))
  return outputs.filter((output) => !isStyle(output) || isNamed(output))
}

/** The icon and the web manifest, which the bundler does not find. */
async function iconFiles(): Promise<readonly [icon: BuiltFile, manifest: BuiltFile]> {
  const icon = hashed(
    'icon',
    'svg',
    'image/svg+xml',
    await Bun.file(join(import.meta.dir, 'src/design/icon.svg')).bytes(),
  )
  const manifest = {
    name: 'Petstore Inventory',
    short_name: 'Inventory',
    start_url: '/',
    display: 'standalone',
    icons: [{ src: icon.path, type: icon.type, sizes: 'any', purpose: 'any' }],
  }
  const bytes = new TextEncoder().encode(JSON.stringify(manifest))
  return [icon, hashed('manifest', 'webmanifest', 'application/manifest+json', bytes)]
}

function hashed(stem: string, extension: string, type: string, bytes: Uint8Array): BuiltFile {
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 8)
  const name = `assets/${stem}-${hash}.${extension}`
  return { path: `/${name}`, name, type, bytes }
}

/** The file itself, and its compressed forms if compression pays off. */
function formsOf({ name, bytes }: BuiltFile): Form[] {
  const identity: Form = { coding: 'identity', name, bytes }
  if (bytes.length < LEAST_BYTES_TO_COMPRESS) return [identity]
  // The highest quality, 11, saves another 7 % and takes 15 times as long.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return [
    identity,
    { coding: 'br', name: `${name}.br`, bytes: brotliCompressSync(bytes, { params }) },
    { coding: 'gzip', name: `${name}.gz`, bytes: gzipSync(bytes, { level: 9 }) },
  ]
}

/** Atomic: a reader sees the old or the new content. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  await Bun.write(draft, content)
  await rename(draft, path)
}

/** `bun build --compile` embeds imports of the type `file` in the executable. */
function moduleText(digest: string, files: readonly ServedFile[]): string {
  const names = files.flatMap(({ forms }) => forms.map(({ name }) => name))
  const imports = names.map((name, index) => `import f${index} from './${name}' with { type: 'file' }`)
  const entries = files.map(({ path, name, type, forms }) => {
    const variables = forms.map((form) => `${form.coding}: f${names.indexOf(form.name)}`)
    const isHashed = name.startsWith('assets/')
    return `  { path: '${path}', type: '${type}', isHashed: ${isHashed}, forms: { ${variables.join(', ')} } },`
  })
  return `// Generated by web/build.ts from sources with the digest ${digest}.
// @ts-nocheck: it imports files, not modules.
${imports.join('\n')}

export const FILES: readonly {
  readonly path: string
  readonly type: string
  readonly isHashed: boolean
  /** The path of each form, by its coding. */
  readonly forms: { readonly identity: string; readonly br?: string; readonly gzip?: string }
}[] = [
${entries.join('\n')}
]
`
}

/** Another build may be running at the same time, so recent files stay, and files may disappear meanwhile. */
async function removeOutdated(names: readonly string[]): Promise<void> {
  for (const name of await readdir(DIST, { recursive: true })) {
    const path = join(DIST, name)
    const isWanted =
      path === MODULE || names.some((wanted) => wanted === name || wanted.startsWith(`${name}/`))
    if (isWanted) continue
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > KEEP_OUTDATED_MS) await rm(path, { recursive: true, force: true })
  }
}

async function isBuilt(digest: string): Promise<boolean> {
  const module = Bun.file(MODULE)
  return (await module.exists()) && (await module.text()).includes(digest)
}

async function build(digest: string): Promise<void> {
  const icons = await iconFiles()
  const [icon, manifest] = icons
  const links = `<link rel="icon" type="image/svg+xml" href="${icon.path}"><link rel="manifest" href="${manifest.path}">`
  const built = await Promise.all([staffPageFiles(links), docsFiles(links, icon.path)])
  const files = [...icons, ...built.flat()].map((file) => ({ ...file, forms: formsOf(file) }))
  const forms = files.flatMap((file) => file.forms)
  for (const { name, bytes } of forms) await replaceFile(join(DIST, name), bytes)
  await replaceFile(MODULE, moduleText(digest, files))
  await removeOutdated(forms.map(({ name }) => name))
}

const startedAt = performance.now()
const digest = await digestOfSources()
if (!(await isBuilt(digest))) {
  await build(digest)
  console.log(`web/dist is built (${Math.round(performance.now() - startedAt)} ms)`)
}

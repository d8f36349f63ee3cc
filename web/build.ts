/** Bundles the two pages into web/dist, with all that the service needs to serve them. `npm run build:web` runs it. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const ROOT = join(import.meta.dir, '..')
const DIST = join(import.meta.dir, 'dist')
/** Written last: what it names is there. The service and the executable import it. */
const MODULE = join(DIST, 'pages.ts')
const PAGES = { 'staff-page': '/', 'docs-page': '/docs' } as const
type PageName = keyof typeof PAGES
/** Everything that the bundles depend on. */
const SOURCES = [
  ...['web/src/**/*', 'client/src/**/*', 'server/src/core/**/*', 'web/build.ts', 'package-lock.json'],
]

/** Below this, the compressed form saves less than a packet. */
const LEAST_BYTES_TO_COMPRESS = 1_400
/** A service that is just starting may still read the files of the build before. */
const KEEP_OUTDATED_MS = 60_000

interface BuiltFile {
  /** Under which address it is served. */
  readonly path: string
  /** Where it is in DIST. */
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

async function bundle(page: PageName, links: string): Promise<BuiltFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'src', page, 'index.html')],
    target: 'browser',
    conditions: ['bun'],
    define: { 'process.env.NODE_ENV': '"production"' },
    minify: true,
    splitting: true,
    publicPath: '/',
    naming: {
      entry: `${page}.[ext]`,
      chunk: `assets/${page}-[hash].[ext]`,
      asset: 'assets/[name]-[hash].[ext]',
    },
  })
  const used = await usedOutputs(outputs)
  return Promise.all(
    used.map(async (output) => {
      const name = output.path.replace(/^\.\//, '')
      const file = { path: `/${name}`, name, type: output.type }
      if (!name.endsWith('.html')) return { ...file, bytes: new Uint8Array(await output.arrayBuffer()) }
      const html = (await output.text()).replace('</head>', `${links}</head>`)
      return { ...file, path: PAGES[page], bytes: new TextEncoder().encode(html) }
    }),
  )
}

/**
 * All but the styles of views that are loaded later: what the page itself links to has those already, and nothing
 * loads the files that the bundler makes of them beside it.
 */
async function usedOutputs(outputs: readonly Bun.BuildArtifact[]): Promise<readonly Bun.BuildArtifact[]> {
  const isStyle = ({ path }: Bun.BuildArtifact) => path.endsWith('.css')
  const texts = await Promise.all(outputs.filter((output) => !isStyle(output)).map((output) => output.text()))
  const isNamed = ({ path }: Bun.BuildArtifact) => texts.some((text) => text.includes(basename(path)))
  return outputs.filter((output) => !isStyle(output) || isNamed(output))
}

/** The icon and the web manifest that names it, which no bundler follows. */
async function iconFiles(): Promise<BuiltFile[]> {
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

/** The bytes themselves, and where it pays compressed. */
function formsOf({ name, bytes }: BuiltFile): Form[] {
  const identity: Form = { coding: 'identity', name, bytes }
  if (bytes.length < LEAST_BYTES_TO_COMPRESS) return [identity]
  // 11, the highest, takes off another 7 %, for some 15 times the time.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return [
    identity,
    { coding: 'br', name: `${name}.br`, bytes: brotliCompressSync(bytes, { params }) },
    { coding: 'gzip', name: `${name}.gz`, bytes: gzipSync(bytes, { level: 9 }) },
  ]
}

/** Never half written, whoever reads it meanwhile. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  await Bun.write(draft, content)
  await rename(draft, path)
}

/** Imports of the type `file` are what `bun build --compile` takes into the executable. */
function moduleText(digest: string, files: readonly ServedFile[]): string {
  const names = files.flatMap(({ forms }) => forms.map(({ name }) => name))
  const imports = names.map((name, index) => `import f${index} from './${name}' with { type: 'file' }`)
  const entries = files.map(({ path, name, type, forms }) => {
    const variables = forms.map((form) => `${form.coding}: f${names.indexOf(form.name)}`)
    const isHashed = name.startsWith('assets/')
    return `  { path: '${path}', type: '${type}', isHashed: ${isHashed}, forms: { ${variables.join(', ')} } },`
  })
  return `// Made by web/build.ts from sources with the digest ${digest}.
// @ts-nocheck: what it imports are files, not modules.
${imports.join('\n')}

export const FILES: readonly {
  readonly path: string
  readonly type: string
  readonly isHashed: boolean
  /** Where each form of it is, by its coding. */
  readonly forms: { readonly identity: string; readonly br?: string; readonly gzip?: string }
}[] = [
${entries.join('\n')}
]
`
}

/** Somebody else may be building at the same time: what is young stays, and what has gone is no trouble. */
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

/** Builds both pages, unless what is there was made of the same sources. */
async function build(): Promise<'built' | 'unchanged'> {
  const digest = await digestOfSources()
  const module = Bun.file(MODULE)
  if ((await module.exists()) && (await module.text()).includes(digest)) return 'unchanged'
  const icons = await iconFiles()
  const [icon, manifest] = icons.map(({ path }) => path)
  const links = `<link rel="icon" type="image/svg+xml" href="${icon}"><link rel="manifest" href="${manifest}">`
  const bundles = await Promise.all((Object.keys(PAGES) as PageName[]).map((page) => bundle(page, links)))
  const files = [...icons, ...bundles.flat()].map((file) => ({ ...file, forms: formsOf(file) }))
  const forms = files.flatMap((file) => file.forms)
  for (const { name, bytes } of forms) await replaceFile(join(DIST, name), bytes)
  await replaceFile(MODULE, moduleText(digest, files))
  await removeOutdated(forms.map(({ name }) => name))
  return 'built'
}

const began = performance.now()
const outcome = await build()
console.log(`web/dist is ${outcome} (${Math.round(performance.now() - began)} ms)`)

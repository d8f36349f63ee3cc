/** Writes a tarball to dist: the executable of `npm run build`, its units and settings, the documents and `install.sh`. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../src/core/values/version.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const EXECUTABLE_FILES = ['install.sh', 'petstore-admin', 'bin/petstore', 'lib/petstore/petstore']

/** A link to another file of the repository. */
const RELATIVE_LINK = /\]\((?!\w+:)([^)#\s]+)[^)]*\)/g

/** The documents for operators and all files that they link to, directly or indirectly. */
function documentation(): Set<string> {
  const pending = readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  pending.push('CHANGELOG.md', 'SECURITY.md')
  const found = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (found.has(path)) continue
    found.add(path)
    pending.push(...linkedFiles(path))
  }
  return found
}

/** The paths, from the root, of the files that a Markdown file links to. A link to a folder is a link to its README.md. */
export function linkedFiles(path: string, root = ROOT): string[] {
  if (!path.endsWith('.md')) return []
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(RELATIVE_LINK)].map(([, link = '']) => {
    const target = normalize(join(dirname(path), link))
    const isFolder = statSync(join(root, target), { throwIfNoEntry: false })?.isDirectory() === true
    return isFolder ? join(target, 'README.md') : target
  })
}

/** Writes the folder of the tarball. */
export function writePackage(folder: string, executable: string): void {
  const copy = (source: string, target: string) => {
    mkdirSync(dirname(join(folder, target)), { recursive: true })
    cpSync(join(ROOT, source), join(folder, target), { recursive: true })
  }
  for (const name of ['install.sh', 'petstore-admin', 'systemd']) copy(`packaging/${name}`, name)
  copy('packaging/petstore', 'bin/petstore')
  copy('examples', 'examples')
  for (const path of documentation()) copy(path, path)
  mkdirSync(join(folder, 'lib/petstore'), { recursive: true })
  cpSync(executable, join(folder, 'lib/petstore/petstore'))
  setPermissions(folder)
}

/** The umask and the permissions of the checkout must not matter. */
function setPermissions(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isExecutable = entry.isDirectory() || EXECUTABLE_FILES.includes(path.slice(folder.length + 1))
    chmodSync(path, isExecutable ? 0o755 : 0o644)
  }
}

if (import.meta.main) {
  const dist = join(ROOT, 'dist')
  const name = `petstore-${VERSION}-${process.platform}-${process.arch}`
  rmSync(join(dist, name), { recursive: true, force: true })
  writePackage(join(dist, name), join(dist, 'petstore'))
  const tar = ['tar', '--create', '--gzip', '--owner=0', '--group=0', '--file', `${name}.tar.gz`, name]
  const { exitCode, stderr } = Bun.spawnSync(tar, { cwd: dist })
  if (exitCode !== 0) throw new Error(`tar failed: ${stderr}`)
  rmSync(join(dist, name), { recursive: true })
  console.log(`dist/${name}.tar.gz`)
}

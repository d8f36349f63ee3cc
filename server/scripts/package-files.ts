// The files of the tarball and of the Debian package.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../src/cli/program.ts'
import { VERSION } from '../src/core/values/version.ts'
import { completionScript, manPage, SHELLS } from './shell-files.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DEBIAN = join(ROOT, 'packaging/debian')
const SYSTEMD = join(ROOT, 'packaging/systemd')
const UNITS = 'usr/lib/systemd/system'
/** The drop-ins of petstore.service, and of the services whose names start with `petstore-`. */
const DROP_IN_FOLDERS = ['petstore.service.d', 'petstore-.service.d']
const SETTINGS_FILE = 'etc/petstore/petstore.env'
const EXECUTABLE_FILES = ['bin/petstore', 'lib/petstore/petstore']
const ADMIN_FILE = 'usr/sbin/petstore-admin'
const MAINTAINER_SCRIPTS = ['postinst', 'prerm', 'postrm']
const DEBIAN_ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** A link to another file of the repository. */
const RELATIVE_LINK = /\]\((?!\w+:)([^)#\s]+)[^)]*\)/g

/** The documents for operators and all files that they link to, directly or indirectly. */
export function documentation(): string[] {
  const pending = [...readdirSync(join(ROOT, 'docs'))]
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  pending.push('CHANGELOG.md', 'SECURITY.md')
  const found = new Set<string>()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (found.has(path)) continue
    found.add(path)
    pending.push(...linkedFiles(path))
  }
  return [...found].sort()
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

function copyDocumentation(folder: string): void {
  for (const path of documentation()) copy(join(ROOT, path), join(folder, path))
  copy(join(ROOT, 'examples'), join(folder, 'examples'))
}

function copyProgram(prefix: string, executable: string): void {
  copy(join(ROOT, 'packaging/petstore'), join(prefix, 'bin/petstore'))
  copy(executable, join(prefix, 'lib/petstore/petstore'))
}

function copyUnits(folder: string): void {
  const units = readdirSync(SYSTEMD).filter((name) => /\.(service|socket|timer)$/.test(name))
  for (const unit of units) copy(join(SYSTEMD, unit), join(folder, unit))
  for (const dropIns of DROP_IN_FOLDERS) {
    copy(join(SYSTEMD, 'service-user.conf'), join(folder, dropIns, 'service-user.conf'))
  }
}

/** Writes the folder of the tarball, for systems without dpkg. */
export function writeTarballFolder(folder: string, executable: string): void {
  const program = createProgram()
  copyProgram(folder, executable)
  copyUnits(join(folder, 'systemd'))
  copy(join(SYSTEMD, 'petstore.env'), join(folder, 'systemd/petstore.env'))
  write(join(folder, 'petstore.1'), manPage(program))
  for (const shell of SHELLS) {
    write(join(folder, 'completion', `petstore.${shell}`), completionScript(shell, program))
  }
  copyDocumentation(folder)
  setPermissions(folder, EXECUTABLE_FILES)
}

export function debianArchitecture(): string {
  const architecture = DEBIAN_ARCHITECTURES[process.arch]
  if (architecture === undefined) throw new Error(`there is no Debian architecture for ${process.arch}`)
  return architecture
}

/** Writes the folder that dpkg-deb turns into a package. */
export function writeDebianFolder(folder: string, executable: string, version = VERSION): void {
  const program = createProgram()
  const share = join(folder, 'usr/share')
  const documents = join(share, 'doc/petstore')
  copyProgram(join(folder, 'usr'), executable)
  copy(join(DEBIAN, 'petstore-admin'), join(folder, ADMIN_FILE))
  copy(join(SYSTEMD, 'petstore.env'), join(folder, SETTINGS_FILE))
  copyUnits(join(folder, UNITS))
  write(join(share, 'bash-completion/completions/petstore'), completionScript('bash', program))
  write(join(share, 'zsh/vendor-completions/_petstore'), completionScript('zsh', program))
  write(join(share, 'fish/vendor_completions.d/petstore.fish'), completionScript('fish', program))
  writeCompressed(join(share, 'man/man1/petstore.1.gz'), manPage(program))
  writeCompressed(
    join(share, 'man/man8/petstore-admin.8.gz'),
    readFileSync(join(DEBIAN, 'petstore-admin.8'), 'utf8'),
  )
  copyDocumentation(documents)
  copy(join(DEBIAN, 'copyright'), join(documents, 'copyright'))
  writeCompressed(join(documents, 'changelog.gz'), changelog(version))
  copy(join(DEBIAN, 'lintian-overrides'), join(share, 'lintian/overrides/petstore'))
  setPermissions(folder, [...EXECUTABLE_FILES.map((path) => `usr/${path}`), ADMIN_FILE])
  chmodSync(join(folder, SETTINGS_FILE), 0o640)
  writeControlFiles(folder, version)
}

function writeControlFiles(folder: string, version: string): void {
  const files = listFiles(folder)
  const bytes = files.reduce((sum, path) => sum + statSync(join(folder, path)).size, 0)
  const control = join(folder, 'DEBIAN')
  const sums = files
    .filter((path) => path !== SETTINGS_FILE)
    .map(
      (path) =>
        `${new Bun.CryptoHasher('md5').update(readFileSync(join(folder, path))).digest('hex')}  ${path}\n`,
    )
  for (const name of ['control', 'conffiles', ...MAINTAINER_SCRIPTS])
    copy(join(DEBIAN, name), join(control, name))
  const text = readFileSync(join(control, 'control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', debianArchitecture())
    .replace('@SIZE@', String(Math.ceil(bytes / 1024)))
  write(join(control, 'control'), text)
  write(join(control, 'md5sums'), sums.join(''))
  setPermissions(control, MAINTAINER_SCRIPTS)
}

/** In the format that dpkg reads; the changes themselves are in CHANGELOG.md. */
function changelog(version: string): string {
  const maintainer = /^Maintainer: (.*)$/m.exec(readFileSync(join(DEBIAN, 'control'), 'utf8'))?.[1]
  const date = new Date().toUTCString().replace('GMT', '+0000')
  return `petstore (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`
}

function copy(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  cpSync(source, target, { recursive: true })
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

function writeCompressed(path: string, text: string): void {
  write(path, Bun.gzipSync(Buffer.from(text), { level: 9 }))
}

/** The paths of all files, from the folder. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
}

/** The umask and the permissions of the checkout must not matter. */
function setPermissions(folder: string, executables: readonly string[]): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isExecutable = entry.isDirectory() || executables.includes(path.slice(folder.length + 1))
    chmodSync(path, isExecutable ? 0o755 : 0o644)
  }
}

/** Builds the package and returns its file name in `output`. */
export function buildDebianPackage(folder: string, output: string, version = VERSION): string {
  const name = `petstore_${version}_${debianArchitecture()}.deb`
  // gzip, because xz takes minutes for the executable on a slow machine, and lintian of Debian 12 does not read zstd.
  run(['dpkg-deb', '--root-owner-group', '-Zgzip', '--build', folder, join(output, name)])
  return name
}

export function run(command: readonly string[], cwd?: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], cwd === undefined ? {} : { cwd })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}${stdout}`)
  return stdout.toString()
}

/** Writes dist/petstore-VERSION-SYSTEM.tar.gz: the executable of `npm run build` with its manual, completions and docs. */
import { chmodSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SHELLS } from '../src/cli/commands/shell.ts'
import { VERSION } from '../src/core/values/version.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DIST = join(ROOT, 'dist')
const EXECUTABLE = join(DIST, 'petstore')
const FILES_TO_COPY = ['CHANGELOG.md', 'SECURITY.md', 'openapi.json', 'examples', 'README.md', 'docs']

const name = `petstore-${VERSION}-${process.platform}-${process.arch}`
const folder = join(DIST, name)

function run(command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { cwd: DIST })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`)
  return stdout.toString()
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
cpSync(EXECUTABLE, join(folder, 'petstore'))
chmodSync(join(folder, 'petstore'), 0o755)
for (const path of FILES_TO_COPY) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
await Bun.write(join(folder, 'petstore.1'), run([EXECUTABLE, 'man']))
for (const shell of SHELLS) {
  await Bun.write(join(folder, 'completion', `petstore.${shell}`), run([EXECUTABLE, 'completion', shell]))
}
run(['tar', '--create', '--gzip', '--owner=0', '--group=0', '--file', `${name}.tar.gz`, name])
rmSync(folder, { recursive: true, force: true })
console.log(`dist/${name}.tar.gz`)

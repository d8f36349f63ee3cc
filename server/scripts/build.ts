/** Builds the executable: `bun server/scripts/build.ts [FILE]`, by default dist/petstore. */
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = 'server/src/cli/main.ts'
const WORKERS = ['server/src/store/sqlite/reader-worker.ts', 'server/src/store/postgres/reader-worker.ts']
const OPTIONS = [
  '--compile',
  '--minify',
  '--bytecode',
  '--format=esm',
  '--sourcemap',
  '--no-compile-autoload-bunfig',
]

const [file = 'dist/petstore'] = process.argv.slice(2)
// An image is built without the git repository.
const commit = readCommit() ?? Bun.env.COMMIT ?? ''
const { exitCode } = Bun.spawnSync(
  [
    process.execPath,
    'build',
    ...OPTIONS,
    `--define=BUILD_COMMIT=${JSON.stringify(commit)}`,
    '--root=server/src',
    MAIN,
    ...WORKERS,
    `--outfile=${file}`,
  ],
  { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] },
)
process.exit(exitCode)

/** The commit of this checkout; `undefined` without git or a repository. */
function readCommit(): string | undefined {
  const command = ['git', 'rev-parse', '--show-prefix', '--short', 'HEAD']
  if (Bun.which('git') === null) return undefined
  const { exitCode: gitExitCode, stdout } = Bun.spawnSync(command, { cwd: ROOT, stderr: 'ignore' })
  const [prefix, hash] = stdout.toString().split('\n')
  // Sources without a repository of their own may be inside another repository.
  return gitExitCode === 0 && prefix === '' ? hash : undefined
}

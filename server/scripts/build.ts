/** Builds the executable: `bun server/scripts/build.ts [FILE]`, by default dist/petstore. */
import { fileURLToPath } from 'node:url'
import { readCommit } from '../src/cli/version-text.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MAIN = 'server/src/cli/main.ts'
const WORKERS = [
  'server/src/store/sqlite/checkpoint-worker.ts',
  'server/src/store/sqlite/reader-worker.ts',
  'server/src/store/postgres/reader-worker.ts',
]
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

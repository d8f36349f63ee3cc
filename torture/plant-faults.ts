/**
 * Shows that the tests find faults. Plants each fault of planted-faults.ts in a copy of the last commit, one at a time, and runs
 * the tests that should find it: `bun torture/plant-faults.ts [part of a name]`. The exit code is 1 if a fault is not found.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TortureTask } from '../server/scripts/torture-task.ts'
import { FAULTY_FILES } from './planted-faults.ts'

interface PlantedFault {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly replacement: string
  readonly tests: readonly string[]
}

const PLANTED_FAULTS = FAULTY_FILES.flatMap(({ file, tests, faults }) =>
  faults.map(([name, text, replacement]): PlantedFault => ({ name, file, text, replacement, tests })),
)
const ROOT = dirname(import.meta.dir)
/** A test that takes longer has found a fault that makes the service hang. */
const TEST_TIMEOUT_MS = 300_000

export const plantedFaultsTask: TortureTask = {
  name: 'planted-faults',
  promise: 'The tests find every fault that is planted in the sources.',
  share: 1,
  run: ({ say }) => findPlantedFaults(PLANTED_FAULTS, say),
}

/** Runs all faults, whatever time that takes. */
async function findPlantedFaults(faults: readonly PlantedFault[], say: (progress: string) => void) {
  const violations = faults
    .filter((fault) => !isPlantable(fault))
    .map(({ name }) => `cannot be planted: ${name}`)
  if (violations.length > 0) return { figures: [], violations }
  const copy = await Copy.create()
  try {
    for (const path of new Set(faults.flatMap(({ tests }) => tests))) {
      const failure = await copy.failureOf(path)
      if (failure !== undefined) violations.push(`${path} fails without a fault: ${failure}`)
    }
    // A test that fails anyway finds nothing.
    if (violations.length > 0) return { figures: [], violations }
    for (const fault of faults) {
      const finding = await copy.findingOf(fault)
      say(`${fault.name}: ${finding ?? 'NOT FOUND'}`)
      if (finding === undefined) violations.push(`no test has found: ${fault.name}`)
    }
  } finally {
    await copy.remove()
  }
  const found = faults.length - violations.length
  return { figures: [['faults found', `${found} of ${faults.length}`]] as const, violations }
}

/** Whether the sources have the text once. */
function isPlantable({ file, text }: PlantedFault): boolean {
  return readFileSync(join(ROOT, file), 'utf8').split(text).length === 2
}

/** A copy of the last commit, whose sources may be changed. */
class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'petstore-faults-'))

  static async create(): Promise<Copy> {
    const copy = new Copy()
    await git('worktree', 'add', '--detach', '--force', copy.#folder, 'HEAD')
    copy.#linkModules()
    // Tests of the service need the pages.
    await Bun.$`bun web/build.ts`.cwd(copy.#folder).quiet()
    return copy
  }

  remove(): Promise<void> {
    return git('worktree', 'remove', '--force', this.#folder)
  }

  /** Links the installed packages. The workspaces among them are links that lead to the copy. */
  #linkModules(): void {
    const [from, to] = [join(ROOT, 'node_modules'), join(this.#folder, 'node_modules')]
    mkdirSync(to)
    for (const name of readdirSync(from)) {
      if (name === '@petstore')
        cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
      else symlinkSync(join(from, name), join(to, name))
    }
  }

  /** Plants the fault and returns the first test that finds it. */
  async findingOf({ file, text, replacement, tests }: PlantedFault): Promise<string | undefined> {
    const path = join(this.#folder, file)
    const source = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      source.replace(text, () => replacement),
    )
    try {
      for (const test of tests) {
        const failure = await this.failureOf(test)
        if (failure !== undefined) return `${test}: ${failure}`
      }
      return undefined
    } finally {
      writeFileSync(path, source)
    }
  }

  /** The first failure of a test file. */
  async failureOf(testFile: string): Promise<string | undefined> {
    const test = Bun.spawn(
      [process.execPath, 'test', '--bail=1', '--only-failures', '--timeout', '120000', `./${testFile}`],
      {
        cwd: this.#folder,
        stdout: 'ignore',
        stderr: 'pipe',
        timeout: TEST_TIMEOUT_MS,
        killSignal: 'SIGKILL',
      },
    )
    const output = await new Response(test.stderr).text()
    if ((await test.exited) === 0) return undefined
    if (test.signalCode !== null) return 'hangs'
    return /^\(fail\) (.*?)( \[[\d.]+m?s\])?$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1)
  }
}

async function git(...parameters: readonly string[]): Promise<void> {
  await Bun.$`git ${parameters}`.cwd(ROOT).quiet()
}

if (import.meta.main) {
  const [wanted = ''] = process.argv.slice(2)
  const faults = PLANTED_FAULTS.filter(({ name }) => name.includes(wanted))
  const { figures, violations } = await findPlantedFaults(faults, console.log)
  for (const [what, value] of figures) console.log(`${what}: ${value}`)
  for (const violation of violations) console.error(violation)
  process.exit(violations.length === 0 ? 0 : 1)
}

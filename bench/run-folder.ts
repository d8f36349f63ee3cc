import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { killAll } from './processes.ts'

/**
 * Runs a benchmark in a folder of its own, of which nothing is left, nor of the processes that it started, however it
 * ends. The exit code is 1 where it fails or says that a goal was missed.
 */
export async function inRunFolder(work: (folder: string) => Promise<boolean>): Promise<void> {
  const folder = createRunFolder()
  const cleanUp = () => {
    killAll()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      cleanUp()
      process.exit(1)
    })
  }
  try {
    if (!(await work(folder))) process.exitCode = 1
  } catch (error) {
    console.error(`\nbench: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    cleanUp()
  }
}

/** On the disk of the project, not in /tmp, which may be memory: updates have to reach a disk. */
function createRunFolder(): string {
  const base = join(import.meta.dir, 'data')
  mkdirSync(base, { recursive: true })
  return mkdtempSync(join(base, 'run-'))
}

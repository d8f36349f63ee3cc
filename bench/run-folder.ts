import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { killAll } from './processes.ts'

/**
 * Runs a benchmark in a folder of its own, and removes the folder and all processes at the end. The exit code is 1 if the
 * benchmark fails.
 */
export async function inRunFolder(work: (folder: string) => Promise<void>): Promise<void> {
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
    await work(folder)
  } catch (error) {
    console.error(`\nbench: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    cleanUp()
  }
}

/** On the disk of the project: /tmp may be in memory. */
function createRunFolder(): string {
  const base = join(import.meta.dir, 'data')
  mkdirSync(base, { recursive: true })
  return mkdtempSync(join(base, 'run-'))
}

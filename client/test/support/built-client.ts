import { fileURLToPath } from 'node:url'
import { type Run, runProgram } from '../../../server/test/support/run-program.ts'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export type { Run }

export function run(command: readonly string[], cwd = ROOT): Promise<Run> {
  return runProgram(command, { cwd })
}

let building: Promise<void> | undefined

/** Builds client/dist once per test run. */
export function buildClient(): Promise<void> {
  building ??= (async () => {
    const { exitCode, stdout, stderr } = await run(['npm', 'run', '--silent', 'build:client'])
    if (exitCode !== 0) throw new Error(`npm run build:client failed:\n${stdout}${stderr}`)
  })()
  return building
}

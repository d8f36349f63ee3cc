import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** Starts the real program in a process of its own. */
export function startPetstore(args: readonly string[], { cwd, env = {}, stdin }: RunOptions = {}) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: '/usr/bin:/bin', ...env },
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

export async function petstore(args: readonly string[], options?: RunOptions): Promise<Outcome> {
  const program = startPetstore(args, options)
  const [stdout, stderr] = await Promise.all([program.stdout.text(), program.stderr.text()])
  return { exitCode: await program.exited, stdout, stderr }
}

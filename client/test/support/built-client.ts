import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Run {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export async function run(command: readonly string[], cwd = ROOT): Promise<Run> {
  const program = Bun.spawn([...command], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  return { exitCode: await program.exited, stdout, stderr }
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

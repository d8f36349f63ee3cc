import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
/** `npm test` builds the executable once for all tests: it serves sooner than the sources do. */
const BUILT = Bun.env.TEST_PETSTORE
export const PROGRAM = BUILT === undefined ? [process.execPath, MAIN] : [BUILT]

export interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | ReadableStream<Uint8Array>
  /** A command that starts it with other rights or limits. */
  readonly through?: readonly string[]
  /** Another version of it. */
  readonly program?: readonly string[]
}

/** Starts the real program in a process of its own. */
export function startPetstore(
  args: readonly string[],
  { cwd, env = {}, stdin, through = [], program = PROGRAM }: RunOptions = {},
) {
  return Bun.spawn([...through, ...program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    // Tests run beside each other, and there is one port for metrics.
    env: { PATH: '/usr/bin:/bin', METRICS_PORT: 'off', ...env },
    stdin: stdin === undefined ? 'ignore' : typeof stdin === 'string' ? new Blob([stdin]) : stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

export async function petstore(args: readonly string[], options?: RunOptions): Promise<Outcome> {
  const program = startPetstore(args, options)
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  return { exitCode: await program.exited, stdout, stderr }
}

/** Runs the real program in a terminal; once it has shown `until`, does `then`. Gives all that it showed. */
export async function petstoreInTerminal(
  args: readonly string[],
  until?: string,
  then?: (program: { kill(signal: 'SIGTERM'): void; type(text: string): void }) => void,
): Promise<{ exitCode: number; shown: string }> {
  const decoder = new TextDecoder()
  let shown = ''
  let isDone = until === undefined
  const program = Bun.spawn([...PROGRAM, ...args], {
    env: { PATH: '/usr/bin:/bin' },
    terminal: {
      cols: 100,
      rows: 30,
      data: (terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true })
        if (isDone || !shown.includes(until ?? '')) return
        isDone = true
        then?.({ kill: (signal) => program.kill(signal), type: (text) => terminal.write(text) })
      },
    },
  })
  const exitCode = await program.exited
  program.terminal?.close()
  return { exitCode, shown }
}

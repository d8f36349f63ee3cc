import { fileURLToPath } from 'node:url'
import { stopAfterTest } from '../support/stop-after-test.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
/** `npm test` builds the executable once for all tests, because it starts faster than the sources. */
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
  /** A command that starts it with other permissions or limits. */
  readonly through?: readonly string[]
  /** The command of another version. */
  readonly program?: readonly string[]
}

/** Starts the real program in its own process. */
export function startPetstore(
  args: readonly string[],
  { cwd, env = {}, stdin, through = [], program = PROGRAM }: RunOptions = {},
) {
  const started = Bun.spawn([...through, ...program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    // Tests run in parallel, and the metrics port is fixed.
    env: { PATH: '/usr/bin:/bin', METRICS_PORT: 'off', ...env },
    stdin: stdin === undefined ? 'ignore' : typeof stdin === 'string' ? new Blob([stdin]) : stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  stopAfterTest(() => {
    started.kill('SIGKILL')
    return started.exited
  })
  return started
}

export async function petstore(args: readonly string[], options?: RunOptions): Promise<Outcome> {
  const program = startPetstore(args, options)
  const [stdout, stderr] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ])
  return { exitCode: await program.exited, stdout, stderr }
}

interface TerminalProgram {
  kill(signal: 'SIGTERM'): void
  type(text: string): void
}

interface TerminalOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly program?: readonly string[]
}

/** Runs the real program in a terminal; once it has shown `expected`, runs `then`. Returns everything it showed. */
export async function petstoreInTerminal(
  args: readonly string[],
  expected?: string,
  then: (program: TerminalProgram) => void | Promise<void> = () => {},
  { cwd, env = {}, program: command = PROGRAM }: TerminalOptions = {},
): Promise<{ exitCode: number; shown: string }> {
  const decoder = new TextDecoder()
  let shown = ''
  let changed = Promise.withResolvers<void>()
  const program = Bun.spawn([...command, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: '/usr/bin:/bin', ...env },
    terminal: {
      cols: 100,
      rows: 30,
      data: (_terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true })
        changed.resolve()
        changed = Promise.withResolvers()
      },
    },
  })
  const shows = async (text: string) => {
    while (!shown.includes(text)) {
      const exited = program.exited.then(() => 'exited')
      if ((await Promise.race([changed.promise, exited])) !== 'exited' || shown.includes(text)) continue
      throw new Error(`the program exited without showing "${text}": ${shown}`)
    }
  }
  if (expected !== undefined) {
    await shows(expected)
    await then({
      kill: (signal) => program.kill(signal),
      type: (text) => program.terminal?.write(text),
    })
  }
  const exitCode = await program.exited
  program.terminal?.close()
  return { exitCode, shown }
}

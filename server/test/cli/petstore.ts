import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopAfterTest } from '../support/stop-after-test.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const PAUSING_PRELOAD = fileURLToPath(new URL('./pausing-preload.ts', import.meta.url))
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
  /** Resolves once the terminal has shown the text. */
  shows(text: string): Promise<void>
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
      shows,
    })
  }
  const exitCode = await program.exited
  program.terminal?.close()
  return { exitCode, shown }
}

/**
 * Runs the program from its sources in a terminal and blocks it when it first shows `pauseAt`, until
 * `whilePaused` has ended.
 */
export async function petstorePausedAt(
  pauseAt: string,
  args: readonly string[],
  whilePaused: (program: TerminalProgram) => Promise<void>,
): Promise<{ exitCode: number; shown: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-pause-'))
  const fifo = join(folder, 'fifo')
  try {
    if (!Bun.spawnSync(['mkfifo', fifo]).success) throw new Error(`cannot make the FIFO ${fifo}`)
    return await petstoreInTerminal(
      args,
      pauseAt,
      async (program) => {
        await whilePaused(program)
        await writeFile(fifo, '')
      },
      {
        env: { PAUSE_AT: pauseAt, PAUSE_FIFO: fifo },
        program: [process.execPath, '--preload', PAUSING_PRELOAD, MAIN],
      },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Everything that the program does after it has shown `pauseAt` happens after the signal arrived. SIGINT is
 * typed as Ctrl-C.
 */
export function petstoreInterruptedAt(
  pauseAt: string,
  signal: 'SIGINT' | 'SIGTERM',
  args: readonly string[],
): Promise<{ exitCode: number; shown: string }> {
  return petstorePausedAt(pauseAt, args, async (program) => {
    if (signal === 'SIGTERM') {
      program.kill(signal)
      return
    }
    program.type('\x03')
    // The terminal shows this after it has sent the signal.
    await program.shows('^C')
  })
}

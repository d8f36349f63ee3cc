import { spyOn } from 'bun:test'
import type { Command } from 'commander'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { createProgram } from '../../src/cli/program.ts'
import type { Outcome } from './petstore.ts'

interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

let lastRun: Promise<unknown> = Promise.resolve()

/**
 * Runs a command like a process without a terminal, but in this process, which is faster. Commands run one after the other,
 * because they share the folder, environment and output of the process. Commands that need standard input, a terminal or a
 * signal, or that would block a busy service of this process, need a process: `petstore`.
 */
export function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const run = lastRun.then(() => runAlone(args, options))
  lastRun = run.catch(() => {})
  return run
}

async function runAlone(args: readonly string[], { cwd, env = {} }: RunOptions): Promise<Outcome> {
  const { env: outerEnv } = process
  const outerFolder = process.cwd()
  const stdout = captureOutput('log', process.stdout)
  const stderr = captureOutput('error', process.stderr)
  const restoreInput = withoutTerminal(process.stdin)
  try {
    process.env = { PATH: '/usr/bin:/bin', METRICS_PORT: 'off', ...env }
    if (cwd !== undefined) process.chdir(cwd)
    const exitCode = await runCommandLine(args)
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    process.chdir(outerFolder)
    process.env = outerEnv
    for (const restore of [stdout.restore, stderr.restore, restoreInput]) restore()
  }
}

function captureOutput(method: 'log' | 'error', stream: NodeJS.WriteStream) {
  let text = ''
  const restoreStream = withoutTerminal(stream)
  const print = spyOn(console, method).mockImplementation((line: string) => {
    text += `${line}\n`
  })
  const write = spyOn(stream, 'write').mockImplementation((part, callback) => {
    text += String(part)
    if (typeof callback === 'function') callback()
    return true
  })
  return {
    text: () => text,
    restore: () => {
      print.mockRestore()
      write.mockRestore()
      restoreStream()
    },
  }
}

/** The tests may have been started in a terminal. */
function withoutTerminal(stream: NodeJS.ReadStream | NodeJS.WriteStream): () => void {
  const { isTTY } = stream
  stream.isTTY = false
  return () => {
    stream.isTTY = isTTY
  }
}

/** Such as `keys create`. */
export function commandNames(command: Command = createProgram(), parents = ''): string[] {
  return command.commands.flatMap((child) => {
    const name = `${parents}${child.name()}`
    return child.commands.length === 0 ? [name] : commandNames(child, `${name} `)
  })
}

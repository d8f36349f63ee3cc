// What cannot be taken back is asked for on a terminal; elsewhere `--yes` has to say it.
import { wrongUse } from './arguments.ts'

export interface AskingFlags {
  readonly yes?: true
}

/** Before anything else: without a terminal nobody could answer. `does` says what the command does. */
export function requireAnswer({ yes }: AskingFlags, does: string): void {
  if (yes === true || process.stdin.isTTY) return
  wrongUse(`there is no terminal to ask on; --yes ${does} without asking`)
}

/** Asks without blocking, so that Ctrl-C can still abort the signal. */
export async function confirmUnlessAborted(question: string, signal: AbortSignal): Promise<boolean> {
  const answer = Promise.withResolvers<string>()
  const abort = () => answer.reject(signal.reason)
  const receive = (text: Buffer) => answer.resolve(text.toString())
  const end = () => answer.resolve('')
  process.stderr.write(`${question} [y/N] `)
  signal.addEventListener('abort', abort)
  process.stdin.once('data', receive)
  process.stdin.once('end', end)
  try {
    return /^y(es)?$/i.test((await answer.promise).trim())
  } finally {
    signal.removeEventListener('abort', abort)
    process.stdin.off('data', receive)
    process.stdin.off('end', end)
    // Reading would keep the program from ending.
    process.stdin.pause()
  }
}

export function ask({ yes }: AskingFlags, question: string): void {
  if (yes !== true && !confirm(question)) throw new Error('nothing was changed')
}

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

export function ask({ yes }: AskingFlags, question: string): void {
  if (yes !== true && !confirm(question)) throw new Error('nothing was changed')
}

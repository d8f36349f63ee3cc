import { CommanderError } from 'commander'
import { hideSecrets } from '../core/keys/api-key.ts'
import { EXIT_USAGE_ERROR } from './arguments.ts'
import { createProgram } from './program.ts'
import { failureText, Interrupted } from './terminal.ts'

const EXIT_FAILURE = 1
const ADDRESS_WITH_PASSWORD = /\bpostgres(?:ql)?:\/\/[^\s/@:]*:[^\s@]+@|(?:^|[?&=\s])password\s*=/i

/** Runs one command and returns its exit code. A started service is still running then. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  if (args.some((argument) => ADDRESS_WITH_PASSWORD.test(argument))) {
    console.error(
      'petstore: all users of this machine can see the password in the arguments; set DATABASE_URL instead',
    )
  }
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    return reportFailure(error)
  }
}

/** Prints the failure in one line and returns its exit code. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT_USAGE_ERROR
  const message = failureText(error)
  // The message may quote an argument, and the argument may be a secret that was given instead of a name.
  // It may also quote text of others, whose control characters could change the terminal.
  console.error(`petstore: ${hideSecrets(message.replace(/^error: /, '').replaceAll(/\p{Cc}+/gu, ' '))}`)
  if (error instanceof Interrupted) return error.exitCode
  return error instanceof CommanderError ? EXIT_USAGE_ERROR : EXIT_FAILURE
}

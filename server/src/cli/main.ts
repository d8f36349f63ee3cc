#!/usr/bin/env bun
import { CommanderError } from 'commander'
import { hideSecrets } from '../core/keys/api-key.ts'
import { hasPassword, PetstoreCommand } from './arguments.ts'
import { addAdjustCommand } from './commands/adjust.ts'
import { addBackupCommands } from './commands/backup.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { addHealthCommand } from './commands/health.ts'
import { addHistoryCommands } from './commands/history.ts'
import { addImportCommand } from './commands/import.ts'
import { addInstallServiceCommand } from './commands/install-service.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addOrdersCommands } from './commands/orders.ts'
import { addPetsCommands } from './commands/pets.ts'
import { addServeCommand } from './commands/serve.ts'
import { addShellCommands } from './commands/shell.ts'
import { addUsageCommand } from './commands/usage.ts'
import { addWebhooksCommands } from './commands/webhooks.ts'
import { versionText } from './commit.ts'
import { failureText } from './terminal.ts'

const EXIT_FAILURE = 1
const EXIT_USAGE_ERROR = 2

const program = new PetstoreCommand('petstore')
  .description('Stock levels of a pet store behind an HTTP/JSON API')
  .option('-V, --version', 'print the version and the commit')
  .exitOverride()
  .configureOutput({ outputError: () => {} })
program.on('option:version', () => {
  console.log(versionText())
  throw new CommanderError(0, 'petstore.version', 'the version was printed')
})
addServeCommand(program)
addKeysCommands(program)
addUsageCommand(program)
addImportCommand(program)
addAdjustCommand(program)
addExportCommand(program)
addHistoryCommands(program)
addPetsCommands(program)
addOrdersCommands(program)
addWebhooksCommands(program)
addBackupCommands(program)
addCopyCommand(program)
addDoctorCommand(program)
addHealthCommand(program)
addInstallServiceCommand(program)
addShellCommands(program)

if (hasPassword(process.argv)) {
  console.error(
    'petstore: all users of this machine can see the password in the arguments; set DATABASE_URL instead',
  )
}
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportFailure(error)
}

/** Prints the failure in one line and returns its exit code. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  if (error instanceof CommanderError && error.code === 'commander.help') return EXIT_USAGE_ERROR
  const message = failureText(error)
  // The message may quote an argument, and the argument may be a secret that was given instead of a name.
  console.error(`petstore: ${hideSecrets(message.replace(/^error: /, '').replaceAll('\n', ' '))}`)
  return error instanceof CommanderError ? EXIT_USAGE_ERROR : EXIT_FAILURE
}

#!/usr/bin/env bun
import { Command, CommanderError } from 'commander'
import { hideSecrets } from '../core/keys/api-key.ts'
import { VERSION } from '../core/values/version.ts'
import { passwordInArguments } from './arguments.ts'
import { addAdjustCommand } from './commands/adjust.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { addHealthCommand } from './commands/health.ts'
import { addHistoryCommand } from './commands/history.ts'
import { addImportCommand } from './commands/import.ts'
import { addInstallServiceCommand } from './commands/install-service.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addOrdersCommands } from './commands/orders.ts'
import { addPetsCommands } from './commands/pets.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addServeCommand } from './commands/serve.ts'
import { addShellCommands } from './commands/shell.ts'
import { addUsageCommand } from './commands/usage.ts'
import { addWebhooksCommands } from './commands/webhooks.ts'
import { failureText } from './output.ts'

const FAILURE = 1
const WRONG_USE = 2

const program = new Command('petstore')
  .description("A pet store's stock levels behind an HTTP/JSON interface")
  .version(VERSION)
  .exitOverride()
  .configureOutput({ outputError: () => {} })
addServeCommand(program)
addKeysCommands(program)
addUsageCommand(program)
addImportCommand(program)
addAdjustCommand(program)
addExportCommand(program)
addHistoryCommand(program)
addPetsCommands(program)
addOrdersCommands(program)
addWebhooksCommands(program)
addBackupCommand(program)
addRestoreCommand(program)
addCopyCommand(program)
addMigrateCommand(program)
addDoctorCommand(program)
addHealthCommand(program)
addInstallServiceCommand(program)
addShellCommands(program)

const exposed = passwordInArguments(process.argv)
if (exposed !== undefined) console.error(`petstore: ${exposed}`)
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Says in one line what went wrong, and gives the exit code for it. */
function report(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  if (error instanceof CommanderError && error.code === 'commander.help') return WRONG_USE
  const message = failureText(error)
  // It may quote an argument, and that may be a key that was taken for the name of one.
  console.error(`petstore: ${hideSecrets(message.replace(/^error: /, '').replaceAll('\n', ' '))}`)
  return error instanceof CommanderError ? WRONG_USE : FAILURE
}

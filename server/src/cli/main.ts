#!/usr/bin/env bun
import { Command, CommanderError } from 'commander'
import { VERSION } from '../core/version.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addExportCommand } from './commands/export.ts'
import { addHistoryCommand } from './commands/history.ts'
import { addImportCommand } from './commands/import.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addPetsCommands } from './commands/pets.ts'
import { addServeCommand } from './commands/serve.ts'
import { addUsageCommand } from './commands/usage.ts'

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
addExportCommand(program)
addHistoryCommand(program)
addPetsCommands(program)
addBackupCommand(program)
addCopyCommand(program)
addMigrateCommand(program)
addDoctorCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Says in one line what went wrong, and gives the exit code for it. */
function report(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0
  if (error instanceof CommanderError && error.code === 'commander.help') return WRONG_USE
  const message = error instanceof Error ? error.message : String(error)
  console.error(`petstore: ${message.replace(/^error: /, '').replaceAll('\n', ' ')}`)
  return error instanceof CommanderError ? WRONG_USE : FAILURE
}

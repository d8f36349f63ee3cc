import { CommanderError } from 'commander'
import { PetstoreCommand } from './arguments.ts'
import { addBackupCommands } from './commands/backup.ts'
import { addCheckCommand } from './commands/check.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addExportCommand } from './commands/export.ts'
import { addFollowCommand } from './commands/follow.ts'
import { addHealthCommand } from './commands/health.ts'
import { addHistoryCommands } from './commands/history.ts'
import { addImportCommand } from './commands/import.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addServeCommand } from './commands/serve.ts'
import { versionText } from './version-text.ts'

export function createProgram(): PetstoreCommand {
  const program = new PetstoreCommand('petstore')
    .description('Stock levels of a pet store behind an HTTP/JSON API')
    .option('-V, --version', 'print the version')
    .exitOverride()
    // command-line.ts prints the errors.
    .configureOutput({ outputError: () => {} })
  program.on('option:version', () => {
    console.log(versionText())
    throw new CommanderError(0, 'petstore.version', 'the version was printed')
  })
  addServeCommand(program)
  addKeysCommands(program)
  addImportCommand(program)
  addExportCommand(program)
  addHistoryCommands(program)
  addBackupCommands(program)
  addFollowCommand(program)
  addCopyCommand(program)
  addCheckCommand(program)
  addHealthCommand(program)
  return program
}

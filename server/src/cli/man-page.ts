import { type CommandFacts, everyCommand } from './command-facts.ts'

/** The manual page petstore(1), as roff. */
export function manPage(program: CommandFacts, version: string): string {
  const [, ...commands] = everyCommand(program)
  return [
    `.TH PETSTORE 1 "" "petstore ${version}" "User Commands"`,
    '.SH NAME',
    text(`petstore - ${program.description}`),
    '.SH SYNOPSIS',
    ...synopsis(program),
    '.SH DESCRIPTION',
    text(
      'One program is the service and its command line. The commands work on the live database while the service runs.',
    ),
    '.SH OPTIONS',
    ...options(program),
    '.SH COMMANDS',
    // A group is described by its commands.
    ...commands.filter(({ subcommands }) => subcommands.length === 0).flatMap(section),
    '.SH ENVIRONMENT',
    text(
      'Each setting of petstore serve is an environment variable as well; its flag wins. The other commands heed those whose flags they have.',
    ),
    '.SH EXIT STATUS',
    ...entry('0', 'done'),
    ...entry('1', 'a failure, told in one line on standard error'),
    ...entry('2', 'wrong use'),
    ...entry('130, 143', 'ended by Ctrl-C or SIGTERM'),
    '.SH EXAMPLES',
    '.nf',
    text('petstore import pets.csv'),
    text('petstore keys create --name "My shop" --plan pro'),
    text('petstore serve'),
    '.fi',
    '',
  ].join('\n')
}

function section(command: CommandFacts): string[] {
  return [
    `.SS ${text(command.path.slice(1).join(' '))}`,
    ...synopsis(command),
    '.PP',
    text(command.description),
    ...command.arguments.flatMap(({ term, description }) => entry(term, description)),
    ...options(command),
  ]
}

function synopsis({ path, arguments: args, options: flags, subcommands }: CommandFacts): string[] {
  const words = [
    ...(flags.length === 0 ? [] : ['[options]']),
    ...(subcommands.length === 0 ? [] : ['<command>']),
    ...args.map(({ term }) => term),
  ]
  return [`.B ${text(path.join(' '))}`, text(words.join(' '))]
}

function options(command: CommandFacts): string[] {
  return command.options.flatMap(({ term, description }) => entry(term, description))
}

function entry(term: string, description: string): string[] {
  return ['.TP', `.B ${text(term)}`, text(description)]
}

/** On one line, with nothing in it that roff would take for itself. */
function text(words: string): string {
  return words
    .replaceAll('\n', ' ')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
}

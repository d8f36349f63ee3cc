// The shell completions and the manual page, generated from the definitions of the commands.
import type { Command } from 'commander'
import { VERSION } from '../src/core/values/version.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** The facts about a command that completion scripts need. */
interface CommandHelp {
  readonly name: string
  /** Identifies the command in a script, such as `/keys/create`. Empty for petstore itself. */
  readonly path: string
  readonly description: string
  readonly options: readonly OptionHelp[]
  readonly subcommands: readonly CommandHelp[]
}

interface OptionHelp {
  /** `-h` and `--help` */
  readonly names: readonly string[]
  readonly takesValue: boolean
  readonly description: string
}

function readHelp(command: Command, path = ''): CommandHelp {
  const help = command.createHelp()
  return {
    name: command.name(),
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(({ short, long, description, required, optional }) => ({
      names: [short, long].filter((name) => name !== undefined),
      takesValue: required || optional,
      description,
    })),
    subcommands: help
      .visibleCommands(command)
      .map((subcommand) => readHelp(subcommand, `${path}/${subcommand.name()}`)),
  }
}

/** The command and all its subcommands. */
function flatten(command: CommandHelp): readonly CommandHelp[] {
  return [command, ...command.subcommands.flatMap(flatten)]
}

/** The script completes commands and flags. It completes values as files. */
export function completionScript(shell: Shell, program: Command): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](flatten(readHelp(program)))
}

function subcommandPaths(commands: readonly CommandHelp[]): string[] {
  return commands.slice(1).map(({ path }) => path)
}

/** `/keys/create:--name` for each flag that takes a value. */
function flagsWithValue(commands: readonly CommandHelp[]): string[] {
  return commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names }) => names.map((name) => `${path}:${name}`)),
  )
}

const firstSentence = (text: string) => /^.*?(?=\.( |$)|$)/.exec(text)?.[0] ?? text

function bashScript(commands: readonly CommandHelp[]): string {
  const cases = commands.map((command) => {
    const subcommands = command.subcommands.map(({ name }) => name).join(' ')
    const options = command.options.flatMap(({ names }) => names).join(' ')
    return `    '${command.path}') commands='${subcommands}' options='${options}' ;;`
  })
  return `# bash completion of petstore, generated from the definitions of its commands
_petstore() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word commands= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${subcommandPaths(commands).join('|')}) at=$at/$word ;;
    esac
  done
  COMPREPLY=()
  case "$at:$prev" in
    ${flagsWithValue(commands).join('|')}) return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$cur")) ;;
  esac
}
complete -o default -F _petstore petstore
`
}

function zshScript(commands: readonly CommandHelp[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const cases = commands.map((command) => {
    const subcommands = command.subcommands.map((subcommand) =>
      quoted(`${subcommand.name}:${firstSentence(subcommand.description)}`),
    )
    const options = command.options.flatMap(({ names, description }) =>
      names.map((name) => quoted(`${name}:${description}`)),
    )
    return `    '${command.path}')
      commands=(${subcommands.join(' ')})
      options=(${options.join(' ')}) ;;`
  })
  return `#compdef petstore
# zsh completion of petstore, generated from the definitions of its commands
_petstore() {
  local at= word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      (${subcommandPaths(commands).join('|')}) at=$at/$word ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
    (${flagsWithValue(commands).join('|')}) _files; return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then _describe -o option options
  elif (( $#commands )); then _describe command commands
  else _files
  fi
}
if [[ $funcstack[1] == _petstore ]]; then _petstore "$@"; else compdef _petstore petstore; fi
`
}

function fishScript(commands: readonly CommandHelp[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = commands.flatMap((command) => {
    const here = `complete -c petstore -n '__petstore_at "${command.path}"'`
    return [
      ...command.subcommands.map(
        (subcommand) =>
          `${here} -f -a ${subcommand.name} -d ${quoted(firstSentence(subcommand.description))}`,
      ),
      ...command.options.map(({ names, takesValue, description }) => {
        const flags = names.map((name) => name.replace(/^--/, '-l ').replace(/^-(?!l )/, '-s '))
        return `${here} ${flags.join(' ')}${takesValue ? ' -r' : ''} -d ${quoted(description)}`
      }),
    ]
  })
  return `# fish completion of petstore, generated from the definitions of its commands
function __petstore_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l at ''
  for word in $words
    switch "$at/$word"
      case ${subcommandPaths(commands).join(' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}

/** The manual page petstore(1), as roff. */
export function manPage(program: Command): string {
  return [
    `.TH PETSTORE 1 "" "petstore ${VERSION}" "User Commands"`,
    '.SH NAME',
    escapeRoff(`petstore - ${program.description()}`),
    '.SH SYNOPSIS',
    '.B petstore',
    '<command> [options]',
    '.SH DESCRIPTION',
    'petstore is both the service and its command line. Commands use the database directly, also while the service runs.',
    '.SH COMMANDS',
    ...commandSections(program, ''),
    '.SH ENVIRONMENT',
    'Each setting of petstore serve is a flag and an environment variable; the flag has precedence. Other commands read the variables of their own flags.',
    '.SH EXIT STATUS',
    '.nf',
    '0         success',
    '1         a failure, reported in one line on standard error',
    '2         a usage error',
    '130, 143  ended by Ctrl-C or SIGTERM',
    '.fi',
    '.SH EXAMPLES',
    '.nf',
    'petstore import pets.csv',
    escapeRoff('petstore keys create --name "My shop" --plan pro'),
    'petstore serve',
    '.fi',
    '',
  ].join('\n')
}

/** A section for each command without subcommands. */
function commandSections(command: Command, name: string): string[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((subcommand) =>
      commandSections(subcommand, `${name} ${subcommand.name()}`.trim()),
    )
  }
  const help = command.createHelp()
  const entries = [
    ...help.visibleArguments(command).map((argument) => [argument.name(), argument.description] as const),
    ...help.visibleOptions(command).map(({ flags, description }) => [flags, description] as const),
  ]
  return [
    `.SS ${name}`,
    `.B ${escapeRoff(help.commandUsage(command))}`,
    '.PP',
    escapeRoff(command.description()),
    ...entries.flatMap(([term, description]) => ['.TP', `.B ${escapeRoff(term)}`, escapeRoff(description)]),
  ]
}

/** Escapes everything that roff would interpret. */
function escapeRoff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
}

import { type CommandFacts, everyCommand } from './command-facts.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** What a shell sources to complete commands and flags; values are completed as files. */
export function completionScript(shell: Shell, program: CommandFacts): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program)
}

/** `/keys/create`: how the scripts name a command; the program itself is the empty text. */
function placeOf({ path }: CommandFacts): string {
  return path.map((name, depth) => (depth === 0 ? '' : `/${name}`)).join('')
}

function places(program: CommandFacts): string[] {
  return everyCommand(program).slice(1).map(placeOf)
}

/** Behind these a value comes. */
function flagsWithValues(program: CommandFacts): string[] {
  return everyCommand(program).flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names }) => names.map((name) => `${placeOf(command)}:${name}`)),
  )
}

const firstSentence = (text: string) => /^.*?(?=\.( |$)|$)/.exec(text)?.[0] ?? text
const nameOf = ({ path }: CommandFacts) => path.at(-1) ?? ''

function bashScript(program: CommandFacts): string {
  const cases = everyCommand(program).map((command) => {
    const commands = command.subcommands.map(nameOf).join(' ')
    const options = command.options.flatMap(({ names }) => names).join(' ')
    return `    '${placeOf(command)}') commands='${commands}' options='${options}' ;;`
  })
  return `# bash completion of petstore, made by "petstore completion bash"
_petstore() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word commands= options=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at/$word" in
      ${places(program).join('|')}) at=$at/$word ;;
    esac
  done
  COMPREPLY=()
  case "$at:$prev" in
    ${flagsWithValues(program).join('|')}) return ;;
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

function zshScript(program: CommandFacts): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const cases = everyCommand(program).map((command) => {
    const commands = command.subcommands.map((below) =>
      quoted(`${nameOf(below)}:${firstSentence(below.description)}`),
    )
    const options = command.options.flatMap(({ names, description }) =>
      names.map((name) => quoted(`${name}:${description}`)),
    )
    return `    '${placeOf(command)}')
      commands=(${commands.join(' ')})
      options=(${options.join(' ')}) ;;`
  })
  return `#compdef petstore
# zsh completion of petstore, made by "petstore completion zsh"
_petstore() {
  local at= word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at/$word" in
      (${places(program).join('|')}) at=$at/$word ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
    (${flagsWithValues(program).join('|')}) _files; return ;;
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

function fishScript(program: CommandFacts): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = everyCommand(program).flatMap((command) => {
    const here = `complete -c petstore -n '__petstore_at "${placeOf(command)}"'`
    return [
      ...command.subcommands.map(
        (below) => `${here} -f -a ${nameOf(below)} -d ${quoted(firstSentence(below.description))}`,
      ),
      ...command.options.map(({ names, takesValue, description }) => {
        const flags = names.map((name) => name.replace(/^--/, '-l ').replace(/^-(?!l )/, '-s '))
        return `${here} ${flags.join(' ')}${takesValue ? ' -r' : ''} -d ${quoted(description)}`
      }),
    ]
  })
  return `# fish completion of petstore, made by "petstore completion fish"
function __petstore_at
  set -l words (commandline -opc)
  set -e words[1]
  set -l at ''
  for word in $words
    switch "$at/$word"
      case ${places(program).join(' ')}
        set at "$at/$word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}

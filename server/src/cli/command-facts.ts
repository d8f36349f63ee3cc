// The commands as data: what completion and the man page are made from, so that neither can tell of what is not there.
import type { Command } from 'commander'

export interface OptionFacts {
  /** As help shows it, such as `--name <name>`. */
  readonly term: string
  /** `-h` and `--help`, those that it has. */
  readonly names: readonly string[]
  readonly takesValue: boolean
  readonly description: string
}

export interface CommandFacts {
  /** From the program on, which is the first: `['petstore', 'keys', 'create']`. */
  readonly path: readonly string[]
  readonly description: string
  readonly arguments: readonly { readonly term: string; readonly description: string }[]
  readonly options: readonly OptionFacts[]
  readonly subcommands: readonly CommandFacts[]
}

/** What help shows of a command and of those below it. */
export function commandFacts(command: Command, above: readonly string[] = []): CommandFacts {
  const help = command.createHelp()
  const path = [...above, command.name()]
  return {
    path,
    description: command.description(),
    arguments: help.visibleArguments(command).map((argument) => ({
      term: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      description: argument.description,
    })),
    options: help.visibleOptions(command).map(({ flags, short, long, description, required, optional }) => ({
      term: flags,
      names: [short, long].filter((name) => name !== undefined),
      takesValue: required || optional,
      description,
    })),
    subcommands: help.visibleCommands(command).map((below) => commandFacts(below, path)),
  }
}

/** It and all below it. */
export function everyCommand(command: CommandFacts): readonly CommandFacts[] {
  return [command, ...command.subcommands.flatMap(everyCommand)]
}

import type { Command } from 'commander'
import { VERSION } from '../../core/values/version.ts'
import { oneOf } from '../arguments.ts'
import { commandFacts } from '../command-facts.ts'
import { completionScript, SHELLS } from '../completion-scripts.ts'
import { manPage } from '../man-page.ts'

/** What a shell and its user want to know of the other commands. Added last, though they tell of all. */
export function addShellCommands(program: Command): void {
  program
    .command('completion')
    .description('Write what completes commands and flags in a shell.')
    .argument('<shell>', SHELLS.join(', '), oneOf('the shell', SHELLS))
    .addHelpText(
      'after',
      `
  bash  petstore completion bash > /etc/bash_completion.d/petstore
  zsh   petstore completion zsh > /usr/local/share/zsh/site-functions/_petstore
  fish  petstore completion fish > ~/.config/fish/completions/petstore.fish`,
    )
    .action((shell) => {
      process.stdout.write(completionScript(shell, commandFacts(program)))
    })
  program
    .command('man')
    .description('Write the manual page: petstore man | man -l -')
    .action(() => {
      process.stdout.write(manPage(commandFacts(program), VERSION))
    })
}

import type { Command } from 'commander'
import { addShow } from './history/show.ts'

export function addHistoryCommand(program: Command): void {
  const history = program
    .command('history')
    .usage('<petId> [options]')
    .description('Look at what happened to the stock.')
  addShow(history)
}

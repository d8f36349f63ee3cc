import type { Command } from 'commander'
import { addPrune } from './history/prune.ts'
import { addShow } from './history/show.ts'

export function addHistoryCommand(program: Command): void {
  const history = program
    .command('history')
    .usage('<petId> [options] | prune [options]')
    .description('Look at what happened to the stock, and remove what is too old to be asked for.')
  addShow(history)
  addPrune(history)
}

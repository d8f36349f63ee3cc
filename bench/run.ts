import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { storesOf } from './cases.ts'
import { describeEnvironment } from './environment.ts'
import { goalsOf, ratiosOf } from './goals.ts'
import { runGrowth } from './growth.ts'
import { installPeers, installTools } from './install.ts'
import { runInstances } from './instances.ts'
import { HELP, type Options, readCommand } from './options.ts'
import { stopPostgres } from './postgres.ts'
import { summary, toMarkdown } from './report.ts'
import type { BenchResults, CaseResult } from './results.ts'
import { runStore, type Session } from './rounds.ts'
import { inRunFolder } from './run-folder.ts'
import { runSlowDisk } from './slow-disk.ts'
import { casesTable, instancesTable, missedGoals, readmeTable } from './tables.ts'
import { buildNodePeers } from './targets/peers.ts'

const PUBLISHED = join(import.meta.dir, 'results')

await inRunFolder(async (folder) => {
  const command = readCommand(process.argv.slice(2))
  switch (command.type) {
    case 'help':
      console.log(HELP)
      break
    case 'tables':
      await printTables()
      break
    case 'run':
      await bench(command.options, folder)
  }
  return true
})

async function bench(options: Options, folder: string): Promise<void> {
  await installTools()
  await installPeers()
  await buildNodePeers()
  const results = await measureAll(options, folder)
  const folderOfResults = options.publish ? PUBLISHED : join(import.meta.dir, 'data', 'results')
  await write(results, folderOfResults)
  console.log(`${summary(results)}\n\nThe results are in ${folderOfResults}.`)
}

async function measureAll(options: Options, folder: string): Promise<BenchResults> {
  const { pace, cases, targets, instanceRows, sharedTargets } = options
  const began = performance.now()
  const elapsed = () => (performance.now() - began) / 1000
  const session: Session = {
    folder,
    pace,
    log: (step) => console.error(`${elapsed().toFixed(0).padStart(5)} s  ${step}`),
  }
  const results: CaseResult[] = []
  for (const store of storesOf(cases)) results.push(...(await runStore(session, store, targets)))
  await stopPostgres()
  const ordered = cases.flatMap(({ name }) => results.filter((result) => result.name === name))
  if (instanceRows.length > 0) ordered.push(...(await runInstances(session, instanceRows, sharedTargets)))
  await stopPostgres()
  return {
    mode: pace.mode,
    environment: await describeEnvironment(),
    cases: ordered,
    ...(options.growth ? { growth: await runGrowth(session) } : {}),
    ...(options.slowDisk ? { slowDisk: await runSlowDisk(session) } : {}),
    seconds: elapsed(),
  }
}

async function write(results: BenchResults, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const withGoals = { ...results, ratios: ratiosOf(results), goals: goalsOf(results) }
  await Bun.write(join(folder, 'results.json'), `${JSON.stringify(withGoals, null, 2)}\n`)
  await Bun.write(join(folder, 'results.md'), toMarkdown(results))
}

async function printTables(): Promise<void> {
  const results: BenchResults = await Bun.file(join(PUBLISHED, 'results.json')).json()
  console.log(`README.md, Performance:\n\n${readmeTable(results)}\n`)
  console.log(`docs/performance.md, first table:\n\n${casesTable(results)}\n`)
  console.log(`docs/performance.md, several instances:\n\n${instancesTable(results)}\n`)
  console.log(`docs/performance.md, missed goals:\n\n${missedGoals(results).join('\n')}`)
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { storesOf } from './cases.ts'
import { describeEnvironment } from './environment.ts'
import { goalsOf, ratiosOf } from './goals.ts'
import { growthSeconds, runGrowth } from './growth.ts'
import { installWhatIsMissing } from './install.ts'
import { instancesSeconds } from './instance-rows.ts'
import { runInstances } from './instances.ts'
import { toMarkdown } from './markdown.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { plannedSeconds } from './pace.ts'
import { toSvg } from './plot.ts'
import { endPostgres } from './postgres.ts'
import { Progress } from './progress.ts'
import type { BenchResults, CaseResult } from './results.ts'
import { runStore, type Session } from './rounds.ts'
import { inRunFolder } from './run-folder.ts'
import { runSlowDisk, slowDiskSeconds } from './slow-disk.ts'
import { createUnknownKey } from './targets/ours.ts'
import { buildNodePeers } from './targets/peers.ts'

await inRunFolder(async (folder) => {
  const options = readOptions(process.argv.slice(2))
  if (options === undefined) console.log(HELP)
  else await bench(options, folder)
  return true
})

async function bench(options: Options, folder: string): Promise<void> {
  await installWhatIsMissing((line) => console.error(line))
  await buildNodePeers()
  const results = await measureAll(options, folder)
  const written = await write(results, join(import.meta.dir, options.publish ? 'results' : 'data/results'))
  console.log(summary(results))
  console.log(`\nWritten to ${written}`)
}

async function measureAll(options: Options, folder: string): Promise<BenchResults> {
  const { pace, cases, targets, instances } = options
  const progress = new Progress(
    plannedSeconds(cases, targets, pace) +
      instancesSeconds(instances.rows, instances.targets.length, pace) +
      (options.growth ? growthSeconds(pace) : 0) +
      (options.slowDisk ? slowDiskSeconds(pace) : 0),
  )
  const session: Session = { folder, pace, progress, unknownSecret: await createUnknownKey(folder) }
  const results: CaseResult[] = []
  for (const store of storesOf(cases)) results.push(...(await runStore(session, store, targets)))
  await endPostgres()
  const ofInstances =
    instances.rows.length === 0 ? [] : await runInstances(session, instances.rows, instances.targets)
  await endPostgres()
  const growth = options.growth ? await runGrowth(session) : undefined
  const slowDisk = options.slowDisk ? await runSlowDisk(session) : undefined
  progress.end()
  return {
    mode: pace.mode,
    environment: await describeEnvironment(),
    seconds: progress.seconds,
    cases: [...cases.flatMap(({ name }) => results.filter((result) => result.name === name)), ...ofInstances],
    ...(growth === undefined ? {} : { growth }),
    ...(slowDisk === undefined ? {} : { slowDisk }),
  }
}

async function write(results: BenchResults, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const numbers = { ...results, ratios: ratiosOf(results), goals: goalsOf(results) }
  await Bun.write(join(folder, 'results.json'), `${JSON.stringify(numbers, null, 2)}\n`)
  await Bun.write(join(folder, 'results.md'), toMarkdown(results))
  if (results.cases.length > 0) await Bun.write(join(folder, 'results.svg'), toSvg(results))
  return folder
}

function summary(results: BenchResults): string {
  const ratios = ratiosOf(results).map(({ title, bestPeer, toPeer, toNginx }) => {
    const peer = toPeer === undefined ? '' : `  ${toPeer.toFixed(2)}x ${bestPeer}`
    const nginx = toNginx === undefined ? '' : `  ${toNginx.toFixed(2)}x nginx`
    return `  ${title.padEnd(52)}${peer}${nginx}`
  })
  const goals = goalsOf(results).map(
    ({ what, wanted, got, met }) => `  ${met ? 'met    ' : 'NOT MET'}  ${what}: ${got}, wanted ${wanted}`,
  )
  return [
    ...(ratios.length === 0 ? [] : ['Ours against the best peer and against nginx:', ...ratios, '']),
    ...(goals.length === 0 ? [] : ['Goals:', ...goals]),
  ].join('\n')
}

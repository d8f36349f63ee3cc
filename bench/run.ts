import { parseArgs } from 'node:util'
import { CASES, type Case, casesByStore } from './cases.ts'
import { installPeers, installTools } from './install.ts'
import { stopPostgres } from './postgres.ts'
import { type CaseResult, describeEnvironment, toTable } from './report.ts'
import { runStore, type Session, takesPart } from './rounds.ts'
import { inRunFolder } from './run-folder.ts'
import type { Target } from './target.ts'
import { nginx } from './targets/nginx.ts'
import { ours, oursOnPostgres } from './targets/ours.ts'
import { buildNodePeers, elysia, fastify, hono, honoOnPostgres } from './targets/peers.ts'

/** In the order of their turns. */
const TARGETS: readonly Target[] = [ours, hono, elysia, fastify, nginx, oursOnPostgres, honoOnPostgres]

const HELP = `bun bench/run.ts [--quick] [--only CASE,...] [--targets TARGET,...]

  --quick    one short round of each case, five minutes; without it, about 15
  --only     only these cases: ${CASES.map(({ name }) => name).join(', ')}
  --targets  only these targets: ${TARGETS.map(({ name }) => name).join(', ')}

Prints a table of the cases on standard output, and its progress on standard error.`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    targets: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(HELP)
else await inRunFolder(bench)

async function bench(folder: string): Promise<void> {
  const targets = selected('--targets', values.targets, TARGETS)
  const cases = selected('--only', values.only, CASES).filter((loadCase) =>
    targets.some((target) => takesPart(target, loadCase)),
  )
  if (cases.length === 0) throw new Error('none of these targets takes part in these cases; see --help')
  await installTools()
  await installPeers()
  await buildNodePeers()
  const began = performance.now()
  const elapsed = () => Math.round((performance.now() - began) / 1000)
  const log = (step: string) => console.error(`${String(elapsed()).padStart(5)} s  ${step}`)
  const results = await measureAll({ folder, quick: values.quick, log }, cases, targets)
  console.log(`${toTable(results)}\n\n${await describeEnvironment()}. The run took ${elapsed()} s.`)
}

async function measureAll(
  session: Session,
  cases: readonly Case[],
  targets: readonly Target[],
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const casesOfStore of casesByStore(cases)) {
    results.push(...(await runStore(session, casesOfStore, targets)))
    await stopPostgres()
  }
  return cases.flatMap((wanted) => results.filter(({ loadCase }) => loadCase === wanted))
}

function selected<T extends { readonly name: string }>(
  flag: string,
  text: string | undefined,
  known: readonly T[],
): readonly T[] {
  if (text === undefined) return known
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => known.every((each) => each.name !== name))
  if (unknown === undefined) return known.filter(({ name }) => names.includes(name))
  throw new Error(
    `${flag} does not accept "${unknown}"; it accepts ${known.map(({ name }) => name).join(', ')}`,
  )
}

import { parseArgs } from 'node:util'
import { CASES, type Case, FULL, type Pace, QUICK, takesPart } from './cases.ts'
import { FEW_INSTANCE_ROWS, INSTANCE_ROWS, type InstanceRow } from './instances.ts'
import type { SharedTarget, Target } from './target.ts'
import { bareBun, nginx } from './targets/ceilings.ts'
import { honoOnPostgres, oursOnPostgres } from './targets/on-postgres.ts'
import { ours } from './targets/ours.ts'
import { elysia, fastify, hono } from './targets/peers.ts'

const SHARED_TARGETS: readonly SharedTarget[] = [oursOnPostgres, honoOnPostgres]
/** In the order of their turns. */
const TARGETS: readonly Target[] = [ours, hono, elysia, fastify, nginx, bareBun, ...SHARED_TARGETS]
const TARGET_NAMES = TARGETS.map(({ name }) => name)
/** `search` stands for all searches. */
const CASE_NAMES = [...CASES.map(({ name }) => name), 'search', 'instances', 'growth', 'slow-disk']

export const HELP = `bun bench/run.ts [--quick] [--only CASE,...] [--targets TARGET,...]
bun bench/run.ts --tables

  --quick    one short round of most cases, three minutes; without it, about 17
  --only     only these cases: ${CASE_NAMES.join(', ')}
  --targets  only these targets: ${TARGET_NAMES.join(', ')}
  --tables   print the tables of README.md and docs/performance.md from bench/results/results.json

Targets with "postgres" in their names run the cases with "postgres" in theirs, and instances; the other targets run all
other cases. A full run writes to bench/results/, every other run to bench/data/results/.`

export type Command = { type: 'help' } | { type: 'tables' } | { type: 'run'; options: Options }

export interface Options {
  readonly pace: Pace
  readonly cases: readonly Case[]
  readonly targets: readonly Target[]
  readonly instanceRows: readonly InstanceRow[]
  readonly sharedTargets: readonly SharedTarget[]
  readonly growth: boolean
  readonly slowDisk: boolean
  /** Only a full run replaces the published results. */
  readonly publish: boolean
}

export function readCommand(args: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      targets: { type: 'string' },
      tables: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return { type: 'help' }
  if (values.tables) return { type: 'tables' }
  const isSelection = values.only !== undefined
  const caseNames = selected('--only', values.only, CASE_NAMES)
  const targetNames = selected('--targets', values.targets, TARGET_NAMES)
  const targets = TARGETS.filter(({ name }) => targetNames.includes(name))
  const sharedTargets = SHARED_TARGETS.filter(({ name }) => targetNames.includes(name))
  const rows = values.quick && !isSelection ? FEW_INSTANCE_ROWS : INSTANCE_ROWS
  const cases = casesNamed(caseNames)
    .filter((loadCase) => targets.some((target) => takesPart(target, loadCase)))
    .filter(({ onlyInFull }) => !values.quick || isSelection || onlyInFull === undefined)
  const options: Options = {
    pace: values.quick ? QUICK : FULL,
    cases: values.quick ? cases.map(shortened) : cases,
    targets,
    instanceRows: caseNames.includes('instances') && sharedTargets.length > 0 ? rows : [],
    sharedTargets,
    growth: caseNames.includes('growth') && targets.includes(ours),
    slowDisk: caseNames.includes('slow-disk') && targets.includes(ours),
    publish: !values.quick && !isSelection && values.targets === undefined,
  }
  if (cases.length === 0 && options.instanceRows.length === 0 && !options.growth && !options.slowDisk) {
    throw new Error(`none of ${targetNames.join(', ')} takes part in ${caseNames.join(', ')}; see --help`)
  }
  return { type: 'run', options }
}

/** With the cases that goals compare them with. */
function casesNamed(names: readonly string[]): readonly Case[] {
  const compared = CASES.filter(({ name }) => names.includes(name)).map(({ comparedWith }) => comparedWith)
  return CASES.filter(
    ({ name, load }) =>
      names.includes(name) || compared.includes(name) || (load.kind === 'search' && names.includes('search')),
  )
}

function shortened(loadCase: Case): Case {
  return { ...loadCase, rounds: 1, seconds: Math.ceil(loadCase.seconds / 2) }
}

function selected(flag: string, text: string | undefined, known: readonly string[]): readonly string[] {
  if (text === undefined) return known
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  throw new Error(`${flag} does not accept "${unknown}"; it accepts ${known.join(', ')}`)
}

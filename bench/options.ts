import { parseArgs } from 'node:util'
import { CASES, type Case, takesPart } from './cases.ts'
import {
  FEW_INSTANCE_ROWS,
  INSTANCE_ORDERS,
  INSTANCE_ROWS,
  INSTANCES,
  type InstanceRow,
} from './instance-rows.ts'
import { FULL, type Pace, QUICK } from './pace.ts'
import type { SharedTarget, Target } from './target.ts'
import { SHARED_TARGETS } from './targets/on-postgres.ts'
import { TARGETS } from './targets.ts'

export interface Options {
  readonly pace: Pace
  readonly cases: readonly Case[]
  readonly targets: readonly Target[]
  readonly growth: boolean
  readonly slowDisk: boolean
  readonly instances: { readonly rows: readonly InstanceRow[]; readonly targets: readonly SharedTarget[] }
  /** A quick run, or one without some cases or targets, must not replace the published results. */
  readonly publish: boolean
}

const GROWTH = 'growth'
const SLOW_DISK = 'slow-disk'
/** All searches, each of which has a name of its own. */
const SEARCH = 'search'
const NAMES = [...CASES.map(({ name }) => name), SEARCH, INSTANCES, INSTANCE_ORDERS, GROWTH, SLOW_DISK]

export const HELP = `bun bench/run.ts [--quick] [--only CASE,...] [--targets TARGET,...]

  --quick    one short round of most, under three minutes; without it, about 22
  --only     some cases alone: ${NAMES.join(', ')}
  --targets  some targets alone: ${TARGETS.map(({ name }) => name).join(', ')}

Cases and targets whose names have "postgres" in them go together, with instances, and the others do.
Results go to bench/results/; those of a quick run, or of some cases or targets alone, to bench/data/results/.`

/** Undefined when help was asked for. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      targets: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const pace = values.quick ? QUICK : FULL
  const named = chosen('--only', values.only, NAMES)
  const beside = CASES.flatMap((one) => (named.includes(one.name) ? (one.beside ?? []) : []))
  const searches = CASES.filter(({ load }) => load.kind === 'search' && named.includes(SEARCH))
  const chosenCases = [...named, ...beside, ...searches.map(({ name }) => name)]
  const chosenTargets = chosen(
    '--targets',
    values.targets,
    TARGETS.map(({ name }) => name),
  )
  // A case that is named is run, also one that a quick run would leave out.
  const asked = CASES.filter(({ name }) => chosenCases.includes(name)).map(({ onlyInFull, ...rest }) =>
    values.only === undefined && onlyInFull ? { ...rest, onlyInFull } : rest,
  )
  const targets = TARGETS.filter(({ name }) => chosenTargets.includes(name))
  const cases = asked.filter((loadCase) => targets.some((target) => takesPart(target, loadCase)))
  const growth = chosenCases.includes(GROWTH) && chosenTargets.includes('ours')
  const slowDisk = chosenCases.includes(SLOW_DISK) && chosenTargets.includes('ours')
  const shared = SHARED_TARGETS.filter(({ name }) => chosenTargets.includes(name))
  const all = values.quick && values.only === undefined ? FEW_INSTANCE_ROWS : INSTANCE_ROWS
  const rows = chosenCases.includes(INSTANCES) ? all : all.filter(({ load }) => load !== 'updates')
  const hasInstances =
    [INSTANCES, INSTANCE_ORDERS].some((name) => chosenCases.includes(name)) && shared.length > 0
  if (cases.length === 0 && !growth && !slowDisk && !hasInstances) {
    throw new Error(`none of ${chosenTargets.join(', ')} takes part in ${chosenCases.join(', ')}; see --help`)
  }
  return {
    pace,
    cases: pace.cases(cases),
    targets,
    growth,
    slowDisk,
    instances: { rows: hasInstances ? rows : [], targets: shared },
    publish: !values.quick && values.only === undefined && values.targets === undefined,
  }
}

function chosen(flag: string, text: string | undefined, known: readonly string[]): readonly string[] {
  if (text === undefined) return known
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(`${flag} does not know "${unknown}"; there are ${known.join(', ')}`)
  return names
}

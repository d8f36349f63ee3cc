import type { Store } from '../../src/store/store.ts'
import { historyOf } from '../support/whole-store.ts'
import { KeyedLoad } from './keyed-load.ts'
import { fromOperations, type LogRow, logContradictions } from './log-check.ts'
import { contradictions, type Operation } from './register-check.ts'
import { type Instance, type Recorded, record, type WorkloadOptions } from './workload.ts'

export interface BothLoads {
  readonly recorded: Recorded
  readonly keyed: KeyedLoad
}

/** The minimum even on a slow machine: with fewer, some kinds might not occur at all. */
const LEAST_KEYED = 100

/**
 * Plain updates and reads, together with adjustments and updates that are repeated with their keys, on the same
 * pets.
 */
export async function recordBoth(
  instances: readonly Instance[],
  options: WorkloadOptions & { readonly keyedCallers: number },
): Promise<BothLoads> {
  const { keyedCallers: callers, random = Math.random } = options
  const keyed = new KeyedLoad({ ...options, callers, random })
  const addresses = instances.map(({ address }) => address)
  let isOver = false
  const [recorded] = await Promise.all([
    record(instances, options).finally(() => {
      isOver = true
    }),
    keyed.run(addresses, () => isOver && keyed.counts.made >= LEAST_KEYED),
  ])
  await keyed.settle(addresses)
  return { recorded, keyed }
}

/** All contradictions between the responses of both loads and the content of the store. */
export async function violationsOf(
  { recorded, keyed }: BothLoads,
  store: Pick<Store, 'listHistoryPage'>,
  initial: ReadonlyMap<number, number>,
  more: readonly Operation[] = [],
): Promise<string[]> {
  const logs = new Map<number, readonly LogRow[]>()
  for (const petId of initial.keys()) logs.set(petId, await historyOf(store, BigInt(petId)))
  const plain = [...recorded.operations, ...more].filter(({ petId }) => initial.has(petId))
  const { made, unsure } = fromOperations(plain)
  return [
    ...contradictions([...plain, ...keyed.operations], initial),
    ...logContradictions({
      logs,
      initial,
      unsure,
      listings: recorded.listings,
      made: [...made, ...keyed.made],
    }),
    ...keyed.surprises,
  ]
}

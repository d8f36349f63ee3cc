import { type EntryState, MAX_QUANTITY, type QuantityChange, type QuantityOutcome } from './inventory.ts'

/** A change that is made: it is written to the stock and leaves a row in the log. */
export interface MadeChange {
  readonly change: QuantityChange
  readonly before: number
  readonly status: EntryState['status']
  /** The index of the pet's change before this one among those that are made; null where it is the first. */
  readonly follows: number | null
  /** Whether it is the pet's last one: what the stock then is. */
  isLast: boolean
}

export interface Decision {
  /** In the order of the changes that were asked for. */
  readonly outcomes: QuantityOutcome[]
  /** Those of them that really change a quantity, in the same order. */
  readonly made: readonly MadeChange[]
}

/**
 * Decides on changes that are committed together, one after the other: what a change finds is what those before it have
 * left. `found` are the entries of all pets that are named, as they are under the lock of the commit. Nothing else
 * knows what is allowed.
 */
export function decide(changes: readonly QuantityChange[], found: ReadonlyMap<bigint, EntryState>): Decision {
  const latest = new Map<bigint, number>()
  const made: MadeChange[] = []
  const outcomes = changes.map((change): QuantityOutcome => {
    const { petId, quantity } = change
    mustBeQuantity(quantity)
    const entry = found.get(petId)
    if (entry === undefined) return 'unknown_pet'
    const { status } = entry
    const follows = latest.get(petId) ?? null
    const earlier = follows === null ? undefined : made[follows]
    const before = earlier === undefined ? entry.quantity : earlier.change.quantity
    if (!isAllowed(change, before, status)) return { conflict: { petId, quantity: before, status } }
    if (before !== quantity) {
      if (earlier !== undefined) earlier.isLast = false
      latest.set(petId, made.length)
      made.push({ change, before, status, follows, isLast: true })
    }
    return { petId, quantity, status }
  })
  return { outcomes, made }
}

/** Whether a change may be made to an entry that is in this state. */
function isAllowed({ onlyIf }: QuantityChange, quantity: number, status: EntryState['status']): boolean {
  return (
    onlyIf === undefined || onlyIf.some((state) => state.quantity === quantity && state.status === status)
  )
}

/** Callers are told long before this: what comes so far without being one is a bug. */
function mustBeQuantity(quantity: number): void {
  if (!(Number.isInteger(quantity) && quantity >= 0 && quantity <= MAX_QUANTITY)) {
    throw new RangeError(`${quantity} is no quantity`)
  }
}

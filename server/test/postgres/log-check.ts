import type { MadeRequest } from './keyed-load.ts'
import type { Operation } from './register-check.ts'

/** A row of a pet's log. */
export interface LogRow {
  readonly before: number
  readonly after: number
}

/** All quantities in one list. */
export interface Listing {
  readonly quantities: ReadonlyMap<number, number>
}

export interface Witnessed {
  /** By pet, oldest first. No pet has the same quantity twice. */
  readonly logs: ReadonlyMap<number, readonly LogRow[]>
  readonly initial: ReadonlyMap<number, number>
  readonly made: readonly MadeRequest[]
  /** By pet: requests without a response, which may or may not have been made. */
  readonly unsure: ReadonlyMap<number, ReadonlySet<number>>
  readonly listings: readonly Listing[]
}

/**
 * Contradictions to these guarantees, by the order of the logs: every request was made once and completely, at
 * one moment within its time, and every list is one snapshot. `contradictions` checks each pet as a register;
 * this checks relations between pets.
 */
export function logContradictions(witnessed: Witnessed): string[] {
  const pets = new Map([...witnessed.logs].map(([petId, rows]) => [petId, new PetLog(petId, rows)]))
  const found: string[] = []
  for (const request of witnessed.made) {
    for (const { petId, before, after } of request.changes) {
      const problem = pets.get(petId)?.claim(request, before, after)
      if (problem !== undefined) found.push(problem)
    }
  }
  for (const pet of pets.values()) {
    const initial = witnessed.initial.get(pet.petId) ?? 0
    found.push(...pet.problems(initial, witnessed.unsure.get(pet.petId)))
  }
  for (const pair of pairsOf([...pets.values()])) found.push(...torn(pair, witnessed))
  for (const listing of witnessed.listings) found.push(...notOfOneMoment(listing, pets))
  return found
}

/** One pet's log, and which request wrote which row. */
class PetLog {
  readonly petId: number
  readonly rows: readonly LogRow[]
  readonly #indexes: ReadonlyMap<number, number>
  readonly #makers: (MadeRequest | undefined)[]

  constructor(petId: number, rows: readonly LogRow[]) {
    this.petId = petId
    this.rows = rows
    this.#indexes = new Map(rows.map(({ after }, index) => [after, index]))
    this.#makers = rows.map(() => undefined)
  }

  /** The index of the row after which a pet has this quantity; -1 before the first one. */
  indexOf(quantity: number): number {
    return this.#indexes.get(quantity) ?? -1
  }

  makerOf(index: number): MadeRequest | undefined {
    return this.#makers[index]
  }

  claim(request: MadeRequest, before: number | undefined, after: number): string | undefined {
    const index = this.#indexes.get(after)
    if (index === undefined) return `pet ${this.petId}: ${after} was acknowledged and is not in the log`
    const row = this.rows[index]
    this.#makers[index] = request
    return before === undefined || row?.before === before
      ? undefined
      : `pet ${this.petId}: ${after} was made on ${row?.before}, and answered as if on ${before}`
  }

  problems(initial: number, unsure: ReadonlySet<number> = new Set()): string[] {
    const found: string[] = []
    let earliestEnd = Number.POSITIVE_INFINITY
    for (let index = this.rows.length - 1; index >= 0; index--) {
      const { before, after } = this.rows[index] ?? { before: 0, after: 0 }
      const maker = this.#makers[index]
      const expected = this.rows[index - 1]?.after ?? initial
      if (before !== expected) found.push(`${before} → ${after} follows on ${expected}`)
      if (this.#indexes.get(after) !== index) found.push(`${after} was made twice`)
      else if (maker === undefined && !unsure.has(after)) found.push(`${after} was made and never answered`)
      if (maker === undefined) continue
      if (maker.began > earliestEnd) found.push(`${after} stands before what was answered before it was sent`)
      earliestEnd = Math.min(earliestEnd, maker.ended)
    }
    return found.map((text) => `pet ${this.petId}: ${text}`)
  }
}

type Pair = readonly [PetLog, PetLog]

function pairsOf(pets: readonly PetLog[]): Pair[] {
  return pets.flatMap((one, index) => pets.slice(index + 1).map((other): Pair => [one, other]))
}

/** Requests that changed both pets did so in the same order, and a list shows the same number of them for both. */
function torn([one, other]: Pair, { made, listings }: Witnessed): string[] {
  const found: string[] = []
  const common = made
    .flatMap(({ changes }) => {
      const mine = changes.find(({ petId }) => petId === one.petId)
      const others = changes.find(({ petId }) => petId === other.petId)
      return mine === undefined || others === undefined
        ? []
        : { here: one.indexOf(mine.after), there: other.indexOf(others.after) }
    })
    .sort((a, b) => a.here - b.here)
  for (const [index, { there }] of common.entries()) {
    if (there < (common[index - 1]?.there ?? -1)) {
      found.push(`pets ${one.petId} and ${other.petId}: adjustments of both came in different orders`)
    }
  }
  const [here, there] = [
    countsUpTo(
      one.rows.length,
      common.map((place) => place.here),
    ),
    countsUpTo(
      other.rows.length,
      common.map((place) => place.there),
    ),
  ]
  for (const { quantities } of listings) {
    const [mine, others] = [quantities.get(one.petId), quantities.get(other.petId)]
    if (mine === undefined || others === undefined) continue
    const [seenHere, seenThere] = [here[one.indexOf(mine) + 1], there[other.indexOf(others) + 1]]
    if (seenHere !== seenThere) {
      found.push(
        `a list shows ${mine} of pet ${one.petId} and ${others} of pet ${other.petId}: ` +
          `${seenHere} and ${seenThere} of the adjustments of both`,
      )
    }
  }
  return found
}

/** How many of these indexes are below 0, 1, 2, … */
function countsUpTo(length: number, indexes: readonly number[]): number[] {
  const marked = new Set(indexes)
  const counts = [0]
  for (let index = 0; index < length; index++) counts.push((counts[index] ?? 0) + (marked.has(index) ? 1 : 0))
  return counts
}

/**
 * A list is not a snapshot if it shows a change that was sent after a change that it does not show was
 * acknowledged.
 */
function notOfOneMoment({ quantities }: Listing, pets: ReadonlyMap<number, PetLog>): string[] {
  let latestBegin = Number.NEGATIVE_INFINITY
  let earliestEnd = Number.POSITIVE_INFINITY
  for (const [petId, quantity] of quantities) {
    const pet = pets.get(petId)
    if (pet === undefined) continue
    const index = pet.indexOf(quantity)
    latestBegin = Math.max(latestBegin, pet.makerOf(index)?.began ?? latestBegin)
    earliestEnd = Math.min(earliestEnd, pet.makerOf(index + 1)?.ended ?? earliestEnd)
  }
  return earliestEnd < latestBegin
    ? [`a list shows ${[...quantities.values()]}, which never stood at once`]
    : []
}

/** Individually recorded writes as requests, and those whose outcome is unknown. */
export function fromOperations(operations: readonly Operation[]): Pick<Witnessed, 'made' | 'unsure'> {
  const made: MadeRequest[] = []
  const unsure = new Map<number, Set<number>>()
  for (const { kind, petId, value, began, ended, isUnsure } of operations) {
    if (kind === 'read') continue
    if (isUnsure === true) unsure.set(petId, (unsure.get(petId) ?? new Set()).add(value))
    else made.push({ changes: [{ petId, after: value }], began, ended })
  }
  return { made, unsure }
}

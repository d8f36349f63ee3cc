/** A row of a pet's log. */
export interface LogRow {
  readonly before: number
  readonly after: number
}

export interface PetQuantity {
  readonly petId: number
  readonly quantity: number
  /** The quantity before a write, if its response implies it. */
  readonly before?: number
}

/** A request, and the quantities of its pets after it. */
export interface Operation {
  readonly type: 'write' | 'read'
  readonly pets: readonly PetQuantity[]
  readonly began: number
  readonly ended: number
  /** Whether a write may not have been made. If it was, then at any time after it began. */
  readonly isUnsure?: boolean
}

/** An operation whose effect is in the log, with the position of each of its pets. Position 0 is before the first row. */
interface Placed extends Operation {
  readonly positions: ReadonlyMap<number, number>
}

/**
 * Contradictions to this guarantee: every operation happened at one moment between its beginning and its end, for all of its
 * pets at once, and the log has every acknowledged write once, and nothing else. No pet has the same quantity twice, so a
 * quantity identifies its position in the log.
 */
export function contradictions(
  operations: readonly Operation[],
  logs: ReadonlyMap<number, readonly LogRow[]>,
): string[] {
  const pets = new Map([...logs].map(([petId, rows]) => [petId, new PetLog(petId, rows)]))
  const found: string[] = []
  const placed = operations.flatMap((operation) => place(operation, pets, found))
  for (const pet of pets.values()) found.push(...pet.problems(), ...outOfTime(pet.petId, placed))
  const lists = placed
    .filter(({ type, pets: { length } }) => type === 'read' && length > 1)
    .sort((one, other) => sumOf(one) - sumOf(other))
  const adjustments = placed.filter(({ type, pets: { length } }) => type === 'write' && length > 1)
  return [
    ...found,
    ...lists.flatMap((list) => notOfOneMoment(list, pets)),
    ...contradictingLists(lists),
    ...halfShown(adjustments, lists),
    ...inDifferentOrders(adjustments, [...logs.keys()]),
  ]
}

function place(operation: Operation, pets: ReadonlyMap<number, PetLog>, found: string[]): Placed[] {
  const { type, isUnsure = false } = operation
  const positions = new Map<number, number>()
  for (const { petId, quantity, before } of operation.pets) {
    const pet = pets.get(petId)
    const position = pet?.positionOf(quantity)
    if (pet === undefined || position === undefined) {
      if (!isUnsure) found.push(`pet ${petId}: ${quantity} was answered to a ${type} and is not in the log`)
      continue
    }
    positions.set(petId, position)
    const row = pet.rows[position - 1]
    if (before !== undefined && row?.before !== before)
      found.push(`pet ${petId}: ${quantity} was made on ${row?.before}, and answered as if on ${before}`)
  }
  if (positions.size === 0) return []
  if (positions.size < operation.pets.length) found.push(`${JSON.stringify(operation)} is in the log in part`)
  const placed = { ...operation, positions, ended: isUnsure ? Number.POSITIVE_INFINITY : operation.ended }
  if (type === 'write') {
    for (const [petId, position] of positions) pets.get(petId)?.makers.set(position, placed)
  }
  return [placed]
}

class PetLog {
  readonly petId: number
  readonly rows: readonly LogRow[]
  /** The write that made each position. */
  readonly makers = new Map<number, Placed>()
  readonly #positions: Map<number, number>

  constructor(petId: number, rows: readonly LogRow[]) {
    this.petId = petId
    this.rows = rows
    this.#positions = new Map(rows.map(({ after }, index) => [after, index + 1]))
    this.#positions.set(rows[0]?.before ?? 0, 0)
  }

  positionOf(quantity: number): number | undefined {
    return this.#positions.get(quantity)
  }

  problems(): string[] {
    return this.rows.flatMap(({ before, after }, index) => {
      const earlier = this.rows[index - 1]?.after ?? before
      const found: string[] = []
      if (before !== earlier) found.push(`pet ${this.petId}: ${before} → ${after} follows on ${earlier}`)
      if (this.positionOf(after) !== index + 1) found.push(`pet ${this.petId}: ${after} was made twice`)
      else if (!this.makers.has(index + 1)) found.push(`pet ${this.petId}: ${after} was never requested`)
      return found
    })
  }
}

/** An operation that began after another one had ended has a later position, or the same one if it is a read. */
function outOfTime(petId: number, placed: readonly Placed[]): string[] {
  const own = placed.filter(({ positions }) => positions.has(petId))
  const position = (operation: Placed | undefined) => operation?.positions.get(petId) ?? 0
  const byEnd = own.toSorted((one, other) => one.ended - other.ended)
  let endedCount = 0
  let latest = -1
  return own
    .toSorted((one, other) => one.began - other.began)
    .flatMap((operation) => {
      for (; (byEnd[endedCount]?.ended ?? operation.began) < operation.began; endedCount++)
        latest = Math.max(latest, position(byEnd[endedCount]))
      const earliest = operation.type === 'write' ? latest + 1 : latest
      return position(operation) < earliest
        ? [
            `pet ${petId}: a ${operation.type} at position ${position(operation)} began after position ${latest}`,
          ]
        : []
    })
}

/** A list shows a write that began after a write ended that it does not show. */
function notOfOneMoment({ positions }: Placed, pets: ReadonlyMap<number, PetLog>): string[] {
  const makers = [...positions].map(([petId, position]) => ({
    shown: pets.get(petId)?.makers.get(position),
    next: pets.get(petId)?.makers.get(position + 1),
  }))
  const latestBegin = Math.max(...makers.map(({ shown }) => shown?.began ?? Number.NEGATIVE_INFINITY))
  const earliestEnd = Math.min(...makers.map(({ next }) => next?.ended ?? Number.POSITIVE_INFINITY))
  return earliestEnd < latestBegin ? [`a list shows ${shown(positions)}, which never stood at once`] : []
}

function contradictingLists(lists: readonly Placed[]): string[] {
  return lists.flatMap(({ positions }, index) => {
    const earlier = lists[index - 1]?.positions ?? positions
    const isLater = [...positions].every(([petId, position]) => position >= (earlier.get(petId) ?? 0))
    return isLater ? [] : [`lists show ${shown(earlier)} and ${shown(positions)}`]
  })
}

/** The lists are in their order. */
function halfShown(adjustments: readonly Placed[], lists: readonly Placed[]): string[] {
  return adjustments.flatMap(({ positions }) => {
    const firstLists = [...positions].map(([petId, position]) =>
      lists.findIndex((list) => (list.positions.get(petId) ?? 0) >= position),
    )
    return new Set(firstLists).size === 1 ? [] : [`a list shows the adjustment ${shown(positions)} in part`]
  })
}

function inDifferentOrders(adjustments: readonly Placed[], petIds: readonly number[]): string[] {
  return petIds.flatMap((one, index) =>
    petIds.slice(index + 1).flatMap((other) => {
      const inOrder = adjustments
        .flatMap(({ positions }) => {
          const [first, second] = [positions.get(one), positions.get(other)]
          return first === undefined || second === undefined ? [] : [{ first, second }]
        })
        .sort((a, b) => a.first - b.first)
      const isSorted = inOrder.every(({ second }, at) => second > (inOrder[at - 1]?.second ?? 0))
      return isSorted ? [] : [`pets ${one} and ${other}: adjustments of both came in different orders`]
    }),
  )
}

function sumOf({ positions }: Placed): number {
  return positions.values().reduce((sum, position) => sum + position, 0)
}

function shown(positions: ReadonlyMap<number, number>): string {
  return [...positions].map(([petId, position]) => `pet ${petId} at position ${position}`).join(', ')
}

/** One update or read of one pet, with the times of its request and response. */
export interface Operation {
  readonly kind: 'write' | 'read'
  readonly petId: number
  /** Each written value is unique, so a read identifies its write. */
  readonly value: number
  readonly began: number
  readonly ended: number
  /** An unacknowledged write may have happened at any time after it began. */
  readonly isUnsure?: boolean
}

/** All operations on one value: the write, and the reads that saw it. */
interface Cluster {
  readonly value: number
  write: Operation | undefined
  /** The earliest end and the latest beginning of any of them. */
  firstEnd: number
  lastBegin: number
}

/**
 * Contradictions to the guarantee that each pet is one register, changed and read at some moment between the
 * beginning and the end of each operation. For unique values, Gibbons and Korach ("Testing shared memories",
 * 1997) reduce it to intervals: a value certainly stood from the first end to the last beginning among its
 * operations. No two such intervals may overlap, and no value can have come and gone within the interval of
 * another.
 */
export function contradictions(
  operations: readonly Operation[],
  initial: ReadonlyMap<number, number>,
): string[] {
  const found: string[] = []
  for (const [petId, own] of Map.groupBy(operations, (operation) => operation.petId)) {
    const start: Operation = {
      kind: 'write',
      petId,
      value: initial.get(petId) ?? 0,
      began: Number.NEGATIVE_INFINITY,
      ended: Number.NEGATIVE_INFINITY,
    }
    found.push(...contradictionsOf(petId, [start, ...own]))
  }
  return found
}

function contradictionsOf(petId: number, operations: readonly Operation[]): string[] {
  const found: string[] = []
  const clusters = clustersOf(operations)
  for (const { value, write, firstEnd } of clusters) {
    if (write === undefined) found.push(`pet ${petId}: ${value} was read and never written`)
    else if (firstEnd < write.began) found.push(`pet ${petId}: ${value} was read before it was written`)
  }
  const certain = clusters
    .filter(({ firstEnd, lastBegin }) => firstEnd < lastBegin)
    .sort((a, b) => a.firstEnd - b.firstEnd)
  for (const [index, cluster] of certain.entries()) {
    const next = certain[index + 1]
    if (next !== undefined && next.firstEnd < cluster.lastBegin) {
      found.push(
        `pet ${petId}: ${cluster.value} stood until ${cluster.lastBegin}, and ${next.value} from ${next.firstEnd}`,
      )
    }
  }
  const fleeting = clusters.filter(({ firstEnd, lastBegin }) => firstEnd >= lastBegin)
  for (const { value, firstEnd, lastBegin } of fleeting) {
    const around = lastAtOrBefore(certain, lastBegin)
    if (around !== undefined && firstEnd < around.lastBegin) {
      found.push(`pet ${petId}: ${value} was written and gone while ${around.value} stood`)
    }
  }
  return found
}

function clustersOf(operations: readonly Operation[]): Cluster[] {
  const wasRead = new Set(operations.filter(({ kind }) => kind === 'read').map(({ value }) => value))
  const clusters = new Map<number, Cluster>()
  for (const operation of operations) {
    const { value, kind, began, isUnsure } = operation
    // Its outcome is unknown.
    if (isUnsure === true && !wasRead.has(value)) continue
    const ended = isUnsure === true ? Number.POSITIVE_INFINITY : operation.ended
    let cluster = clusters.get(value)
    if (cluster === undefined) {
      cluster = { value, write: undefined, firstEnd: ended, lastBegin: began }
      clusters.set(value, cluster)
    }
    if (kind === 'write') cluster.write = operation
    cluster.firstEnd = Math.min(cluster.firstEnd, ended)
    cluster.lastBegin = Math.max(cluster.lastBegin, began)
  }
  return [...clusters.values()]
}

/** The last cluster that began strictly before the time, by binary search. */
function lastAtOrBefore(sorted: readonly Cluster[], time: number): Cluster | undefined {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle]?.firstEnd ?? 0) < time) low = middle + 1
    else high = middle
  }
  return sorted[low - 1]
}

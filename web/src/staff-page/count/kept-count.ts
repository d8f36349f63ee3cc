import { type KeptWork, keptCount, keptFields, keptId, keptRows } from '../data/kept-work.ts'
import type { Batch, RowChange } from '../data/stock/adjustment-batch.ts'
import type { Scope } from './scope.ts'

/** How many of a pet somebody has counted. */
export interface CountEntry {
  readonly quantity: number
  /** What the page showed when its counting began: what has changed since is not overwritten. */
  readonly expected: number
  /** The stock says so by now. */
  readonly isApplied: boolean
}

/** An adjustment that was made, and what it did. */
export interface AppliedBatch {
  readonly at: number
  readonly pets: number
  /** How many of them had another quantity before. */
  readonly corrected: number
  /** By how much, all of them together. */
  readonly difference: number
}

export interface CountHead {
  readonly scope: Scope
  readonly startedAt: number
  readonly reference: string
  /** From before it is sent until an answer has come. */
  readonly sent: Batch | undefined
  readonly applied: readonly AppliedBatch[]
}

const HEAD = 'head'
/** A count of a whole store is large: each scan writes one part of it. */
const PARTS = 64n

/** A count as the browser keeps it, some of its entries in each part. */
export class KeptCount {
  readonly #kept: KeptWork

  constructor(kept: KeptWork) {
    this.#kept = kept
  }

  readHead(): CountHead | undefined {
    const { scope, startedAt, reference, sent, applied } = keptFields(this.#kept.read(HEAD))
    const known = readScope(scope)
    if (known === undefined) return undefined
    return {
      scope: known,
      startedAt: keptCount(startedAt) ?? 0,
      reference: typeof reference === 'string' ? reference : '',
      sent: readBatch(sent),
      applied: keptRows(applied).map(([at, pets, corrected, difference]) => ({
        at: keptCount(at) ?? 0,
        pets: keptCount(pets) ?? 0,
        corrected: keptCount(corrected) ?? 0,
        difference: Number.isSafeInteger(difference) ? Number(difference) : 0,
      })),
    }
  }

  /** False where the browser has no room for it. */
  writeHead({ scope, startedAt, reference, sent, applied }: CountHead): boolean {
    const isCategory = scope.kind === 'category'
    return this.#kept.write(HEAD, {
      scope: isCategory ? { ...scope, categoryId: String(scope.categoryId) } : scope,
      ...{ startedAt, reference, sent: sent && batchToKeep(sent) },
      applied: applied.map(({ at, pets, corrected, difference }) => [at, pets, corrected, difference]),
    })
  }

  readEntries(): Map<bigint, CountEntry> {
    const entries = new Map<bigint, CountEntry>()
    for (let part = 0n; part < PARTS; part++) {
      for (const [id, counted, seen, isApplied] of keptRows(this.#kept.read(String(part)))) {
        const [petId, quantity, expected] = [keptId(id), keptCount(counted), keptCount(seen)]
        if (petId === undefined || quantity === undefined || expected === undefined) continue
        entries.set(petId, { quantity, expected, isApplied: isApplied === 1 })
      }
    }
    return entries
  }

  /** Writes the parts that these pets are in. False where the browser has no room for them. */
  writeEntries(entries: ReadonlyMap<bigint, CountEntry>, petIds: Iterable<bigint>): boolean {
    const changed = new Set(Array.from(petIds, partOf))
    const rows = new Map(Array.from(changed, (part) => [part, [] as unknown[]]))
    for (const [petId, { quantity, expected, isApplied }] of entries) {
      rows.get(partOf(petId))?.push([String(petId), quantity, expected, isApplied ? 1 : 0])
    }
    return Array.from(rows)
      .map(([part, kept]) => this.#kept.write(String(part), kept.length === 0 ? undefined : kept))
      .every((isKept) => isKept)
  }

  clear(): void {
    this.#kept.write(HEAD, undefined)
    for (let part = 0n; part < PARTS; part++) this.#kept.write(String(part), undefined)
  }
}

function partOf(petId: bigint): bigint {
  return ((petId % PARTS) + PARTS) % PARTS
}

function readScope(value: unknown): Scope | undefined {
  const { kind, categoryId, name, query } = keptFields(value)
  if (kind === 'all') return { kind }
  if (kind === 'search' && typeof query === 'string') return { kind, query }
  const id = keptId(categoryId)
  if (kind !== 'category' || id === undefined || typeof name !== 'string') return undefined
  return { kind, categoryId: id, name }
}

function batchToKeep({ changes, purpose: { reference }, idempotencyKey, madeAt }: Batch): unknown {
  const rows = changes.map((change) =>
    'delta' in change ? [] : [String(change.petId), change.quantity, change.expected],
  )
  return { changes: rows, reference, idempotencyKey, madeAt }
}

/** One that is read was sent before, and nobody has seen an answer. */
function readBatch(value: unknown): Batch | undefined {
  const { changes, reference, idempotencyKey, madeAt } = keptFields(value)
  if (typeof idempotencyKey !== 'string' || typeof madeAt !== 'number') return undefined
  const purpose = { reason: 'counted', ...(typeof reference === 'string' ? { reference } : {}) } as const
  const read = keptRows(changes).flatMap(([id, counted, seen]): RowChange[] => {
    const [petId, quantity, expected] = [keptId(id), keptCount(counted), keptCount(seen)]
    if (petId === undefined || quantity === undefined || expected === undefined) return []
    return [{ petId, quantity, expected }]
  })
  return read.length === 0 ? undefined : { changes: read, purpose, idempotencyKey, madeAt, isRepeat: true }
}

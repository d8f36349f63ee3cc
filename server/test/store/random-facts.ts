import { REASONS } from '../../src/core/stock/adjustment.ts'
import { HOUR } from '../../src/core/values/clock.ts'
import type { SqlDatabase } from '../../src/store/sql.ts'

/** A log row. `document` is null for the first row of an adjustment, whose id it is. */
export interface FactRow {
  readonly id: bigint
  readonly kind: 'change' | 'pet' | 'removed'
  readonly petId: bigint
  readonly before: number
  readonly after: number | null
  readonly at: number
  readonly occurredAt: number | null
  readonly keyId: string
  readonly reason: string | null
  readonly delta: number | null
  readonly effect: string | null
  readonly reverses: bigint | null
  readonly document: bigint | null
}

export async function insertFacts(
  database: Pick<SqlDatabase, 'commit'>,
  facts: readonly FactRow[],
): Promise<void> {
  await database.commit(
    facts.map(({ id, document, kind, petId, before, after, at, occurredAt, keyId, ...fact }) => ({
      text: `INSERT INTO log (id, kind, pet_id, before, after, at, occurred_at, key_id, reason, delta, counted, effect, reverses, document, status)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'available')`,
      values: [
        id,
        kind,
        petId,
        before,
        after,
        at,
        occurredAt,
        keyId,
        fact.reason,
        fact.delta,
        fact.delta === null && fact.reverses === null ? (after ?? 0) : null,
        fact.effect,
        fact.reverses,
        document ?? id,
      ],
    })),
  )
}

/** Numbers that TEST_SEED repeats. */
function randomNumbers(seed = Number(Bun.env.TEST_SEED ?? 1)): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Adjustments of one to three lines, recorded in this range in the order of their ids, some of them late, and their reversals. */
export function randomFacts({ since, until }: { since: number; until: number }, count: number): FactRow[] {
  const random = randomNumbers()
  const pick = <Value>(values: readonly Value[]) => values[random(values.length)] as Value
  const facts: FactRow[] = []
  const times = Array.from({ length: count }, () => since + random(until - since)).sort(
    (one, other) => one - other,
  )
  for (const at of times) {
    const id = BigInt(facts.length + 1)
    const first = random(4) === 0 ? pick([undefined, ...facts]) : undefined
    const reversed =
      first?.reverses === null ? facts.filter((fact) => documentOf(fact) === documentOf(first)) : []
    const keyId = pick(['key_a', 'key_b', 'key_c'])
    if (reversed.length > 0) {
      const reason = pick(['correction', 'correction', 'returned'])
      const time = reason === 'correction' ? timeOf(reversed[0] as FactRow) : at
      for (const [index, line] of reversed.entries()) {
        const delta = line.delta === null ? null : -line.delta
        const effect = pick([null, null, 'already_counted'])
        const change = delta === null ? random(7) - 3 : effect === null ? delta : 0
        facts.push({
          id: id + BigInt(index),
          document: id,
          kind: 'change',
          petId: line.petId,
          keyId,
          reason,
          delta,
          effect,
          at,
          occurredAt: time === at ? null : time,
          reverses: documentOf(line),
          before: 50,
          after: 50 + change,
        })
      }
      continue
    }
    const reason = pick([null, ...REASONS])
    const occurredAt = random(3) === 0 ? at - random(48 * HOUR) - 1 : null
    const kind = pick(['change', 'change', 'change', 'change', 'pet', 'removed'] as const)
    const lines = kind === 'change' ? 1 + random(3) : 1
    for (let line = 0; line < lines; line++) {
      const petId = BigInt(1 + random(4))
      const common = {
        id: id + BigInt(line),
        document: id,
        kind,
        petId,
        keyId,
        at,
        occurredAt,
        reverses: null,
      }
      const delta = kind === 'change' && random(3) > 0 ? pick([-3, -2, -1, 1, 4]) : null
      const effect =
        kind === 'change' ? pick([null, null, delta === null ? 'superseded' : 'already_counted']) : null
      const change = effect === null ? (delta ?? random(9) - 4) : 0
      const before = kind === 'pet' ? 0 : 20 + random(10)
      const after = kind === 'removed' ? null : kind === 'pet' ? random(5) : before + change
      facts.push({ ...common, delta, effect, before, after, reason: kind === 'change' ? reason : null })
    }
  }
  return facts
}

function documentOf({ document, id }: FactRow): bigint {
  return document ?? id
}

function timeOf({ occurredAt, at }: FactRow): number {
  return occurredAt ?? at
}

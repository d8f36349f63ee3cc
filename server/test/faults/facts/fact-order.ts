import fc from 'fast-check'
import type { ReversalReason } from '../../../src/core/stock/adjustment.ts'
import type { CommandOf, OutcomeOf } from '../../../src/core/stock/command.ts'
import { DAY, MINUTE } from '../../../src/core/values/clock.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { FactList, reversibleUnits } from './fact-list.ts'

const BY = { keyId: 'key_a' }
const START = Date.UTC(2026, 10, 19, 12)
/** Each sequence happens later than the one before. */
const SEQUENCE_MS = 40 * DAY
const PETS_PER_SEQUENCE = 3
const FIRST_COUNT = 10
/** Few times, so that many facts share a millisecond. The last one is ahead. */
const TIMES = [-29 * DAY, -10 * DAY, -10 * DAY + 1, -DAY, -MINUTE, 0, 4 * MINUTE]

interface Line {
  /** The index of the pet in the sequence. */
  readonly pet: number
  readonly delta?: number
  readonly quantity?: number
}

/** Times are relative to the present of the sequence. Without a time, a step happens now. */
interface PlannedAdjustment {
  readonly time: number | undefined
  readonly lines: readonly Line[]
}

interface PlannedReversal {
  /** The adjustment to reverse: the index among those that were recorded. */
  readonly index: number
  readonly reason: ReversalReason
  readonly time: number | undefined
  /** Of its first line; `undefined` for everything. */
  readonly units: number | undefined
}

/** What a commit records. */
type Step = { readonly adjustments: readonly PlannedAdjustment[] } | { readonly reversal: PlannedReversal }

const time = fc.option(fc.constantFrom(...TIMES), { nil: undefined })
const pet = fc.integer({ min: 0, max: PETS_PER_SEQUENCE - 1 })
const delta = fc.integer({ min: -6, max: 9 }).filter((units) => units !== 0)
const line = fc.oneof<fc.Arbitrary<Line>[]>(
  fc.record({ pet, delta }),
  fc.record({ pet, delta }),
  fc.record({ pet, quantity: fc.nat(20) }),
)
const lines = fc.uniqueArray(line, {
  minLength: 1,
  maxLength: PETS_PER_SEQUENCE,
  selector: (one) => one.pet,
})
const adjustments = fc.array(fc.record({ time, lines }), { minLength: 1, maxLength: 3 })
const reversal = fc.record({
  index: fc.nat(20),
  reason: fc.constantFrom<ReversalReason[]>('correction', 'returned'),
  time,
  units: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
})
const step = fc.oneof<fc.Arbitrary<Step>[]>(fc.record({ adjustments }), fc.record({ reversal }))
const sequence = fc.array(step, { minLength: 1, maxLength: 12, size: 'max' })

interface Counts {
  recorded: number
  refused: number
}

export interface FactOrderOutcome extends Readonly<Counts> {
  readonly sequences: number
  readonly violations: readonly string[]
}

/**
 * Records random counts, movements and reversals in any order of their times, and compares the stock with plain lists of the same
 * facts after each commit.
 */
export async function checkFactOrder(
  url: string,
  { seed, sequences }: { readonly seed: number; readonly sequences: number },
): Promise<FactOrderOutcome> {
  const store = await openStore(url, { tables: 'migrate' })
  const counts = { recorded: 0, refused: 0 }
  let played = 0
  try {
    await store.changeStock([
      { type: 'create_category', category: { id: 1n, name: 'Dogs' }, ...BY, at: START },
    ])
    const property = fc.asyncProperty(sequence, async (steps) => {
      const run = await FactRun.begin(store, counts, played++)
      for (const one of steps) await run.play(one)
    })
    const result = await fc.check(property, { seed, numRuns: sequences })
    const message = fc.defaultReportMessage(result)
    const violations =
      message === undefined ? await store.findDamage() : [`${result.errorInstance}; ${message}`]
    return { ...counts, sequences: result.numRuns, violations }
  } finally {
    await store.close()
  }
}

/** Records one sequence, which is about pets of its own. */
class FactRun {
  readonly #store: Store
  readonly #counts: Counts
  readonly #petIds: readonly bigint[]
  readonly #lists: Map<bigint, FactList>
  readonly #documents: bigint[] = []
  #now: number

  static async begin(store: Store, counts: Counts, number: number): Promise<FactRun> {
    const firstId = BigInt(number * PETS_PER_SEQUENCE + 1)
    const petIds = Array.from({ length: PETS_PER_SEQUENCE }, (_, index) => firstId + BigInt(index))
    const now = START + (number + 1) * SEQUENCE_MS
    const pet = { name: 'Rex', categoryId: 1n, status: 'available', quantity: FIRST_COUNT } as const
    const at = now - 30 * DAY
    await store.changeStock(
      petIds.map((id) => ({ type: 'create_pet', pet: { ...pet, id }, ...BY, at }) as const),
    )
    const run = new FactRun(store, counts, petIds, now)
    for (const list of run.#lists.values()) list.add(0n, at, { counted: FIRST_COUNT })
    return run
  }

  private constructor(store: Store, counts: Counts, petIds: readonly bigint[], now: number) {
    this.#store = store
    this.#counts = counts
    this.#petIds = petIds
    this.#lists = new Map(petIds.map((petId) => [petId, new FactList()]))
    this.#now = now
  }

  async play(step: Step): Promise<void> {
    this.#now++
    if ('adjustments' in step) await this.#adjust(step.adjustments)
    else await this.#reverse(step.reversal)
    for (const [petId, list] of this.#lists) {
      const entry = await this.#store.findAvailability(petId)
      expectSame(`the stock of petId ${petId}`, entry?.quantity, list.quantity)
    }
  }

  async #adjust(planned: readonly PlannedAdjustment[]): Promise<void> {
    const commands = planned.map(
      ({ time, lines }): CommandOf<'adjust'> => ({
        type: 'adjust',
        reason: 'received',
        occurredAt: this.#timeOf(time),
        changes: lines.map(({ pet, delta, quantity = 0 }) => ({
          petId: this.#petIds[pet],
          ...(delta === undefined ? { quantity } : { delta }),
        })),
        ...BY,
        at: this.#now,
      }),
    )
    const outcomes = await this.#store.changeStock(commands)
    for (const [index, { changes, occurredAt }] of commands.entries()) {
      this.#note(outcomes[index], occurredAt, (lists, document, time) => {
        for (const { petId = 0n, delta, quantity } of changes) {
          const statement = delta === undefined ? { counted: quantity } : { delta }
          lists.get(petId)?.add(document, time, statement)
        }
      })
    }
  }

  async #reverse({ index, reason, time, units }: PlannedReversal): Promise<void> {
    const id = this.#documents[index % this.#documents.length]
    const adjustment = id === undefined ? undefined : await this.#store.findAdjustment(id)
    if (id === undefined || adjustment === undefined) return
    const remaining = new Map(
      adjustment.lines.map((line) => {
        const reversed = this.#lists.get(line.petId)?.reversedUnits(id) ?? 0
        expectSame(`the reversed units of adjustment ${id}`, line.reversed, reversed)
        return [line.petId, reversibleUnits(line) - reversed]
      }),
    )
    const [first] = adjustment.lines
    const isCount = first?.counted !== undefined
    const wanted =
      units === undefined || first === undefined
        ? [...remaining].filter(([, left]) => left > 0)
        : [[first.petId, isCount ? 1 : units] as const]
    const chosen = this.#timeOf(time)
    // A reversal cannot happen before what it reverses, and a correction at another time would be a fact of its own.
    const canChoose = chosen !== undefined && reason === 'returned' && chosen >= adjustment.occurredAt
    const occurredAt = canChoose ? chosen : undefined
    const [outcome] = await this.#store.changeStock([
      {
        type: 'reverse',
        adjustment,
        reason,
        occurredAt,
        lines: units === undefined ? undefined : wanted.map(([petId, quantity]) => ({ petId, quantity })),
        ...BY,
        at: this.#now,
      },
    ])
    const isTooMuch =
      wanted.length === 0 || wanted.some(([petId, most]) => most > (remaining.get(petId) ?? 0))
    const isRefused = outcome.type === 'already_reversed' || codesOf(outcome).includes('already_reversed')
    expectSame(`whether adjustment ${id} is already reversed`, isRefused, isTooMuch)
    if (isRefused) return
    const ownTime = reason === 'correction' ? adjustment.occurredAt : occurredAt
    this.#note(outcome, ownTime, (lists, document, at) => {
      for (const [petId, quantity] of wanted) lists.get(petId)?.reverse(document, id, quantity, at, reason)
    })
  }

  /** Adds the facts of a command to the lists. It must be refused if, and only if, the stock would fall below zero. */
  #note(
    outcome: OutcomeOf<'adjust'> | OutcomeOf<'reverse'> | undefined,
    occurredAt: number | undefined,
    add: (lists: ReadonlyMap<bigint, FactList>, document: bigint, time: number) => void,
  ): void {
    const isRecorded = outcome?.type === 'done'
    if (!isRecorded && !codesOf(outcome).includes('insufficient_stock')) {
      throw new Error(`unexpected outcome ${Bun.inspect(outcome)}`)
    }
    const lists = new Map(Array.from(this.#lists, ([petId, list]) => [petId, list.copy()]))
    const { id, occurredAt: time } = isRecorded
      ? outcome.document
      : { id: NEXT_DOCUMENT, occurredAt: occurredAt ?? this.#latestTime() }
    if (occurredAt !== undefined) expectSame('the time', time, occurredAt)
    add(lists, id, time)
    const isBelowZero = lists.values().some(({ quantity }) => quantity < 0)
    expectSame('whether the stock falls below zero', isBelowZero, !isRecorded)
    if (!isRecorded) {
      this.#counts.refused++
      return
    }
    for (const { petId, after } of outcome.document.lines) {
      expectSame(`the line of petId ${petId}`, after, lists.get(petId)?.quantity)
      if (occurredAt === undefined) {
        expectSame('whether it happened last', time >= (this.#lists.get(petId)?.latestTime ?? 0), true)
      }
    }
    for (const [petId, list] of lists) this.#lists.set(petId, list)
    if (outcome.document.reverses === undefined) this.#documents.push(id)
    this.#counts.recorded++
  }

  #timeOf(time: number | undefined): number | undefined {
    return time === undefined ? undefined : this.#now + time
  }

  /** Facts that happen now are not before any other. */
  #latestTime(): number {
    return Math.max(this.#now, ...this.#lists.values().map(({ latestTime }) => latestTime))
  }
}

/** The id of a document that would be recorded next. */
const NEXT_DOCUMENT = 2n ** 62n

function codesOf(outcome: object | undefined): string[] {
  const { failures = [] } = (outcome ?? {}) as { readonly failures?: readonly { readonly code: string }[] }
  return failures.map(({ code }) => code)
}

function expectSame(what: string, got: unknown, expected: unknown): void {
  if (got !== expected) throw new Error(`${what} is ${got} instead of ${expected}`)
}

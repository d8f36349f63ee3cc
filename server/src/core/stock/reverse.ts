import type { ErrorDetail } from '../values/errors.ts'
import { isBeforeCount, planMovement, quantityFailure } from './adjust.ts'
import type { AdjustmentLine, ReversalReason } from './adjustment.ts'
import type { ChangeOrigin } from './change-origin.ts'
import type { CommandOf, OutcomeOf } from './command.ts'
import { type FactQuestion, latenessOf, tooLate } from './facts.ts'
import { entryNotFound, type LockedEntry } from './inventory.ts'
import type { PlannedFact, StockDraft } from './stock-draft.ts'

type Failure = Omit<ErrorDetail, 'index' | 'petId'>

/** A line that is to be reversed, and how many of its units. */
interface Target {
  readonly line: AdjustmentLine
  readonly units: number
}

/** Records an adjustment that undoes units of an earlier one. No unit is undone twice. */
export function reverse(stock: StockDraft, command: CommandOf<'reverse'>): OutcomeOf<'reverse'> {
  const { adjustment, at, note } = command
  const { id, orderId } = adjustment
  if (adjustment.reverses !== undefined) {
    return {
      type: 'already_reversed',
      message: `adjustment ${id} is a reversal of adjustment ${adjustment.reverses}, and a reversal cannot be reversed; make a new adjustment`,
    }
  }
  const reversedUnits = stock.facts.answer({ type: 'reversed_units', document: id })
  const targets = targetsOf(command, reversedUnits)
  if (!Array.isArray(targets)) return targets
  const time = timeOf(stock, command, targets)
  stock.facts.require(questionsAbout(stock, command, targets, time))
  const lateness = latenessOf(stock.facts, time, at)
  if (lateness !== undefined) return lateness
  const plans: PlannedFact[] = []
  const failures: ErrorDetail[] = []
  for (const [index, target] of targets.entries()) {
    const { petId } = target.line
    const entry = stock.findEntry(petId)
    if (entry === undefined) {
      failures.push({ index, petId, code: 'not_found', message: entryNotFound(petId).message })
      continue
    }
    const plan = planReversal(stock, command, target, entry, time)
    if (plan === 'unknown_count') {
      return tooLate(`the history has no other count of petId ${petId}`)
    }
    if ('code' in plan) failures.push({ index, petId, ...plan })
    else plans.push(plan)
  }
  if (failures.length > 0) return { type: 'refused', failures }
  const by: ChangeOrigin = { ...command, reference: command.reference ?? adjustment.reference }
  const document = stock.openDocument({ by, occurredAt: time, note, orderId, reverses: id })
  const items = plans.map((plan) => stock.record(document, plan))
  return { type: 'done', document, items }
}

/** The named units of the lines, or all units that were not reversed yet. */
function targetsOf(
  { adjustment, lines }: CommandOf<'reverse'>,
  reversedUnits: ReadonlyMap<bigint, number>,
): Target[] | Extract<OutcomeOf<'reverse'>, { type: 'already_reversed' | 'refused' }> {
  const remainingOf = (line: AdjustmentLine) => reversibleUnits(line) - (reversedUnits.get(line.petId) ?? 0)
  if (lines === undefined) {
    const targets = adjustment.lines.map((line) => ({ line, units: remainingOf(line) }))
    const open = targets.filter(({ units }) => units > 0)
    if (open.length > 0) return open
    return { type: 'already_reversed', message: `adjustment ${adjustment.id} is already reversed` }
  }
  const linesByPet = new Map(adjustment.lines.map((line) => [line.petId, line]))
  const failures: ErrorDetail[] = []
  const targets: Target[] = []
  for (const [index, { petId, quantity: units }] of lines.entries()) {
    const line = linesByPet.get(petId)
    const failure =
      line === undefined
        ? ({
            code: 'not_found',
            message: `adjustment ${adjustment.id} has no line of petId ${petId}`,
          } as const)
        : unitsFailure(line, units, remainingOf(line))
    if (failure !== undefined) failures.push({ index, petId, ...failure })
    else if (line !== undefined) targets.push({ line, units })
  }
  return failures.length > 0 ? { type: 'refused', failures } : targets
}

/** A count is reversed as a whole. */
function reversibleUnits({ counted, delta }: AdjustmentLine): number {
  return counted === undefined ? Math.abs(delta) : 1
}

function unitsFailure(line: AdjustmentLine, units: number, remaining: number): Failure | undefined {
  const { petId } = line
  if (line.counted !== undefined && units !== 1) {
    return {
      code: 'invalid_request',
      message: `petId ${petId} was counted, and a count is reversed as a whole: send quantity 1`,
      field: 'quantity',
    }
  }
  if (units <= remaining) return undefined
  const done = reversibleUnits(line) - remaining
  return {
    code: 'already_reversed',
    message: `${done} of ${reversibleUnits(line)} units of petId ${petId} are already reversed, so ${units} cannot be reversed`,
    available: remaining,
  }
}

/** A correction happens when the adjustment did; a return happens now. */
function timeOf(
  stock: StockDraft,
  { adjustment, occurredAt, reason, at }: CommandOf<'reverse'>,
  targets: readonly Target[],
): number {
  if (occurredAt !== undefined) return occurredAt
  if (reason === 'correction') return adjustment.occurredAt
  return stock.timeOfNow(
    at,
    targets.map(({ line }) => line.petId),
  )
}

function questionsAbout(
  stock: StockDraft,
  { adjustment, reason }: CommandOf<'reverse'>,
  targets: readonly Target[],
  time: number,
): readonly FactQuestion[] {
  const { id: document } = adjustment
  const questions: FactQuestion[] = [{ type: 'history_start' }]
  for (const { line } of targets) {
    const { petId, counted } = line
    if (counted !== undefined) questions.push({ type: 'stock_without_count', petId, document })
    else if (isTie(stock, petId, time, reason)) {
      questions.push({ type: 'was_counted_next', petId, document, time })
    }
  }
  return questions
}

/** Whether the latest count has the same time as a correction, so that the order in which both were recorded decides. */
function isTie(stock: StockDraft, petId: bigint, time: number, reason: ReversalReason): boolean {
  return reason === 'correction' && stock.findEntry(petId)?.countedAt === time
}

function planReversal(
  stock: StockDraft,
  { adjustment, reason }: CommandOf<'reverse'>,
  { line, units }: Target,
  entry: LockedEntry,
  time: number,
): PlannedFact | Failure | 'unknown_count' {
  const { petId, delta, counted } = line
  const { id: document } = adjustment
  if (counted === undefined) {
    const wasCountedNext =
      isTie(stock, petId, time, reason) &&
      stock.facts.answer({ type: 'was_counted_next', petId, document, time })
    const wasCounted = wasCountedNext || isBeforeCount(entry, time)
    return planMovement(petId, entry, delta > 0 ? -units : units, time, wasCounted)
  }
  const without = stock.facts.answer({ type: 'stock_without_count', petId, document })
  if (without === undefined) return 'unknown_count'
  const { quantity, countedAt, isLater } = without
  const statement = { type: 'count_reversal', countedAt } as const
  const after = isLater ? entry.quantity : quantity
  return quantityFailure(petId, 0, after) ?? { petId, after, statement, effect: 'applied' }
}

import { State } from '../observable.ts'
import type { QuantityChange } from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import { type ReversalOutcome, reverseAdjustment } from './reversal.ts'

/** The changes of one action, to one pet or several. */
export interface UndoStep {
  readonly changes: readonly QuantityChange[]
}

const MAX_STEPS = 50

/** The last changes of this page, oldest first. */
export class UndoHistory extends State<readonly UndoStep[]> {
  constructor() {
    super([])
  }

  /** Returns the new step; `undefined` if nothing was changed. */
  record(changes: readonly QuantityChange[]): UndoStep | undefined {
    const actual = changes.filter(({ before, after }) => before !== after)
    if (actual.length === 0) return undefined
    const step = { changes: actual }
    this.setValue([...this.get(), step].slice(-MAX_STEPS))
    return step
  }

  /** Removes a step that is undone. */
  take(step: UndoStep): void {
    this.setValue(this.get().filter((other) => other !== step))
  }

  /** Undoes the adjustments of the last step. If one fails, the step stays. Returns `undefined` if there is no step. */
  async undoLast(saving: SaveContext): Promise<UndoResult | undefined> {
    const step = this.get().at(-1)
    if (step === undefined) return undefined
    this.take(step)
    let outcome: ReversalOutcome = { type: 'already_reversed' }
    for (const adjustmentId of adjustmentIdsOf(step).toReversed()) {
      outcome = await reverseAdjustment(saving, adjustmentId)
      if (outcome.type === 'failed') {
        this.setValue([...this.get(), step])
        break
      }
    }
    return { step, outcome }
  }
}

interface UndoResult {
  readonly step: UndoStep
  /** The last outcome. */
  readonly outcome: ReversalOutcome
}

function adjustmentIdsOf({ changes }: UndoStep): readonly bigint[] {
  return [...new Set(changes.flatMap(({ adjustmentId }) => adjustmentId ?? []))]
}

import { State } from '../observable.ts'

export interface QuantityChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
}

/** The changes of one action, to one pet or several. */
export interface UndoStep {
  readonly changes: readonly QuantityChange[]
  readonly reference?: string | undefined
}

const MAX_STEPS = 50

/** The last changes of this page, oldest first. */
export class UndoHistory extends State<readonly UndoStep[]> {
  constructor() {
    super([])
  }

  /** Returns the new step; `undefined` if nothing was changed. */
  record(changes: readonly QuantityChange[], reference?: string): UndoStep | undefined {
    const actual = changes.filter(({ before, after }) => before !== after)
    if (actual.length === 0) return undefined
    const step = { changes: actual, reference }
    this.setValue([...this.get(), step].slice(-MAX_STEPS))
    return step
  }

  /** Removes a step that was undone or cannot be. */
  take(step: UndoStep): void {
    this.setValue(this.get().filter((other) => other !== step))
  }
}

import { Observable, type Readable } from '../observable.ts'

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
export class UndoHistory implements Readable<readonly UndoStep[]> {
  readonly #steps = new Observable<readonly UndoStep[]>([])

  readonly get = this.#steps.get
  readonly subscribe = this.#steps.subscribe

  /** Returns the new step; `undefined` if nothing was changed. */
  record(changes: readonly QuantityChange[], reference?: string): UndoStep | undefined {
    const actual = changes.filter(({ before, after }) => before !== after)
    if (actual.length === 0) return undefined
    const step = reference === undefined ? { changes: actual } : { changes: actual, reference }
    this.#steps.set([...this.get(), step].slice(-MAX_STEPS))
    return step
  }

  /** Removes a step that was undone or cannot be. */
  take(step: UndoStep): void {
    this.#steps.set(this.get().filter((other) => other !== step))
  }

  clear(): void {
    this.#steps.set([])
  }
}

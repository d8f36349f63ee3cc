import { Observable, type Readable } from '../observable.ts'

export interface QuantityChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
}

/** What one action changed: one pet, or several at once. */
export interface UndoStep {
  readonly changes: readonly QuantityChange[]
  /** What the changes referred to, where they told. */
  readonly reference?: string | undefined
}

const MAX_STEPS = 50

/** The last changes that this page made, the newest at the end. */
export class UndoHistory implements Readable<readonly UndoStep[]> {
  readonly #steps = new Observable<readonly UndoStep[]>([])

  readonly get = this.#steps.get
  readonly subscribe = this.#steps.subscribe

  /** Gives the new step; `undefined` where nothing was changed. */
  record(changes: readonly QuantityChange[], reference?: string): UndoStep | undefined {
    const made = changes.filter(({ before, after }) => before !== after)
    if (made.length === 0) return undefined
    const step = reference === undefined ? { changes: made } : { changes: made, reference }
    this.#steps.set([...this.get(), step].slice(-MAX_STEPS))
    return step
  }

  /** Takes a step out, wherever it is: it was undone, or cannot be. */
  take(step: UndoStep): void {
    this.#steps.set(this.get().filter((other) => other !== step))
  }

  clear(): void {
    this.#steps.set([])
  }
}

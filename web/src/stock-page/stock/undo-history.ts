import { Observable, type Readable } from './observable.ts'

export interface QuantityChange {
  readonly petId: bigint
  readonly before: number
  readonly after: number
}

/** What one action changed: one pet, or several at once. */
export interface UndoStep {
  readonly changes: readonly QuantityChange[]
}

const MOST_STEPS = 50

/** The last changes that this page made, the newest at the end. */
export class UndoHistory implements Readable<readonly UndoStep[]> {
  readonly #steps = new Observable<readonly UndoStep[]>([])

  readonly get = this.#steps.get
  readonly subscribe = this.#steps.subscribe

  record(changes: readonly QuantityChange[]): void {
    const made = changes.filter(({ before, after }) => before !== after)
    if (made.length > 0) this.#steps.set([...this.get(), { changes: made }].slice(-MOST_STEPS))
  }

  takeLast(): UndoStep | undefined {
    const steps = this.get()
    const last = steps.at(-1)
    if (last !== undefined) this.#steps.set(steps.slice(0, -1))
    return last
  }

  clear(): void {
    this.#steps.set([])
  }
}

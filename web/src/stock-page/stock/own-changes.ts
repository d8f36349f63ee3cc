/** A change that this page asked for, and whether the event stream has told of it. */
export interface ExpectedChange {
  readonly petId: bigint
  readonly after: number
  wasTold: boolean
}

/** Tells the page's own changes from those of others: an event says which key made it, and many may use one key. */
export class OwnChanges {
  readonly #expected = new Map<bigint, ExpectedChange[]>()

  expect(petId: bigint, after: number): ExpectedChange {
    const change = { petId, after, wasTold: false }
    this.#expected.set(petId, [...(this.#expected.get(petId) ?? []), change])
    return change
  }

  /** Whether an event tells of a change that this page made. */
  recognise(petId: bigint, after: number): boolean {
    const change = this.#expected.get(petId)?.find((expected) => expected.after === after)
    if (change === undefined) return false
    change.wasTold = true
    this.forget(change)
    return true
  }

  /** The change was not made, or nothing will be told of it. */
  forget(change: ExpectedChange): void {
    const rest = (this.#expected.get(change.petId) ?? []).filter((other) => other !== change)
    if (rest.length === 0) this.#expected.delete(change.petId)
    else this.#expected.set(change.petId, rest)
  }

  /** After a new list no event tells of what came before it. */
  forgetAll(): void {
    this.#expected.clear()
  }
}

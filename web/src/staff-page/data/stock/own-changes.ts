/** A change that this page asked for, and of which the event stream has yet to tell. */
export interface ExpectedChange {
  readonly petId: bigint
  readonly after: number
  isAnswered: boolean
}

/** Tells the page's own changes from those of others: an event says which key made it, and many may use one key. */
export class OwnChanges {
  readonly #expected = new Map<bigint, ExpectedChange[]>()

  expect(petId: bigint, after: number): ExpectedChange {
    const change = { petId, after, isAnswered: false }
    this.#expected.set(petId, [...(this.#expected.get(petId) ?? []), change])
    return change
  }

  /** Whether an event tells of a change that this page made. */
  recognise(petId: bigint, after: number): boolean {
    const change = this.#expected.get(petId)?.find((expected) => expected.after === after)
    if (change !== undefined) this.forget(change)
    return change !== undefined
  }

  /** The change was not made, or nothing will be told of it. */
  forget(change: ExpectedChange): void {
    const rest = (this.#expected.get(change.petId) ?? []).filter((other) => other !== change)
    if (rest.length === 0) this.#expected.delete(change.petId)
    else this.#expected.set(change.petId, rest)
  }

  /** After a new list no event tells of what came before it; what is still under way may come after it. */
  forgetAnswered(): void {
    for (const change of [...this.#expected.values()].flat()) if (change.isAnswered) this.forget(change)
  }
}

import { unlessAborted } from './waiting.ts'

/** One at a time for each pet, so that the callers of one client do not spend requests on losing to each other. */
export class PetQueue {
  readonly #last = new Map<bigint, Promise<unknown>>()

  async run<Value>(
    petId: bigint,
    signal: AbortSignal | undefined,
    act: () => Promise<Value>,
  ): Promise<Value> {
    const before = this.#last.get(petId) ?? Promise.resolve()
    let finish = () => {}
    const turn = new Promise<void>((resolve) => {
      finish = resolve
    })
    // Whoever is aborted while waiting leaves, but those behind it still wait for those before it.
    const last = before.then(() => turn)
    this.#last.set(petId, last)
    try {
      await unlessAborted(before, signal)
      return await act()
    } finally {
      finish()
      if (this.#last.get(petId) === last) this.#last.delete(petId)
    }
  }
}

import { isPetstoreError } from '@petstore/client'
import type { Lookup, ReadPage } from './stock-search.ts'

/** More requests at a time would delay those of the user. */
const AT_A_TIME = 3
/** After a failure, such as a limit that is reached, nothing is loaded for this long. */
const PAUSE_MS = 30_000

/** Loads single pets of a large store, such as those of the orders that are shown. */
export class PetLoader {
  readonly #lookup: Lookup
  readonly #read: ReadPage
  /** The requests that wait or run, and those that failed. A pet that the store does not have stays here. */
  readonly #requests = new Map<bigint, Promise<void>>()
  readonly #lanes: Promise<void>[] = Array.from({ length: AT_A_TIME }, () => Promise.resolve())
  #nextLane = 0
  #pause: { readonly until: number; readonly error: unknown } = { until: 0, error: undefined }

  constructor(lookup: Lookup, read: ReadPage) {
    this.#lookup = lookup
    this.#read = read
    lookup.stock.onMissing = (petId) => void this.load(petId).catch(() => {})
  }

  /** Throws `not_found` if the store does not have the pet. */
  load(petId: bigint): Promise<void> {
    const known = this.#requests.get(petId)
    if (known !== undefined) return known
    const lane = this.#nextLane++ % AT_A_TIME
    const request = (this.#lanes[lane] ?? Promise.resolve()).then(() => this.#load(petId))
    this.#lanes[lane] = request.catch(() => {})
    this.#requests.set(petId, request)
    return request
  }

  async #load(petId: bigint): Promise<void> {
    try {
      if (Date.now() < this.#pause.until) throw this.#pause.error
      await loadPet(this.#lookup, this.#read, petId)
      this.#requests.delete(petId)
    } catch (error) {
      if (!isPetstoreError(error, 'not_found')) {
        if (error !== this.#pause.error) this.#pause = { until: Date.now() + PAUSE_MS, error }
        setTimeout(() => this.#requests.delete(petId), PAUSE_MS)
      }
      throw error
    }
  }
}

/** A search for an id finds its pet by one request, unless many names have a word that starts with the same digits. */
const FOUND_WITH_ID = 8

/** Loads one pet that the page does not hold. Throws `not_found` if the store does not have it. */
async function loadPet({ client, stock, signal }: Lookup, read: ReadPage, petId: bigint): Promise<void> {
  await read({ q: String(petId), limit: FOUND_WITH_ID })
  if (stock.find(petId) !== undefined) return
  const [pet, availability] = await Promise.all([
    client.pets.get(petId, { signal }),
    client.inventory.availability(petId, { signal }),
  ])
  const { quantity, reserved } = availability
  stock.barcodes.take([{ petId, barcode: pet.barcode }])
  stock.apply({ ...pet, petId, quantity, reserved }, false)
}

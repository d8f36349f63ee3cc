import { bytesOf, putBytes, putInteger } from '../../values/ascii.ts'
import { type InventoryItem, PET_STATUSES, type PetStatus } from '../inventory.ts'

/** Entries in one page: small enough to serialise anew in 50 µs, large enough to keep pages few. */
export const PAGE_CAPACITY = 512

const ID_TEXT = bytesOf('{"petId":')
const QUANTITY_TEXT = bytesOf(',"quantity":')
const STATUS_TEXTS = PET_STATUSES.map((status) => bytesOf(`,"status":"${status}"}`))
const NO_TEXT = new Uint8Array()
const COMMA = ','.charCodeAt(0)
/** More than an entry with the longest id, quantity and status takes. */
const MOST_ENTRY_BYTES = 96
/** Shared by all pages: each is written in one go and then copied out. */
const buffer = new Uint8Array(1 + PAGE_CAPACITY * MOST_ENTRY_BYTES)
const STATUS_INDEX: Readonly<Record<PetStatus, number>> = Object.fromEntries(
  PET_STATUSES.map((status, index) => [status, index]),
) as Record<PetStatus, number>

/** A run of entries in petId order, packed: 17 bytes each beside the bytes that are sent. */
export class InventoryPage {
  readonly ids = new BigInt64Array(PAGE_CAPACITY)
  readonly quantities = new Float64Array(PAGE_CAPACITY)
  readonly statuses = new Uint8Array(PAGE_CAPACITY)
  count = 0
  readonly #idWords = new Uint32Array(this.ids.buffer)
  readonly #quantityWords = new Uint32Array(this.quantities.buffer)
  readonly #words = new Uint32Array(5)
  #bytes: Uint8Array | undefined
  #lead = ''

  get isFull(): boolean {
    return this.count === PAGE_CAPACITY
  }

  get firstId(): bigint {
    return this.ids[0] ?? 0n
  }

  /** Where the id is, or where it would have to go. */
  placeOf(petId: bigint): number {
    if (this.count > 0 && (this.ids[this.count - 1] ?? 0n) < petId) return this.count
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.ids[middle] ?? 0n) < petId) low = middle + 1
      else high = middle
    }
    return low
  }

  has(place: number, petId: bigint): boolean {
    return place < this.count && this.ids[place] === petId
  }

  read(place: number): InventoryItem {
    return {
      petId: this.ids[place] ?? 0n,
      quantity: this.quantities[place] ?? 0,
      status: PET_STATUSES[this.statuses[place] ?? 0] ?? PET_STATUSES[0],
    }
  }

  write(place: number, item: InventoryItem): void {
    this.ids[place] = item.petId
    this.quantities[place] = item.quantity
    this.statuses[place] = STATUS_INDEX[item.status]
    this.#bytes = undefined
  }

  insert(place: number, item: InventoryItem): void {
    if (place < this.count) this.#shift(place, place + 1)
    this.count++
    this.write(place, item)
  }

  remove(place: number): void {
    this.#shift(place + 1, place)
    this.count--
    this.#bytes = undefined
  }

  /** Moves the second half of a full page into a new one. */
  split(): InventoryPage {
    const half = this.count >>> 1
    const other = new InventoryPage()
    other.ids.set(this.ids.subarray(half, this.count))
    other.quantities.set(this.quantities.subarray(half, this.count))
    other.statuses.set(this.statuses.subarray(half, this.count))
    other.count = this.count - half
    this.count = half
    this.#bytes = undefined
    return other
  }

  /** The bits of one entry, for the content tag. Valid until the next call. */
  wordsOf(place: number): Uint32Array {
    const words = this.#words
    words[0] = this.#idWords[place * 2] ?? 0
    words[1] = this.#idWords[place * 2 + 1] ?? 0
    words[2] = this.#quantityWords[place * 2] ?? 0
    words[3] = this.#quantityWords[place * 2 + 1] ?? 0
    words[4] = this.statuses[place] ?? 0
    return words
  }

  /**
   * The entries as JSON behind `lead`, which is `[` or `,`. The array is never written to again: a change makes a
   * new one, so that readers under way keep what they began with.
   */
  bytes(lead: '[' | ','): Uint8Array {
    if (this.#bytes === undefined || this.#lead !== lead) {
      this.#bytes = this.#serialise(lead)
      this.#lead = lead
    }
    return this.#bytes
  }

  #serialise(lead: string): Uint8Array {
    buffer[0] = lead.charCodeAt(0)
    let at = 1
    for (let place = 0; place < this.count; place++) {
      if (place > 0) buffer[at++] = COMMA
      at = putBytes(buffer, at, ID_TEXT)
      at = this.#putId(at, place)
      at = putBytes(buffer, at, QUANTITY_TEXT)
      at = putInteger(buffer, at, this.quantities[place] ?? 0)
      at = putBytes(buffer, at, STATUS_TEXTS[this.statuses[place] ?? 0] ?? NO_TEXT)
    }
    return buffer.slice(0, at)
  }

  /** A small id is taken for the number it is, without a bigint in between. */
  #putId(at: number, place: number): number {
    return this.#idWords[place * 2 + 1] === 0
      ? putInteger(buffer, at, this.#idWords[place * 2] ?? 0)
      : putBytes(buffer, at, bytesOf(String(this.ids[place])))
  }

  #shift(from: number, to: number): void {
    this.ids.copyWithin(to, from, this.count)
    this.quantities.copyWithin(to, from, this.count)
    this.statuses.copyWithin(to, from, this.count)
  }
}

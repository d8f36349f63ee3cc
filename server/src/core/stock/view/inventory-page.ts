import { type InventoryItem, PET_STATUSES } from '../inventory.ts'

/** Entries in one page: small enough to serialise anew for each change, large enough to keep pages few. */
export const PAGE_CAPACITY = 512

const ID_TEXT = bytesOf('{"petId":')
const QUANTITY_TEXT = bytesOf(',"quantity":')
const STATUS_TEXTS = PET_STATUSES.map((status) => bytesOf(`,"status":"${status}"}`))
const NO_TEXT = new Uint8Array()
const COMMA = ','.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
/** More than an entry with the longest id, quantity and status takes. */
const MAX_ENTRY_BYTES = 96
/** Shared by all pages: each is written in one go and then copied out. */
const buffer = new Uint8Array(1 + PAGE_CAPACITY * MAX_ENTRY_BYTES)

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
  slotOf(petId: bigint): number {
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

  has(slot: number, petId: bigint): boolean {
    return slot < this.count && this.ids[slot] === petId
  }

  read(slot: number): InventoryItem {
    return {
      petId: this.ids[slot] ?? 0n,
      quantity: this.quantities[slot] ?? 0,
      status: PET_STATUSES[this.statuses[slot] ?? 0] ?? PET_STATUSES[0],
    }
  }

  write(slot: number, item: InventoryItem): void {
    this.ids[slot] = item.petId
    this.quantities[slot] = item.quantity
    this.statuses[slot] = PET_STATUSES.indexOf(item.status)
    this.#bytes = undefined
  }

  insert(slot: number, item: InventoryItem): void {
    if (slot < this.count) this.#shift(slot, slot + 1)
    this.count++
    this.write(slot, item)
  }

  remove(slot: number): void {
    this.#shift(slot + 1, slot)
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
  wordsOf(slot: number): Uint32Array {
    const words = this.#words
    words[0] = this.#idWords[slot * 2] ?? 0
    words[1] = this.#idWords[slot * 2 + 1] ?? 0
    words[2] = this.#quantityWords[slot * 2] ?? 0
    words[3] = this.#quantityWords[slot * 2 + 1] ?? 0
    words[4] = this.statuses[slot] ?? 0
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
    for (let slot = 0; slot < this.count; slot++) {
      if (slot > 0) buffer[at++] = COMMA
      at = putBytes(at, ID_TEXT)
      at = this.#putId(at, slot)
      at = putBytes(at, QUANTITY_TEXT)
      at = putInteger(at, this.quantities[slot] ?? 0)
      at = putBytes(at, STATUS_TEXTS[this.statuses[slot] ?? 0] ?? NO_TEXT)
    }
    return buffer.slice(0, at)
  }

  /** A small id is taken for the number it is, without a bigint in between. */
  #putId(at: number, slot: number): number {
    return this.#idWords[slot * 2 + 1] === 0
      ? putInteger(at, this.#idWords[slot * 2] ?? 0)
      : putBytes(at, bytesOf(String(this.ids[slot])))
  }

  #shift(from: number, to: number): void {
    this.ids.copyWithin(to, from, this.count)
    this.quantities.copyWithin(to, from, this.count)
    this.statuses.copyWithin(to, from, this.count)
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Text goes straight into bytes, since strings in between would cost the most. Tells where the next one goes on. */
function putBytes(at: number, bytes: Uint8Array): number {
  // Pieces are short: a call of `set` would take longer than its work.
  for (let index = 0; index < bytes.length; index++) buffer[at + index] = bytes[index] ?? 0
  return at + bytes.length
}

/** An integer from 0 to the largest safe one. */
function putInteger(at: number, value: number): number {
  // Beyond 31 bits the divisions would be those of doubles, and no quicker than this.
  if (value > 0x7fff_ffff) return putBytes(at, bytesOf(String(value)))
  const end = at + digitsOf(value)
  let index = end
  let rest = value
  do {
    const next = (rest / 10) | 0
    buffer[--index] = ZERO + rest - next * 10
    rest = next
  } while (rest > 0)
  return end
}

function digitsOf(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}

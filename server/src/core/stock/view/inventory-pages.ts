import { lowerBound } from '../../values/lower-bound.ts'
import { type InventoryItem, PET_STATUSES } from '../inventory.ts'

/** The whole list as JSON. It stays the same object until the list changes, so it can be the key of a cache. */
export interface InventorySnapshot {
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number
  readonly tag: string
}

const CLOSING_BRACKET = bytesOf(']')

/** All entries in petId order, split into pages, so that a change serialises one page and not the whole list. */
export class InventoryPages {
  /** There is always a page. A page is empty only if it is the only page. */
  readonly #pages = [new InventoryPage()]
  readonly #tag = new ContentTag()
  #snapshot: InventorySnapshot | undefined

  get count(): number {
    return this.#pages.reduce((sum, page) => sum + page.count, 0)
  }

  set(item: InventoryItem): void {
    const index = this.#indexFor(item.petId)
    const page = this.#pageAt(index)
    const slot = page.slotOf(item.petId)
    if (page.has(slot, item.petId)) {
      this.#tag.remove(page.wordsOf(slot))
      page.write(slot, item)
      this.#tag.add(page.wordsOf(slot))
      this.#snapshot = undefined
    } else if (!page.isFull) {
      this.#insert(page, slot, item)
    } else {
      this.#insertIntoFull(index, page, item)
    }
  }

  get(petId: bigint): InventoryItem | undefined {
    const page = this.#pageAt(this.#indexFor(petId))
    const slot = page.slotOf(petId)
    return page.has(slot, petId) ? page.read(slot) : undefined
  }

  remove(petId: bigint): void {
    const index = this.#indexFor(petId)
    const page = this.#pageAt(index)
    const slot = page.slotOf(petId)
    if (!page.has(slot, petId)) return
    this.#tag.remove(page.wordsOf(slot))
    page.remove(slot)
    if (page.count === 0 && this.#pages.length > 1) this.#pages.splice(index, 1)
    this.#snapshot = undefined
  }

  snapshot(): InventorySnapshot {
    if (this.#snapshot !== undefined) return this.#snapshot
    const parts = this.#pages.map((page, index) => page.bytes(index === 0 ? '[' : ','))
    parts.push(CLOSING_BRACKET)
    const byteLength = parts.reduce((sum, part) => sum + part.length, 0)
    this.#snapshot = { parts, byteLength, tag: this.#tag.toString() }
    return this.#snapshot
  }

  #pageAt(index: number): InventoryPage {
    const page = this.#pages[index]
    if (page === undefined) throw new RangeError(`page ${index} does not exist`)
    return page
  }

  /** The last page that begins at or before the id, or the first page if there is none. */
  #indexFor(petId: bigint): number {
    const last = this.#pages.length - 1
    // A shortcut for entries that are added in ascending order, as when the list is loaded.
    if (this.#pageAt(last).firstId <= petId) return last
    return Math.max(0, lowerBound(last, (index) => this.#pageAt(index).firstId <= petId) - 1)
  }

  #insertIntoFull(index: number, page: InventoryPage, item: InventoryItem): void {
    const isAppended = index === this.#pages.length - 1 && page.slotOf(item.petId) === page.count
    // Entries that are added in ascending order start a new page instead of splitting the last one, so that pages fill up.
    const other = isAppended ? new InventoryPage() : page.split()
    this.#pages.splice(index + 1, 0, other)
    const target = isAppended || item.petId > other.firstId ? other : page
    this.#insert(target, target.slotOf(item.petId), item)
  }

  #insert(page: InventoryPage, slot: number, item: InventoryItem): void {
    page.insert(slot, item)
    this.#tag.add(page.wordsOf(slot))
    this.#snapshot = undefined
  }
}

/** Larger pages make each change slower, because it serialises a whole page. Smaller pages make the list of pages longer. */
const PAGE_CAPACITY = 512

const ID_TEXT = bytesOf('{"petId":')
const QUANTITY_TEXT = bytesOf(',"quantity":')
const STATUS_TEXTS = PET_STATUSES.map((status) => bytesOf(`,"status":"${status}"}`))
const NO_BYTES = new Uint8Array()
const COMMA = ','.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
/** More than the longest entry. */
const MAX_ENTRY_BYTES = 96
/** Shared by all pages: a page is serialised into it and then copied. */
const buffer = new Uint8Array(1 + PAGE_CAPACITY * MAX_ENTRY_BYTES)

/** Consecutive entries in petId order, packed into 17 bytes each, and cached as JSON. */
class InventoryPage {
  readonly ids = new BigInt64Array(PAGE_CAPACITY)
  readonly quantities = new Float64Array(PAGE_CAPACITY)
  readonly statuses = new Uint8Array(PAGE_CAPACITY)
  count = 0
  readonly #idWords = new Uint32Array(this.ids.buffer)
  readonly #quantityWords = new Uint32Array(this.quantities.buffer)
  readonly #words = new Uint32Array(5)
  #bytes: Uint8Array | undefined
  #prefix = ''

  get isFull(): boolean {
    return this.count === PAGE_CAPACITY
  }

  get firstId(): bigint {
    return this.ids[0] ?? 0n
  }

  /** The slot of the id, or the slot to insert it at. */
  slotOf(petId: bigint): number {
    if (this.count > 0 && (this.ids[this.count - 1] ?? 0n) < petId) return this.count
    return lowerBound(this.count, (slot) => (this.ids[slot] ?? 0n) < petId)
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
    if (slot < this.count) this.#moveEntries(slot, slot + 1)
    this.count++
    this.write(slot, item)
  }

  remove(slot: number): void {
    this.#moveEntries(slot + 1, slot)
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

  /** One entry as 32-bit words, for the content tag. The next call overwrites the array. */
  wordsOf(slot: number): Uint32Array {
    const words = this.#words
    words[0] = this.#idWords[slot * 2] ?? 0
    words[1] = this.#idWords[slot * 2 + 1] ?? 0
    words[2] = this.#quantityWords[slot * 2] ?? 0
    words[3] = this.#quantityWords[slot * 2 + 1] ?? 0
    words[4] = this.statuses[slot] ?? 0
    return words
  }

  /** The prefix and the entries as JSON. The array is never changed, because responses may still be sending it. */
  bytes(prefix: '[' | ','): Uint8Array {
    if (this.#bytes === undefined || this.#prefix !== prefix) {
      this.#bytes = this.#serialise(prefix)
      this.#prefix = prefix
    }
    return this.#bytes
  }

  #serialise(prefix: string): Uint8Array {
    buffer[0] = prefix.charCodeAt(0)
    let offset = 1
    for (let slot = 0; slot < this.count; slot++) {
      if (slot > 0) buffer[offset++] = COMMA
      offset = putBytes(offset, ID_TEXT)
      offset = this.#putId(offset, slot)
      offset = putBytes(offset, QUANTITY_TEXT)
      offset = putInteger(offset, this.quantities[slot] ?? 0)
      offset = putBytes(offset, STATUS_TEXTS[this.statuses[slot] ?? 0] ?? NO_BYTES)
    }
    return buffer.slice(0, offset)
  }

  /** Small ids are written without the slower bigint. */
  #putId(offset: number, slot: number): number {
    return this.#idWords[slot * 2 + 1] === 0
      ? putInteger(offset, this.#idWords[slot * 2] ?? 0)
      : putBytes(offset, bytesOf(String(this.ids[slot])))
  }

  #moveEntries(from: number, to: number): void {
    this.ids.copyWithin(to, from, this.count)
    this.quantities.copyWithin(to, from, this.count)
    this.statuses.copyWithin(to, from, this.count)
  }
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Writes into the buffer and returns the end. Bytes are written directly, because building strings would be slower. */
function putBytes(offset: number, bytes: Uint8Array): number {
  // For short pieces, this is faster than `set`.
  for (let index = 0; index < bytes.length; index++) buffer[offset + index] = bytes[index] ?? 0
  return offset + bytes.length
}

/** Writes an integer from 0 to the largest safe integer. */
function putInteger(offset: number, value: number): number {
  // Beyond 31 bits, dividing doubles is no faster than `String`.
  if (value > 0x7fff_ffff) return putBytes(offset, bytesOf(String(value)))
  const end = offset + countDigits(value)
  let index = end
  let remaining = value
  do {
    const quotient = (remaining / 10) | 0
    buffer[--index] = ZERO + remaining - quotient * 10
    remaining = quotient
  } while (remaining > 0)
  return end
}

function countDigits(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}

/** The hash consists of four lanes of 32 bits, each with a seed and two odd multipliers. */
const LANES = [
  { seed: 0x9e3779b1, first: 0xcc9e2d51, second: 0x1b873593 },
  { seed: 0x85ebca77, first: 0x239b961b, second: 0xab0e9789 },
  { seed: 0xc2b2ae3d, first: 0x38b34ae5, second: 0xa1e38b93 },
  { seed: 0x27d4eb2f, first: 0x5f356495, second: 0x32c27de3 },
] as const

/**
 * Identifies the content of the list by the sum of a 128-bit hash of each entry, which does not depend on their order. So a
 * change takes constant time, and every instance with the same entries has the same tag. The hash is of the murmur family:
 * fast but not collision-resistant. A caller who constructs a collision only gets a stale copy of the list.
 */
class ContentTag {
  readonly #sums = new Uint32Array(4)
  #entries = 0

  add(words: ArrayLike<number>): void {
    this.#entries++
    for (let lane = 0; lane < 4; lane++) this.#sums[lane] = (this.#sums[lane] ?? 0) + hashLane(words, lane)
  }

  remove(words: ArrayLike<number>): void {
    this.#entries--
    for (let lane = 0; lane < 4; lane++) this.#sums[lane] = (this.#sums[lane] ?? 0) - hashLane(words, lane)
  }

  toString(): string {
    const sums = [...this.#sums].map((sum) => sum.toString(16).padStart(8, '0'))
    return `${this.#entries.toString(36)}-${sums.join('')}`
  }
}

function hashLane(words: ArrayLike<number>, lane: number): number {
  const { seed, first, second } = LANES[lane] ?? LANES[0]
  let hash: number = seed
  for (let index = 0; index < words.length; index++) {
    let word = Math.imul(words[index] ?? 0, first)
    word = Math.imul((word << 15) | (word >>> 17), second)
    hash ^= word
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64
  }
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

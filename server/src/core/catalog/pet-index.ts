import { PET_STATUSES, type PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'
import { lowerBound } from '../values/lower-bound.ts'
import type { InventorySearch, SearchOrder, SearchPosition, SearchWindow } from './search.ts'

/** The fields that searches filter and sort by. */
export interface IndexedPet {
  readonly id: bigint
  /** The words of the name, as `nameWords` returns them. */
  readonly words: string
  readonly categoryId: bigint
  readonly status: PetStatus
  readonly quantity: number
  readonly reserved: number
  readonly isLow: boolean
}

interface IndexQuery extends SearchWindow {
  readonly search: InventorySearch
  /** The pet that has the barcode of the search. */
  readonly barcodeOwner: bigint | undefined
  /** By `performance.now()`. */
  readonly deadline: number
}

const INITIAL_CAPACITY = 64
/** About 0.3 ms of work. */
const PETS_PER_DEADLINE_CHECK = 32_768
/**
 * A search that sorts by name begins with this many pets in the order of their names. If they do not fill the page, it
 * examines all pets in the order of their ids, which takes less time per pet.
 */
const MAX_EXAMINED_BY_NAME = 4_096
/** The column `facts` packs the status (two bits), whether the pet is low (one bit) and the category into one number. */
const STATUS_MASK = 3
const LOW_FLAG = 4
const CATEGORY_SHIFT = 3
const HEAD_BYTES = 4
/** `BestSlots` drops the worse candidates when it has more than twice the page size plus this number. */
const SELECTION_SLACK = 64
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * All pets in memory, as columns of about 80 bytes per pet. Each pet has a slot: its index in all columns except `byId` and
 * `byName`, which hold slots in the order of the ids and names. A search that sorts by id examines the pets in that order and
 * stops when its page is full. A search that sorts by name examines the first MAX_EXAMINED_BY_NAME pets in that order and, if
 * they do not fill the page, all pets. A search that sorts by units examines all pets and keeps the best.
 */
export class PetIndex {
  #columns = columnsFor(INITIAL_CAPACITY)
  /** The words of all pets in UTF-8. If a pet is renamed, its new words are appended and the old words stay. */
  #text = Buffer.alloc(INITIAL_CAPACITY)
  #textEnd = 0
  /** A token is one word of a pet: its first bytes, and its offset in the words of the pet. */
  #tokenHeads = new Uint32Array(INITIAL_CAPACITY)
  #tokenOffsets = new Uint16Array(INITIAL_CAPACITY)
  #tokenEnd = 0
  #unusedTokens = 0
  #count = 0
  /** How many pets `appendToNameOrder` has added. */
  #namedCount = 0
  #slotEnd = 0
  readonly #freeSlots: number[] = []
  /** Whether `nameRanks` is up to date with `byName`. */
  #areRanksCurrent = true
  readonly #categoryCodes = new Map<bigint, number>()

  /** Whether renamed and removed pets have left so much unused space that the index should be loaded again. */
  get shouldReload(): boolean {
    return this.#unusedTokens > 10_000 && this.#unusedTokens > this.#tokenEnd / 2
  }

  /**
   * Adds a pet, whose id must be higher than all ids in the index. When all pets are added, call `appendToNameOrder` for
   * each of them, in the order of their names.
   */
  append(pet: IndexedPet): void {
    const slot = this.#writeNewPet(pet)
    this.#columns.byId[this.#count++] = slot
  }

  /** Appends a pet to the order by name. Ignores a pet that is not in the index. */
  appendToNameOrder(id: bigint): void {
    const slot = this.#slotOf(id)
    if (slot === undefined) return
    this.#columns.byName[this.#namedCount] = slot
    this.#columns.nameRanks[slot] = this.#namedCount
    this.#namedCount++
  }

  set(pet: IndexedPet): void {
    const oldSlot = this.#slotOf(pet.id)
    if (oldSlot !== undefined && this.#wordsAt(oldSlot) === pet.words) {
      this.#writeNumbers(oldSlot, pet)
      return
    }
    this.remove(pet.id)
    const slot = this.#writeNewPet(pet)
    const idPosition = this.#idPosition(pet.id)
    const namePosition = this.#namePosition(this.#textAt(slot), pet.id)
    const { byId, byName } = this.#columns
    byId.copyWithin(idPosition + 1, idPosition, this.#count)
    byId[idPosition] = slot
    byName.copyWithin(namePosition + 1, namePosition, this.#count)
    byName[namePosition] = slot
    this.#count++
    this.#areRanksCurrent = false
  }

  remove(id: bigint): void {
    const slot = this.#slotOf(id)
    if (slot === undefined) return
    const namePosition = this.#namePosition(this.#textAt(slot), id)
    const idPosition = this.#idPosition(id)
    const { byId, byName, tokenCounts } = this.#columns
    byId.copyWithin(idPosition, idPosition + 1, this.#count)
    byName.copyWithin(namePosition, namePosition + 1, this.#count)
    this.#count--
    this.#unusedTokens += tokenCounts[slot] ?? 0
    this.#freeSlots.push(slot)
    this.#areRanksCurrent = false
  }

  /** The first `limit` pets that the search finds, each with its id and the value that it is sorted by. */
  find(query: IndexQuery): SearchPosition[] {
    const { by } = query.search.order
    const { ids, quantities, availableUnits } = this.#columns
    return this.#slotsFor(query).map((slot) => {
      const id = ids[slot] ?? 0n
      if (by === 'petId') return { id }
      if (by === 'name') return { id, value: this.#wordsAt(slot) }
      return { id, value: (by === 'quantity' ? quantities[slot] : availableUnits[slot]) ?? 0 }
    })
  }

  #slotsFor(query: IndexQuery): readonly number[] {
    const { by } = query.search.order
    const { byId, byName, quantities, availableUnits } = this.#columns
    const matches = this.#matcher(query)
    if (by === 'petId') return this.#firstMatches(query, matches, byId, this.#count)
    if (by === 'quantity') return this.#bestMatches(query, matches, quantities)
    if (by === 'available') return this.#bestMatches(query, matches, availableUnits)
    const first = this.#firstMatches(query, matches, byName, MAX_EXAMINED_BY_NAME)
    if (first.length === query.limit || this.#count <= MAX_EXAMINED_BY_NAME) return first
    return this.#bestMatches(query, matches, this.#nameRanks())
  }

  /** The first matching pets. Examines at most `maxExamined` pets, beginning with the first pet after `after`. */
  #firstMatches(
    { search: { order }, after, limit, deadline }: IndexQuery,
    matches: (slot: number) => boolean,
    slots: Uint32Array,
    maxExamined: number,
  ): number[] {
    const { isDescending } = order
    const count = this.#count
    const start = this.#ordinalAfter(order, after)
    const end = Math.min(count, start + maxExamined)
    const found: number[] = []
    for (let ordinal = start; ordinal < end && found.length < limit; ordinal++) {
      if (ordinal % PETS_PER_DEADLINE_CHECK === 0) checkDeadline(deadline)
      const slot = slots[isDescending ? count - 1 - ordinal : ordinal] ?? 0
      if (matches(slot)) found.push(slot)
    }
    return found
  }

  /** The ordinal of the first pet after a place. Ordinal 0 has the lowest id or name, or the highest if the order is descending. */
  #ordinalAfter({ by, isDescending }: SearchOrder, after: SearchPosition | undefined): number {
    if (after === undefined) return 0
    const { byId, byName, ids } = this.#columns
    const words = by === 'name' ? encoder.encode(String(after.value)) : undefined
    const position = words === undefined ? this.#idPosition(after.id) : this.#namePosition(words, after.id)
    if (isDescending) return this.#count - position
    const slot = (words === undefined ? byId : byName)[position]
    const isPresent =
      position < this.#count &&
      slot !== undefined &&
      ids[slot] === after.id &&
      (words === undefined || Buffer.compare(this.#textAt(slot), words) === 0)
    return isPresent ? position + 1 : position
  }

  /** The matching pets with the best values. Examines all pets by id, so that pets with equal values are sorted by id. */
  #bestMatches(
    { search: { order }, after, limit, deadline }: IndexQuery,
    matches: (slot: number) => boolean,
    values: Float64Array | Uint32Array,
  ): number[] {
    const { by, isDescending } = order
    const { byId } = this.#columns
    const count = this.#count
    const sign = isDescending ? -1 : 1
    const best = new BestSlots(limit)
    // The key of a pet is its value, or the negated value if the order is descending. Pets of earlier pages are skipped: their
    // key is below `lowestKey`, or equal to it with an ordinal below `firstOrdinal`.
    let lowestKey = Number.NEGATIVE_INFINITY
    let firstOrdinal = 0
    if (after !== undefined && by === 'name') {
      const ordinal = this.#ordinalAfter(order, after)
      const rank = isDescending ? count - 1 - ordinal : ordinal
      lowestKey = sign * rank
    } else if (after !== undefined) {
      lowestKey = sign * Number(after.value)
      firstOrdinal = this.#ordinalAfter({ by: 'petId', isDescending }, after)
    }
    for (let ordinal = 0; ordinal < count; ordinal++) {
      if (ordinal % PETS_PER_DEADLINE_CHECK === 0) checkDeadline(deadline)
      const slot = byId[isDescending ? count - 1 - ordinal : ordinal] ?? 0
      const key = sign * (values[slot] ?? 0)
      if (key >= best.worstKey || key < lowestKey || (key === lowestKey && ordinal < firstOrdinal)) continue
      if (matches(slot)) best.add(key, slot)
    }
    return best.toSorted()
  }

  #matcher({ search, barcodeOwner }: IndexQuery): (slot: number) => boolean {
    const { status, isLow, categoryId, below = Number.POSITIVE_INFINITY, text } = search
    const { facts, availableUnits, signatures } = this.#columns
    const categoryCode = categoryId === undefined ? 0 : this.#categoryCodes.get(categoryId)
    if (categoryCode === undefined) return () => false
    // The status, the low flag and the category are compared in one operation.
    const mask =
      (status === undefined ? 0 : STATUS_MASK) |
      (isLow ? LOW_FLAG : 0) |
      (categoryId === undefined ? 0 : -1 << CATEGORY_SHIFT)
    const wantedFacts =
      (status === undefined ? 0 : PET_STATUSES.indexOf(status)) |
      (isLow ? LOW_FLAG : 0) |
      (categoryCode << CATEGORY_SHIFT)
    const prefixes = text?.words.map((word) => encoder.encode(word)) ?? []
    const signature = prefixes.reduce((bits, prefix) => bits | signatureOf(prefix, 0, prefix.length), 0)
    const hasText = text !== undefined
    const hasWords = this.#wordMatcher(prefixes)
    // -1 is not a slot.
    const slotWithId = text?.id === undefined ? -1 : (this.#slotOf(text.id) ?? -1)
    const slotWithBarcode = barcodeOwner === undefined ? -1 : (this.#slotOf(barcodeOwner) ?? -1)
    return (slot) => {
      if (((facts[slot] ?? 0) & mask) !== wantedFacts) return false
      if ((availableUnits[slot] ?? 0) >= below) return false
      if (!hasText || slot === slotWithId || slot === slotWithBarcode) return true
      return ((signatures[slot] ?? 0) & signature) === signature && hasWords(slot)
    }
  }

  /** Matches pets that have, for each prefix, a word that begins with it. */
  #wordMatcher(prefixes: readonly Uint8Array[]): (slot: number) => boolean {
    if (prefixes.length === 0) return () => false
    const heads = Uint32Array.from(prefixes, (prefix) => headOf(prefix, 0, prefix.length))
    const masks = Uint32Array.from(prefixes, (prefix) => headMask(prefix.length))
    const { firstTokens, tokenCounts } = this.#columns
    const tokenHeads = this.#tokenHeads
    return (slot) => {
      const firstToken = firstTokens[slot] ?? 0
      const endToken = firstToken + (tokenCounts[slot] ?? 0)
      for (let index = 0; index < heads.length; index++) {
        const head = heads[index] ?? 0
        const mask = masks[index] ?? 0
        let token = firstToken
        for (; token < endToken; token++) {
          const hasSameHead = ((tokenHeads[token] ?? 0) & mask) >>> 0 === head
          if (hasSameHead && this.#hasPrefix(slot, token, prefixes[index])) break
        }
        if (token === endToken) return false
      }
      return true
    }
  }

  /** Whether the word has this prefix. The caller has compared the first bytes. */
  #hasPrefix(slot: number, token: number, prefix: Uint8Array | undefined): boolean {
    if (prefix === undefined || prefix.length <= HEAD_BYTES) return true
    const { textStarts, textLengths } = this.#columns
    const start = (textStarts[slot] ?? 0) + (this.#tokenOffsets[token] ?? 0)
    const end = (textStarts[slot] ?? 0) + (textLengths[slot] ?? 0)
    if (start + prefix.length > end) return false
    for (let index = HEAD_BYTES; index < prefix.length; index++) {
      if (this.#text[start + index] !== prefix[index]) return false
    }
    return true
  }

  #nameRanks(): Uint32Array {
    const { byName, nameRanks } = this.#columns
    if (!this.#areRanksCurrent) {
      for (let rank = 0; rank < this.#count; rank++) nameRanks[byName[rank] ?? 0] = rank
      this.#areRanksCurrent = true
    }
    return nameRanks
  }

  #writeNewPet(pet: IndexedPet): number {
    const slot = this.#takeSlot()
    this.#writeNumbers(slot, pet)
    this.#writeWords(slot, pet.words)
    return slot
  }

  #takeSlot(): number {
    const free = this.#freeSlots.pop()
    if (free !== undefined) return free
    if (this.#slotEnd === this.#columns.ids.length) this.#doubleCapacity()
    return this.#slotEnd++
  }

  #doubleCapacity(): void {
    const largerColumns = columnsFor(this.#slotEnd * 2)
    const columns = Object.values(this.#columns)
    for (const [index, largerColumn] of Object.values(largerColumns).entries()) {
      new Uint8Array(largerColumn.buffer).set(new Uint8Array(columns[index]?.buffer ?? []))
    }
    this.#columns = largerColumns
  }

  #writeNumbers(slot: number, { id, quantity, reserved, status, isLow, categoryId }: IndexedPet): void {
    let categoryCode = this.#categoryCodes.get(categoryId)
    if (categoryCode === undefined) {
      categoryCode = this.#categoryCodes.size
      this.#categoryCodes.set(categoryId, categoryCode)
    }
    const { ids, quantities, availableUnits, facts } = this.#columns
    ids[slot] = id
    quantities[slot] = quantity
    availableUnits[slot] = quantity - reserved
    facts[slot] = PET_STATUSES.indexOf(status) | (isLow ? LOW_FLAG : 0) | (categoryCode << CATEGORY_SHIFT)
  }

  #writeWords(slot: number, words: string): void {
    const start = this.#textEnd
    const maxBytes = words.length * 3
    if (start + maxBytes > this.#text.length) {
      const larger = Buffer.alloc((start + maxBytes) * 2)
      larger.set(this.#text)
      this.#text = larger
    }
    const byteLength = this.#text.write(words, start)
    const end = start + byteLength
    const { textStarts, textLengths, firstTokens, tokenCounts, signatures } = this.#columns
    textStarts[slot] = start
    textLengths[slot] = byteLength
    firstTokens[slot] = this.#tokenEnd
    let signature = 0
    let wordStart = start
    while (wordStart < end) {
      let wordEnd = wordStart
      while (wordEnd < end && this.#text[wordEnd] !== BLANK) wordEnd++
      this.#addToken(headOf(this.#text, wordStart, wordEnd), wordStart - start)
      signature |= signatureOf(this.#text, wordStart, wordEnd)
      wordStart = wordEnd + 1
    }
    tokenCounts[slot] = this.#tokenEnd - (firstTokens[slot] ?? 0)
    signatures[slot] = signature
    this.#textEnd = end
  }

  #addToken(head: number, offset: number): void {
    if (this.#tokenEnd === this.#tokenHeads.length) {
      const heads = new Uint32Array(this.#tokenEnd * 2)
      const offsets = new Uint16Array(this.#tokenEnd * 2)
      heads.set(this.#tokenHeads)
      offsets.set(this.#tokenOffsets)
      this.#tokenHeads = heads
      this.#tokenOffsets = offsets
    }
    this.#tokenHeads[this.#tokenEnd] = head
    this.#tokenOffsets[this.#tokenEnd] = offset
    this.#tokenEnd++
  }

  #textAt(slot: number): Uint8Array {
    const start = this.#columns.textStarts[slot] ?? 0
    return this.#text.subarray(start, start + (this.#columns.textLengths[slot] ?? 0))
  }

  #wordsAt(slot: number): string {
    return decoder.decode(this.#textAt(slot))
  }

  #slotOf(id: bigint): number | undefined {
    const position = this.#idPosition(id)
    const slot = this.#columns.byId[position]
    return position < this.#count && slot !== undefined && this.#columns.ids[slot] === id ? slot : undefined
  }

  /** The position of the id in `byId`, or the position at which to insert it. */
  #idPosition(id: bigint): number {
    const { byId, idHalves } = this.#columns
    const high = Number(id >> 32n)
    const low = Number(BigInt.asUintN(32, id))
    return lowerBound(this.#count, (position) => {
      const lowIndex = (byId[position] ?? 0) * 2
      const otherHigh = idHalves[lowIndex + 1] ?? 0
      return otherHigh < high || (otherHigh === high && (idHalves[lowIndex] ?? 0) >>> 0 < low)
    })
  }

  #namePosition(words: Uint8Array, id: bigint): number {
    const { byName, ids } = this.#columns
    return lowerBound(this.#count, (position) => {
      const slot = byName[position] ?? 0
      const comparison = Buffer.compare(this.#textAt(slot), words)
      return comparison < 0 || (comparison === 0 && (ids[slot] ?? 0n) < id)
    })
  }
}

/** Each array is indexed by slot, except `byId` and `byName`. */
function columnsFor(capacity: number) {
  const ids = new BigInt64Array(capacity)
  return {
    ids,
    /** The memory of `ids`, lower half of each id first. Comparing numbers is several times faster than comparing bigints. */
    idHalves: new Int32Array(ids.buffer),
    quantities: new Float64Array(capacity),
    availableUnits: new Float64Array(capacity),
    facts: new Int32Array(capacity),
    /** Signatures exclude most pets that lack a searched word, without comparing the words: see `signatureOf`. */
    signatures: new Uint32Array(capacity),
    textStarts: new Uint32Array(capacity),
    textLengths: new Uint16Array(capacity),
    firstTokens: new Uint32Array(capacity),
    tokenCounts: new Uint8Array(capacity),
    nameRanks: new Uint32Array(capacity),
    /** The slots of the pets in the order of their ids, and of their names. */
    byId: new Uint32Array(capacity),
    byName: new Uint32Array(capacity),
  }
}

const BLANK = 0x20

function checkDeadline(deadline: number): void {
  if (performance.now() < deadline) return
  throw new ServiceError(
    'invalid_request',
    'the search takes too long; narrow it with more or longer words in q, or with categoryId, status, low or below',
  )
}

/** The first four bytes of a word as a number, padded with zeros. */
function headOf(bytes: Uint8Array, start: number, end: number): number {
  let head = 0
  for (let index = 0; index < HEAD_BYTES; index++) {
    head = (head << 8) | (start + index < end ? (bytes[start + index] ?? 0) : 0)
  }
  return head >>> 0
}

function headMask(prefixLength: number): number {
  return prefixLength >= HEAD_BYTES ? 0xffff_ffff : (0xffff_ffff << (8 * (HEAD_BYTES - prefixLength))) >>> 0
}

/**
 * Hashes the first byte of a word to one of 16 bits, and its first two bytes to one of 16 other bits. A name has the bits of
 * all its words. A word of one byte has only the bit of its first byte. A name can have a word only if it has the bits of
 * that word.
 */
function signatureOf(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] ?? 0
  const firstByteBit = 1 << ((first ^ (first >>> 4)) & 15)
  if (end - start < 2) return firstByteBit
  const second = bytes[start + 1] ?? 0
  return firstByteBit | (1 << (16 + (((first * 31 + second) * 0x9e3779b1) >>> 28)))
}

/** Keeps the slots with the lowest keys. Of slots with equal keys, it keeps those that were added first. */
class BestSlots {
  readonly #limit: number
  #entries: { key: number; slot: number }[] = []
  /** Once the page is full, only slots with lower keys can enter it. */
  worstKey = Number.POSITIVE_INFINITY

  constructor(limit: number) {
    this.#limit = limit
  }

  add(key: number, slot: number): void {
    this.#entries.push({ key, slot })
    if (this.#entries.length > 2 * this.#limit + SELECTION_SLACK) this.#dropWorse()
  }

  toSorted(): number[] {
    this.#dropWorse()
    return this.#entries.map(({ slot }) => slot)
  }

  /** Sorting is stable, so equal keys stay in the order in which they were added. */
  #dropWorse(): void {
    this.#entries = this.#entries.sort((a, b) => a.key - b.key).slice(0, this.#limit)
    if (this.#entries.length === this.#limit) this.worstKey = this.#entries.at(-1)?.key ?? this.worstKey
  }
}

import type { InventoryItem } from '../inventory.ts'
import { ContentTag } from './content-tag.ts'
import { InventoryPage } from './inventory-page.ts'

/**
 * The whole list at one moment, ready to send: the parts joined are the JSON array. As long as nothing changes it
 * is the same object, so what is made of it can be kept beside it.
 */
export interface InventorySnapshot {
  readonly parts: readonly Uint8Array[]
  readonly byteLength: number
  readonly tag: string
}

const CLOSING = new TextEncoder().encode(']')

/** All entries in petId order, cut into pages. A change serialises one page anew, never the list. */
export class InventoryPages {
  /** There is always one; only a single one can be empty. */
  readonly #pages = [new InventoryPage()]
  readonly #tag = new ContentTag()
  #snapshot: InventorySnapshot | undefined

  get count(): number {
    return this.#pages.reduce((sum, page) => sum + page.count, 0)
  }

  /** Adds an entry, or replaces the one with the same id. */
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
    this.#snapshot ??= this.#takeSnapshot()
    return this.#snapshot
  }

  #takeSnapshot(): InventorySnapshot {
    const parts = this.#pages.map((page, index) => page.bytes(index === 0 ? '[' : ','))
    parts.push(CLOSING)
    const byteLength = parts.reduce((sum, part) => sum + part.length, 0)
    return { parts, byteLength, tag: this.#tag.toString() }
  }

  #pageAt(index: number): InventoryPage {
    const page = this.#pages[index]
    if (page === undefined) throw new RangeError(`there is no page ${index}`)
    return page
  }

  /** The last page that begins at or before the id; the first one for an id before all. */
  #indexFor(petId: bigint): number {
    const last = this.#pages.length - 1
    // At the start they come in order, each behind all others.
    if (this.#pageAt(last).firstId <= petId) return last
    let low = 0
    let high = last
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#pageAt(middle).firstId <= petId) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  #insertIntoFull(index: number, page: InventoryPage, item: InventoryItem): void {
    const isNewLast = index === this.#pages.length - 1 && page.slotOf(item.petId) === page.count
    // Entries that come in order, as they do at the start, fill each page to the brim.
    const other = isNewLast ? new InventoryPage() : page.split()
    this.#pages.splice(index + 1, 0, other)
    const target = isNewLast || item.petId > other.firstId ? other : page
    this.#insert(target, target.slotOf(item.petId), item)
  }

  #insert(page: InventoryPage, slot: number, item: InventoryItem): void {
    page.insert(slot, item)
    this.#tag.add(page.wordsOf(slot))
    this.#snapshot = undefined
  }
}

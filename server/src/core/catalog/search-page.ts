import type { PageRequest } from '../values/page-request.ts'
import type { CatalogStore, SearchStep, SearchWay } from './catalog-store.ts'
import {
  fromCursor,
  type InventorySearch,
  type SearchOrder,
  type SearchPlace,
  type SearchRow,
  toCursor,
} from './search.ts'

type Found = SearchRow & { readonly place: SearchPlace }

/** The pets looked at in a step: few at first, since most pages are full by then. */
const FIRST_STEP = 128
const STEP_GROWTH = 4
/** Pets looked at for each one wanted before the index of words is asked: a word that is common is found sooner so. */
const LOOKED_AT_FOR_ONE = 16
/** It is asked where fewer than one in so many had the words: those that more have are found by going on. */
const COMMON = 32
/** An index of words reads all that it finds anew for each step: from then on passing every pet costs less. */
const MAX_STEPS_BY_WORDS = 16

/**
 * A page of what is searched for, and the cursor of the next one where there is one. Pets are looked at step by step, and
 * others get a turn in between: where no index has the order that is wanted, all that may be found are passed.
 */
export async function searchPage(
  store: Pick<CatalogStore, 'searchStep'>,
  search: InventorySearch,
  { limit, cursor }: PageRequest,
): Promise<{ rows: readonly SearchRow[]; next: string | undefined }> {
  const behind = cursor === undefined ? undefined : fromCursor(search, cursor)
  // One more than asked for tells whether there is a next page.
  const found = await new Searching(store, search, limit + 1, behind).run()
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(({ place: _, ...row }) => row),
    next: found.length > limit && last !== undefined ? toCursor(search, last.place) : undefined,
  }
}

class Searching {
  readonly #store: Pick<CatalogStore, 'searchStep'>
  readonly #search: InventorySearch
  readonly #wanted: number
  readonly #behind: SearchPlace | undefined
  #best: readonly Found[] = []

  constructor(
    store: Pick<CatalogStore, 'searchStep'>,
    search: InventorySearch,
    wanted: number,
    behind: SearchPlace | undefined,
  ) {
    this.#store = store
    this.#search = search
    this.#wanted = wanted
    this.#behind = behind
  }

  async run(): Promise<readonly Found[]> {
    const { text, order } = this.#search
    const way = indexOf(this.#search)
    if (order.by === 'name') await this.#byName(way)
    else if (order.by !== 'petId') await this.#steps(way, undefined, { isSorted: false })
    else {
      const mayBeCommon = text !== undefined && text.words.length > 0
      const from = mayBeCommon ? await this.#lookAhead('petId') : this.#behind
      if (from !== 'all_seen') await this.#steps(way, from, { isSorted: true })
    }
    return this.#best
  }

  /** What an index finds is sorted, unless the first names have it; all names are passed only where there is no index. */
  async #byName(way: SearchWay): Promise<void> {
    if (way === 'petId' || way === 'status') return this.#steps('name', this.#behind, { isSorted: true })
    if ((await this.#lookAhead('name')) === 'all_seen') return
    this.#best = []
    await this.#steps(way, undefined, { isSorted: false })
  }

  async #lookAhead(way: 'petId' | 'name'): Promise<SearchPlace | 'all_seen'> {
    const size = sizeFor(this.#wanted * LOOKED_AT_FOR_ONE)
    let from = this.#behind
    for (let lookedAt = size; ; lookedAt += size) {
      const { rows, upTo } = await this.#step({ way, size, from })
      this.#best = best([...this.#best, ...rows], this.#search.order, this.#wanted)
      if (upTo === undefined || this.#isFull) return 'all_seen'
      if (this.#best.length * COMMON < lookedAt) return upTo
      from = upTo
      await new Promise(setImmediate)
    }
  }

  /** Those that are looked at in the order of the search are the best as they come. */
  async #steps(
    index: SearchWay,
    from: SearchPlace | undefined,
    { isSorted }: { readonly isSorted: boolean },
  ): Promise<void> {
    let size = sizeFor(this.#wanted)
    let next = from
    for (let steps = 1; ; steps++, size *= STEP_GROWTH) {
      const way = index === 'words' && steps > MAX_STEPS_BY_WORDS ? 'petId' : index
      const { rows, upTo } = await this.#step({ way, size, from: next })
      this.#best = best([...this.#best, ...rows], this.#search.order, this.#wanted)
      if (upTo === undefined || (isSorted && this.#isFull)) return
      next = upTo
      await new Promise(setImmediate)
    }
  }

  get #isFull(): boolean {
    return this.#best.length === this.#wanted
  }

  async #step(step: Omit<SearchStep, 'behind' | 'limit'>) {
    const { rows, upTo } = await this.#store.searchStep(this.#search, {
      ...step,
      ...{ behind: this.#behind, limit: this.#wanted },
    })
    return { rows: best(rows, this.#search.order, this.#wanted), upTo }
  }
}

/** Each of these finds pets by id; the first that fits looks at the fewest, as a rule. */
function indexOf({ text, isLow, categoryId, status }: InventorySearch): SearchWay {
  if (text !== undefined) return 'words'
  if (isLow) return 'low'
  if (categoryId !== undefined) return 'category'
  return status === undefined ? 'petId' : 'status'
}

/** One of a few sizes: a database plans a statement for each. */
function sizeFor(wanted: number): number {
  let size = FIRST_STEP
  while (size < wanted) size *= STEP_GROWTH
  return size
}

function best(rows: readonly Found[], { by, isDescending }: SearchOrder, wanted: number): Found[] {
  const sign = isDescending ? -1 : 1
  return rows
    .toSorted(({ place: one }, { place: other }) => {
      const byValue = by === 'petId' ? 0 : compared(one.value, other.value)
      return sign * (byValue || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
    })
    .slice(0, wanted)
}

/** Texts as databases compare their bytes. */
function compared(one: SearchPlace['value'], other: SearchPlace['value']): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'string' && typeof other === 'string') {
    return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other))
  }
  throw new Error(`${one} and ${other} cannot be compared`)
}

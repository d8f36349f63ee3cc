import { PET } from '../core/catalog/pet.ts'
import { type IndexedPet, PetIndex } from '../core/catalog/pet-index.ts'
import type { FoundPet, InventorySearch, SearchPosition, SearchWindow } from '../core/catalog/search.ts'
import { ServiceError } from '../core/values/errors.ts'
import { toPet } from './catalog-rows.ts'
import type { LockedRow } from './log-rows.ts'
import { IS_LOW } from './low-stock.ts'
import { expiredUnits } from './order-rows.ts'
import { selectList } from './record-rows.ts'
import type { Dialect, LongSession, StoreClock } from './sql.ts'

/** A snapshot of the database: all its reads see the same state. */
export interface SearchSnapshot extends Pick<LongSession, 'rows' | 'batches' | 'close'> {
  readonly cursor: () => Promise<string>
  /** The pets that may have changed since the cursor, as they are in this snapshot. */
  readonly changedSince: (cursor: string) => Promise<readonly IndexedPetRow[] | 'reload'>
}

/** If the pet was removed, all columns except the id are null. */
export interface IndexedPetRow extends Pick<LockedRow, 'status' | 'quantity' | 'reserved'> {
  readonly id: bigint
  /** The words of the name, as `nameWords` returns them. */
  readonly words: string | null
  readonly category_id: bigint
  readonly is_low: bigint | boolean
}

interface SearchSource {
  readonly dialect: Dialect
  readonly clock: Pick<StoreClock, 'nowSql'>
  readonly snapshot: () => Promise<SearchSnapshot>
}

/** Applying the changes of more pets than this takes as long as loading all pets. */
export const MAX_CHANGED_PETS = 50_000

/** The columns of `IndexedPetRow` except the id, from `stock JOIN pets`. */
export const INDEXED_COLUMNS = `pets.words, pets.category_id, status, quantity, reserved, ${IS_LOW} AS is_low`
const PETS_BY_ID = `
  SELECT stock.pet_id AS id, ${INDEXED_COLUMNS}
  FROM stock JOIN pets ON pets.id = stock.pet_id ORDER BY stock.pet_id`

export interface SearchRequest extends SearchWindow {
  readonly search: InventorySearch
  /** The time of this process; null if SQL reads the clock of the database. Holds that have expired by then reserve no units. */
  readonly now: number | null
  readonly budgetMs: number
}

/** If no search has run for this long, the index stops following the log, because following costs time for every update. */
const FOLLOW_FOR_MS = 60_000

/** If loading the index takes longer than this, the searches that wait for it fail. */
export const LOAD_TIMEOUT_MS = 5_000

/**
 * Searches the index of all pets. The index catches up with the log before each search, so a search finds every change that was
 * committed before the search started. Calls of `search`, `follow` and `startPreparing` must not overlap.
 */
export class PetSearch {
  readonly #source: SearchSource
  readonly #loadTimeoutMs: number
  readonly #rowsStatement: string
  #index: PetIndex | undefined
  #cursor = ''
  #lastSearchAt = Number.NEGATIVE_INFINITY
  #loading: { readonly done: Promise<void>; readonly deadline: number } | undefined

  constructor(source: SearchSource, { loadTimeoutMs = LOAD_TIMEOUT_MS } = {}) {
    this.#source = source
    this.#loadTimeoutMs = loadTimeoutMs
    this.#rowsStatement = rowsStatement(source)
  }

  async search(request: SearchRequest): Promise<FoundPet[]> {
    this.#lastSearchAt = performance.now()
    for (;;) {
      if (this.#loading !== undefined) await waitForLoad(this.#loading)
      const found = await this.#searchIndex(request)
      if (found !== 'loading') return found
    }
  }

  /** Applies the latest changes of the log to the index. If the index is not loaded, only starts loading it. */
  async startPreparing(): Promise<void> {
    if (this.#loading !== undefined) return
    const ready = await this.#openIndex()
    await ready?.snapshot.close()
  }

  async whenLoaded(): Promise<void> {
    await this.#loading?.done
  }

  /** Catches up with the log if there was a search recently, so that the next search has to apply only few changes. */
  async follow(): Promise<void> {
    const isInUse = performance.now() - this.#lastSearchAt < FOLLOW_FOR_MS
    if (isInUse && this.#index !== undefined) await this.startPreparing()
  }

  async #searchIndex(request: SearchRequest): Promise<FoundPet[] | 'loading'> {
    const { search, after, limit, now, budgetMs } = request
    const ready = await this.#openIndex()
    if (ready === undefined) return 'loading'
    const { snapshot, index } = ready
    try {
      const barcodeOwner = await findBarcodeOwner(snapshot, search.text?.barcode)
      const deadline = performance.now() + budgetMs
      const places = index.find({ search, after, limit, barcodeOwner, deadline })
      return await this.#rowsAt(snapshot, places, now)
    } finally {
      await snapshot.close()
    }
  }

  /** The index and a snapshot that the caller must close. If the index has to be loaded, starts loading and returns `undefined`. */
  async #openIndex(): Promise<{ snapshot: SearchSnapshot; index: PetIndex } | undefined> {
    const snapshot = await this.#source.snapshot()
    let index: PetIndex | undefined
    try {
      index = await this.#catchUp(snapshot)
    } catch (error) {
      await snapshot.close()
      throw error
    }
    if (index !== undefined) return { snapshot, index }
    this.#startLoading(snapshot)
    return undefined
  }

  /** Updates the index to the snapshot and returns it. Returns `undefined` if the index has to be loaded. */
  async #catchUp(snapshot: SearchSnapshot): Promise<PetIndex | undefined> {
    const index = this.#index
    if (index === undefined) return undefined
    const cursor = await snapshot.cursor()
    if (cursor === this.#cursor) return index
    const changed = await snapshot.changedSince(this.#cursor)
    if (changed === 'reload') return undefined
    for (const pet of changed) {
      if (pet.words === null) index.remove(pet.id)
      else index.set(toIndexed(pet, pet.words))
    }
    this.#cursor = cursor
    return index
  }

  /** Loads the index from the snapshot in the background, then closes the snapshot. */
  #startLoading(snapshot: SearchSnapshot): void {
    // The old index is dropped first, because two indexes would need twice the memory.
    this.#index = undefined
    const load = async () => {
      try {
        this.#index = await loadIndex(snapshot)
        this.#cursor = await snapshot.cursor()
      } finally {
        this.#loading = undefined
        await snapshot.close()
      }
    }
    const done = load()
    this.#loading = { done, deadline: performance.now() + this.#loadTimeoutMs }
    // If no search waits for this load, a failure is ignored: the next search starts another load and reports its failure.
    done.catch(() => {})
  }

  async #rowsAt(
    snapshot: SearchSnapshot,
    places: readonly SearchPosition[],
    now: number | null,
  ): Promise<FoundPet[]> {
    if (places.length === 0) return []
    const ids = `[${places.map(({ id }) => id).join()}]`
    const rows = await snapshot.rows<FoundRow>(this.#rowsStatement, now, ids)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return places.flatMap((place) => {
      const row = byId.get(place.id)
      return row === undefined ? [] : [toFound(row, place)]
    })
  }
}

async function loadIndex(snapshot: SearchSnapshot): Promise<PetIndex> {
  const index = new PetIndex()
  for await (const pets of snapshot.batches<IndexedPetRow & { words: string }>(PETS_BY_ID)) {
    for (const pet of pets) index.append(toIndexed(pet, pet.words))
  }
  return index
}

/** Waits until the index is loaded. Throws if it is not loaded by the deadline. */
async function waitForLoad({ done, deadline }: { done: Promise<void>; deadline: number }): Promise<void> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), Math.max(0, deadline - performance.now()))
  const outcome = await Promise.race([done, late.promise]).finally(() => clearTimeout(timer))
  if (outcome === 'late') {
    throw new ServiceError(
      'service_unavailable',
      'the search index is still loading, which takes a few seconds after a start or an import; try again shortly',
    )
  }
}

function toIndexed(pet: IndexedPetRow, words: string): IndexedPet {
  return {
    id: pet.id,
    text: ` ${words}`,
    categoryId: pet.category_id,
    status: pet.status,
    quantity: Number(pet.quantity),
    available: Number(pet.quantity - pet.reserved),
    isLow: Boolean(Number(pet.is_low)),
  }
}

async function findBarcodeOwner(
  snapshot: SearchSnapshot,
  barcode: string | undefined,
): Promise<bigint | undefined> {
  if (barcode === undefined) return undefined
  const [owner] = await snapshot.rows<{ id: bigint }>('SELECT id FROM pets WHERE barcode = $1', barcode)
  return owner?.id
}

/** A pet that a search has found. The row also has a column for each field of the pet. */
interface FoundRow extends Pick<LockedRow, 'quantity' | 'reserved'> {
  readonly id: bigint
  /** The pet's own threshold, or the threshold of its category. */
  readonly threshold: bigint | null
  readonly low_since: bigint | null
  /** The part of `reserved` that belongs to expired holds. Callers do not see it as reserved. */
  readonly expired_units: bigint
}

const { id: _, ...FIELDS_WITHOUT_ID } = PET

/** A SELECT of the pets whose ids are in the JSON array $2. $1 is the time. */
function rowsStatement({ dialect, clock }: SearchSource): string {
  return `
    SELECT wanted.id, ${selectList(FIELDS_WITHOUT_ID)}, quantity, reserved, low_at AS threshold, ${expiredUnits(dialect, 'wanted.id', `(SELECT ${clock.nowSql('$1')})`)} AS expired_units,
      CASE WHEN ${IS_LOW} THEN (
        SELECT at FROM log ${dialect.indexedBy('log_of_crossings')}
        WHERE log.pet_id = wanted.id AND kind = 'low' ORDER BY id DESC LIMIT 1) END AS low_since
    FROM (${dialect.idsInJsonArray('$2')}) AS wanted
      ${dialect.joinByIndex('stock', 'stock.pet_id = wanted.id')} ${dialect.joinByIndex('pets', 'pets.id = wanted.id')}`
}

function toFound(row: FoundRow, place: SearchPosition): FoundPet {
  const { id: petId, lowStockAt: ownLowStockAt, ...fields } = toPet(row)
  return {
    petId,
    ...fields,
    quantity: Number(row.quantity),
    reserved: Number(row.reserved - row.expired_units),
    ...(row.threshold === null ? {} : { lowStockAt: Number(row.threshold) }),
    ...(ownLowStockAt === undefined ? {} : { ownLowStockAt }),
    ...(row.low_since === null ? {} : { lowSince: Number(row.low_since) }),
    place,
  }
}

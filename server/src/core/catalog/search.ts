import { createHash } from 'node:crypto'
import Type from 'typebox'
import { AVAILABILITY } from '../orders/order.ts'
import { PET_STATUSES } from '../stock/inventory.ts'
import { DateTime, Int64, invalidField, OneOf, parseInt64, Quantity, type RecordOf } from '../values/field.ts'
import { type Page, type PageRequest, readPage, unknownCursor } from '../values/page.ts'
import { isBarcode } from './catalog-fields.ts'
import { wordsOf } from './name-words.ts'
import { PET } from './pet.ts'

export const MAX_QUERY_LENGTH = 200
/** The maximum number of different words in one search. Each of them is compared with every pet. */
export const MAX_SEARCH_WORDS = 10
const SORT_FIELDS = ['petId', 'name', 'quantity', 'available'] as const
export const SEARCH_SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)

type SortField = (typeof SORT_FIELDS)[number]
type SearchSort = (typeof SEARCH_SORTS)[number]

/** Pets with equal values are sorted by id, in the same direction. */
export interface SearchOrder {
  readonly by: SortField
  readonly isDescending: boolean
}

/** A pet matches if every word is the prefix of a word of its name, or if it has the id, or the barcode. */
interface SearchText {
  readonly words: readonly string[]
  readonly id?: bigint | undefined
  readonly barcode?: string | undefined
}

/** The parameters that each compare a field of a pet. */
export const SEARCH_FILTERS = {
  status: Type.Optional(OneOf(PET_STATUSES, { description: 'Return only pets with this status.' })),
  categoryId: Type.Optional(Int64('Return only pets of this category.')),
  below: Type.Optional(Quantity('Return only pets with fewer available units than this.')),
}
type Filters = RecordOf<typeof SEARCH_FILTERS>
type SearchFilters = { readonly [Name in keyof Filters]-?: Filters[Name] | undefined }

/** A pet must match all conditions that are set. */
export interface InventorySearch extends Partial<SearchFilters> {
  readonly text?: SearchText | undefined
  readonly isLow?: true | undefined
  readonly order: SearchOrder
}

/** The place of a pet in the order of a search. */
export interface SearchPosition {
  /** The value that the pet is sorted by; absent if it is the id. */
  readonly value?: string | number
  readonly id: bigint
}

const { id: _id, lowStockAt: _ownThreshold, ...petFields } = PET

/** A pet and its stock, as a search returns it. */
export const SEARCH_ROW = {
  petId: AVAILABILITY.petId,
  ...petFields,
  quantity: AVAILABILITY.quantity,
  reserved: AVAILABILITY.reserved,
  lowStockAt: Type.Optional(
    Quantity(
      'The pet is low if at most this many are available. The own threshold of the pet, or else that of its category.',
    ),
  ),
  ownLowStockAt: Type.Optional(
    Quantity(
      "The pet's own threshold, which PATCH /pets/{petId} sets as lowStockAt; absent if the pet has none.",
    ),
  ),
  lowSince: Type.Optional(
    DateTime('If the pet is low: when it became low, in UTC; absent if the log no longer has that event.'),
  ),
}
export type SearchRow = RecordOf<typeof SEARCH_ROW>

export type FoundPet = SearchRow & { readonly place: SearchPosition }

export interface SearchWindow {
  readonly after: SearchPosition | undefined
  readonly limit: number
}

export interface SearchParameters extends SearchFilters {
  readonly q: string | undefined
  readonly low: boolean | undefined
  readonly sort: SearchSort
}

export function searchOf({ q, low, sort, ...filters }: SearchParameters): InventorySearch {
  const text = q === undefined ? undefined : parseSearchText(q)
  return { ...filters, text, isLow: low || undefined, order: parseSort(sort) }
}

/** There is no query syntax. Every text is searched as words and, if possible, as an id and a barcode. */
function parseSearchText(q: string): SearchText {
  const text = q.trim()
  if (text === '' || [...q].length > MAX_QUERY_LENGTH) {
    throw invalidField(
      'q',
      `q must have 1 to ${MAX_QUERY_LENGTH} characters and must not be blank, got ${text === '' ? 'nothing' : `${[...q].length} characters`}; omit it to find all pets`,
    )
  }
  const words = withoutPrefixes(wordsOf(text))
  if (words.length > MAX_SEARCH_WORDS) {
    throw invalidField('q', `q must have at most ${MAX_SEARCH_WORDS} different words, got ${words.length}`)
  }
  return { words, id: parseInt64(text), barcode: isBarcode(text) ? text : undefined }
}

/** A word that is the prefix of another word adds no condition, because the other word implies it. */
function withoutPrefixes(words: readonly string[]): string[] {
  const distinct = [...new Set(words)]
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)))
}

function parseSort(sort: SearchSort): SearchOrder {
  const isDescending = sort.startsWith('-')
  const by = SORT_FIELDS.find((field) => field === (isDescending ? sort.slice(1) : sort))
  if (by === undefined) throw new Error(`unknown sort ${sort}, expected one of ${SEARCH_SORTS.join(', ')}`)
  return { by, isDescending }
}

function toCursor(search: InventorySearch, { id, value }: SearchPosition): string {
  const parts = [fingerprintOf(search), String(id), ...(value === undefined ? [] : [value])]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function fromCursor(search: InventorySearch, cursor: string): SearchPosition {
  const [fingerprint, idText, value] = decodeCursor(cursor)
  const id = typeof idText === 'string' ? parseInt64(idText) : undefined
  if (typeof fingerprint !== 'string' || id === undefined) throw unknownCursor(cursor)
  if (fingerprint !== fingerprintOf(search)) {
    throw invalidField(
      'cursor',
      'cursor belongs to another search: all parameters but limit must be the same as for the first page; to start again, omit cursor',
    )
  }
  const { by } = search.order
  if (by === 'petId') return { id }
  // PostgreSQL accepts neither U+0000 nor a lone surrogate.
  const isText = typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
  if (by === 'name' && isText) return { id, value }
  if (by !== 'name' && Number.isSafeInteger(value)) return { id, value: Number(value) }
  throw unknownCursor(cursor)
}

function decodeCursor(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function fingerprintOf(search: InventorySearch): string {
  const conditions = JSON.stringify(search, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(conditions).digest('base64url').slice(0, 8)
}

export async function searchPage(
  store: { searchPets(search: InventorySearch, window: SearchWindow): Promise<readonly FoundPet[]> },
  search: InventorySearch,
  request: PageRequest,
): Promise<Page<SearchRow>> {
  const { rows, next } = await readPage(request, {
    positionOf: (cursor) => fromCursor(search, cursor),
    read: (limit, after) => store.searchPets(search, { after, limit }),
    cursorOf: ({ place }) => toCursor(search, place),
  })
  return { rows: rows.map(({ place: _, ...row }) => row), next }
}

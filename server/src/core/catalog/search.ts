import { createHash } from 'node:crypto'
import type { PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'
import { parseInt64 } from '../values/int64.ts'
import { unknownCursor } from '../values/page.ts'
import { isBarcode } from './catalog-fields.ts'
import { wordsOf } from './name-words.ts'

export const MAX_TEXT_LENGTH = 200
/** Different words in one search: each costs a look at every pet. */
export const MAX_SEARCH_WORDS = 10
const SORT_FIELDS = ['petId', 'name', 'quantity', 'available'] as const
export const SEARCH_SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const)

export type SortField = (typeof SORT_FIELDS)[number]
export type SearchSort = (typeof SEARCH_SORTS)[number]

/** By what the pets that are found are sorted; those that are alike by id, in the same direction. */
export interface SearchOrder {
  readonly by: SortField
  readonly isDescending: boolean
}

/** Any of these finds a pet: all words begin words of its name, its id, its barcode. */
export interface SearchText {
  readonly words: readonly string[]
  readonly id?: bigint
  readonly barcode?: string
}

/** All that is given must hold. */
export interface InventorySearch {
  readonly text?: SearchText
  readonly status?: PetStatus
  readonly categoryId?: bigint
  /** Only those that run low. */
  readonly isLow?: true
  /** Only those with fewer available. */
  readonly below?: number
  readonly order: SearchOrder
}

/** Where a pet stands among those that are sorted: what it is sorted by, unless that is its id, and its id. */
export interface SearchPlace {
  readonly value?: string | number
  readonly id: bigint
}

/** A pet and its stock, as a search gives it. */
export interface SearchRow {
  readonly petId: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus
  readonly quantity: number
  readonly reserved: number
  readonly barcode?: string
  /** The threshold that counts for it: its own or that of its category. */
  readonly lowStockAt?: number
  /** Its own, where it has one. */
  readonly ownLowStockAt?: number
  /** When it crossed that, while it is low and as far as the log tells. */
  readonly lowSince?: number
}

/** What a caller asks for. */
export interface SearchParameters {
  readonly q: string | undefined
  readonly status: PetStatus | undefined
  readonly categoryId: bigint | undefined
  readonly low: 'true' | undefined
  readonly below: number | undefined
  readonly sort: SearchSort
}

export function searchOf({ q, status, categoryId, low, below, sort }: SearchParameters): InventorySearch {
  return {
    ...(q === undefined ? {} : { text: searchText(q) }),
    ...(status === undefined ? {} : { status }),
    ...(categoryId === undefined ? {} : { categoryId }),
    ...(low === undefined ? {} : { isLow: true }),
    ...(below === undefined ? {} : { below }),
    order: orderOf(sort),
  }
}

/** Any text is words, an id or a barcode: there is no syntax. */
function searchText(q: string): SearchText {
  const text = q.trim()
  if (text === '' || [...q].length > MAX_TEXT_LENGTH) {
    throw new ServiceError(
      'invalid_request',
      `q must be a text of 1 to ${MAX_TEXT_LENGTH} characters that is not blank, got ${text === '' ? 'nothing' : `${[...q].length} characters`}; leave it out to find all`,
    )
  }
  const id = parseInt64(text)
  const words = withoutRepetition(wordsOf(text))
  if (words.length > MAX_SEARCH_WORDS) {
    throw new ServiceError(
      'invalid_request',
      `q must have at most ${MAX_SEARCH_WORDS} different words, got ${words.length}; leave some out`,
    )
  }
  return {
    words,
    ...(id === undefined ? {} : { id }),
    ...(isBarcode(text) ? { barcode: text } : {}),
  }
}

/** A word that begins another one asks for nothing more. */
function withoutRepetition(words: readonly string[]): string[] {
  const longest = [...new Set(words)]
  return longest.filter((word) => !longest.some((other) => other !== word && other.startsWith(word)))
}

function orderOf(sort: SearchSort): SearchOrder {
  const isDescending = sort.startsWith('-')
  const by = SORT_FIELDS.find((field) => field === (isDescending ? sort.slice(1) : sort))
  if (by === undefined) throw new Error(`${sort} is none of ${SEARCH_SORTS.join(', ')}`)
  return { by, isDescending }
}

/** Goes on behind this place in the same search. */
export function toCursor(search: InventorySearch, { id, value }: SearchPlace): string {
  const parts = [fingerprintOf(search), String(id), ...(value === undefined ? [] : [value])]
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

export function fromCursor(search: InventorySearch, cursor: string): SearchPlace {
  const [fingerprint, idText, value] = partsOf(cursor)
  const id = typeof idText === 'string' ? parseInt64(idText) : undefined
  if (typeof fingerprint !== 'string' || id === undefined) throw unknownCursor(cursor)
  if (fingerprint !== fingerprintOf(search)) {
    throw new ServiceError(
      'invalid_request',
      'cursor is of another search: q, status, categoryId, low, below and sort must be those that it was given for; leave it out to begin anew',
    )
  }
  const { by } = search.order
  if (by === 'petId') return { id }
  if (by === 'name' && typeof value === 'string' && isStorable(value)) return { id, value }
  if (by !== 'name' && Number.isSafeInteger(value)) return { id, value: Number(value) }
  throw unknownCursor(cursor)
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

/** PostgreSQL takes neither U+0000 nor a lone surrogate. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function fingerprintOf({ text, status, categoryId, isLow, below, order }: InventorySearch): string {
  const asked = [text?.words, text?.id, text?.barcode, status, categoryId, isLow, below, order].map((part) =>
    typeof part === 'bigint' ? String(part) : (part ?? null),
  )
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url').slice(0, 8)
}

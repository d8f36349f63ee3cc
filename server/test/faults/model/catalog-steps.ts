import fc from 'fast-check'
import { SEARCH_SORTS } from '../../../src/core/catalog/search.ts'
import {
  BAD_CATEGORIES,
  BAD_CATEGORY_UPDATES,
  BAD_PET_UPDATES,
  BAD_PETS,
  BARCODES,
  CATEGORY_IDS,
  CATEGORY_NAMES,
  NAMES,
  TEXTS,
  THRESHOLDS,
} from './catalog-requests.ts'
import { follows, limit, pet } from './order-steps.ts'

/** The fields of a pet in a request: undefined omits the field, null clears it. */
export interface PetFields {
  readonly name: string | undefined
  readonly categoryId: bigint | undefined
  readonly status: 'available' | 'pending' | 'sold' | undefined
  readonly barcode: string | null | undefined
  readonly lowStockAt: number | null | undefined
}

export interface NewPetCall extends PetFields {
  readonly kind: 'new-pet'
  /** Index of an invalid body; other numbers stand for the valid one. Likewise below. */
  readonly body: number
  /** Index of the id; without one, the service chooses. */
  readonly pet: number | undefined
  readonly name: string
  readonly categoryId: bigint
  readonly barcode: string | undefined
  readonly lowStockAt: number | undefined
  readonly quantity: number | undefined
}

export interface PetUpdateCall extends PetFields {
  readonly kind: 'pet-update'
  readonly body: number
  readonly pet: number
}

export interface NewCategoryCall {
  readonly kind: 'new-category'
  readonly body: number
  readonly id: bigint | undefined
  readonly name: string
  readonly lowStockAt: number | undefined
}

export interface CategoryUpdateCall {
  readonly kind: 'category-update'
  readonly body: number
  readonly id: bigint
  readonly name: string | undefined
  readonly lowStockAt: number | null | undefined
}

export type CatalogChangeCall =
  | NewPetCall
  | PetUpdateCall
  | NewCategoryCall
  | CategoryUpdateCall
  | { readonly kind: 'remove-pet'; readonly pet: number }
  | { readonly kind: 'remove-category'; readonly id: bigint }

export interface SearchCall {
  readonly kind: 'search'
  readonly query: {
    readonly q: string | undefined
    readonly status: string | undefined
    readonly categoryId: bigint | undefined
    readonly low: true | undefined
    readonly below: number | undefined
    readonly sort: string | undefined
    readonly limit: number
  }
  /** The next page of the previous search, or a page of another search with its cursor. */
  readonly follows: 'not' | 'on' | 'astray'
}

export type CatalogLookCall =
  | SearchCall
  | { readonly kind: 'categories' | 'catalog'; readonly limit: number; readonly follows: boolean }

/** Half of the time, or otherwise in all but one of `freq` cases. */
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>, freq = 2) =>
  fc.option(arbitrary, { nil: undefined, freq })
/** Rare, so that combined filters still find something. */
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
const name = fc.constantFrom(...NAMES)
const categoryName = fc.constantFrom(...CATEGORY_NAMES)
const status = fc.constantFrom('available', 'pending', 'sold')
/** Mostly one that a pet has from the beginning. */
const barcode = fc.constantFrom(...BARCODES, ...BARCODES.slice(0, 2), ...BARCODES.slice(0, 2))
const threshold = fc.constantFrom(...THRESHOLDS, 1, 2)
/** Mostly one that has pets. */
const category = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...CATEGORY_IDS.slice(0, 3)) },
  { weight: 2, arbitrary: fc.constantFrom(...CATEGORY_IDS) },
)
const badness = (bodies: readonly string[]) => fc.nat({ max: 12 * bodies.length })

const newPet: fc.Arbitrary<NewPetCall> = fc.record({
  kind: fc.constant('new-pet'),
  body: badness(BAD_PETS),
  pet: maybe(pet),
  name,
  categoryId: category,
  status: maybe(status),
  quantity: maybe(fc.nat({ max: 3 }), 3),
  barcode: maybe(barcode),
  lowStockAt: maybe(threshold),
})

const petUpdate: fc.Arbitrary<PetUpdateCall> = fc.record({
  kind: fc.constant('pet-update'),
  body: badness(BAD_PET_UPDATES),
  pet,
  name: maybe(name),
  categoryId: maybe(category),
  status: maybe(status),
  barcode: maybe(fc.option(barcode, { freq: 4 })),
  lowStockAt: maybe(fc.option(threshold, { freq: 4 })),
})

const newCategory: fc.Arbitrary<NewCategoryCall> = fc.record({
  kind: fc.constant('new-category'),
  body: badness(BAD_CATEGORIES),
  id: maybe(category),
  name: categoryName,
  lowStockAt: maybe(threshold),
})

const categoryUpdate: fc.Arbitrary<CategoryUpdateCall> = fc.record({
  kind: fc.constant('category-update'),
  body: badness(BAD_CATEGORY_UPDATES),
  id: category,
  name: maybe(categoryName),
  lowStockAt: maybe(fc.option(threshold, { freq: 4 }), 4),
})

const search: fc.Arbitrary<SearchCall> = fc.record({
  kind: fc.constant('search'),
  query: fc.record({
    q: maybe(fc.constantFrom(...TEXTS)),
    status: seldom(status),
    categoryId: seldom(category),
    low: seldom(fc.constant(true as const)),
    below: seldom(fc.constantFrom(0, 1, 3, 30)),
    sort: maybe(fc.constantFrom(...SEARCH_SORTS)),
    limit,
  }),
  follows: fc.constantFrom('not', 'not', 'on', 'on', 'astray'),
})

export const catalogCall: fc.Arbitrary<CatalogChangeCall | CatalogLookCall> = fc.oneof(
  { weight: 4, arbitrary: newPet },
  { weight: 4, arbitrary: petUpdate },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('remove-pet'), pet }) },
  { weight: 2, arbitrary: newCategory },
  { weight: 3, arbitrary: categoryUpdate },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove-category'), id: category }) },
  { weight: 5, arbitrary: search },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('categories', 'catalog'), limit, follows }) },
)

import { isCategoryRequest, isPetRequest, type StockRequest } from '../core/stock/stock-request.ts'

/** What requests about the catalogue name, beside their pets. */
export interface NamedInCatalog {
  readonly categories: readonly bigint[]
  readonly removedCategories: readonly bigint[]
  readonly barcodes: readonly string[]
  /** How many ids those may take that are made without one: as many as chose theirs may have to be passed over. */
  readonly newPets: number
  readonly newCategories: number
}

export function concernsCatalog(request: StockRequest): boolean {
  return isPetRequest(request) || isCategoryRequest(request)
}

export function namedIn(requests: readonly StockRequest[]): NamedInCatalog {
  const categories = new Set<bigint>()
  const removedCategories: bigint[] = []
  const barcodes = new Set<string>()
  let newPets = 0
  let chosenIds = 0
  let newCategories = 0
  for (const request of requests) {
    const pet = 'newPet' in request ? request.newPet : 'petPatch' in request ? request.petPatch : {}
    if (pet.categoryId !== undefined) categories.add(pet.categoryId)
    if (typeof pet.barcode === 'string') barcodes.add(pet.barcode)
    if ('newPet' in request) {
      if (request.newPet.id === undefined) newPets++
      else chosenIds++
    }
    if ('categoryPatch' in request) categories.add(request.categoryId)
    if ('newCategory' in request) {
      if (request.newCategory.id === undefined) newCategories++
      else categories.add(request.newCategory.id)
    }
    if ('removedCategory' in request) {
      categories.add(request.removedCategory)
      removedCategories.push(request.removedCategory)
    }
  }
  return {
    ...{ categories: [...categories], removedCategories, barcodes: [...barcodes], newCategories },
    newPets: newPets === 0 ? 0 : newPets + chosenIds,
  }
}

import { type Category, noCategory } from '../core/catalog/category.ts'
import type { StockedPet } from '../core/catalog/pet.ts'
import { noPet } from '../core/catalog/pet.ts'
import type { CatalogOutcome, ChangeOutcome } from '../core/stock/stock-request.ts'
import { ServiceError } from '../core/values/errors.ts'
import { errorReply, type KeptReply, NO_CONTENT } from './reply.ts'
import { taggedReply } from './representation.ts'

/** What is answered to a request about a pet; `petId` where it named one that must be there. */
export function petReply(
  outcome: ChangeOutcome,
  petId: bigint | undefined,
  reply: (pet: StockedPet) => KeptReply,
): KeptReply {
  const decided = ofCatalog(outcome)
  if (decided === 'unknown_pet') {
    if (petId === undefined) throw new Error('a pet that was to be made is not there')
    return errorReply(noPet(petId))
  }
  if ('pet' in decided) return reply(decided.pet)
  if ('removed' in decided) return NO_CONTENT
  if ('unknownCategory' in decided) {
    const message = `categoryId must be that of a category, and there is no category ${decided.unknownCategory}; POST /categories makes one`
    return errorReply(new ServiceError('invalid_request', message))
  }
  return errorReply(refusalOf(decided))
}

export function categoryReply(outcome: ChangeOutcome, reply: (category: Category) => KeptReply): KeptReply {
  const decided = ofCatalog(outcome)
  if (decided === 'unknown_pet')
    throw new Error('a request about a category came to what only a pet can come to')
  if ('category' in decided) return reply(decided.category)
  if ('removed' in decided) return NO_CONTENT
  if ('unknownCategory' in decided) return errorReply(noCategory(decided.unknownCategory))
  return errorReply(refusalOf(decided))
}

/** A pet as callers see it. */
export function petBodyReply({ quantity: _, ...pet }: StockedPet): KeptReply {
  return taggedReply(pet)
}

function refusalOf(decided: Exclude<CatalogOutcome, string>): ServiceError {
  if ('taken' in decided) {
    const { taken } = decided
    if ('barcode' in taken) return exists(`barcode ${taken.barcode} is that of petId ${taken.by}`)
    return exists('id' in taken ? `there is a pet ${taken.id}` : `there is a category ${taken.categoryId}`)
  }
  if ('inUse' in decided) {
    const { inUse } = decided
    const why =
      'pet' in inUse
        ? `orders of petId ${inUse.pet} are open and reserve ${inUse.reserved}; complete or cancel them first`
        : `category ${inUse.category} has pets; give them another one first`
    return new ServiceError('in_use', `${why}; nothing was changed`)
  }
  throw new Error('a request about the catalogue came to what another one comes to')
}

function exists(what: string): ServiceError {
  return new ServiceError('already_exists', `${what} already; nothing was changed`)
}

function ofCatalog(outcome: ChangeOutcome): CatalogOutcome {
  if (outcome === 'unknown_pet') return outcome
  if (
    'pet' in outcome ||
    'category' in outcome ||
    'removed' in outcome ||
    'unknownCategory' in outcome ||
    'taken' in outcome ||
    'inUse' in outcome
  )
    return outcome
  throw new Error('a request about the catalogue came to what only another one can come to')
}

import { type Category, noCategory } from '../core/catalog/category.ts'
import type { StockedPet } from '../core/catalog/pet.ts'
import { noPet } from '../core/catalog/pet.ts'
import type {
  BarcodeTaken,
  CreateCategory,
  CreatePet,
  InvalidCategory,
  OutcomeOf,
  RemoveCategory,
  RemovePet,
  UpdateCategory,
  UpdatePet,
} from '../core/stock/command.ts'
import { ServiceError } from '../core/values/errors.ts'
import { errorReply, type KeptReply, NO_CONTENT } from './reply.ts'
import { taggedReply } from './representation.ts'

export function createdPetReply(
  outcome: OutcomeOf<CreatePet>,
  reply: (pet: StockedPet) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.pet)
    case 'invalid_category':
      return invalidCategoryReply(outcome)
    case 'pet_exists':
      return existsReply(`pet ${outcome.petId} already exists`)
    case 'barcode_taken':
      return barcodeTakenReply(outcome)
  }
}

export function updatedPetReply(outcome: OutcomeOf<UpdatePet>, petId: bigint): KeptReply {
  switch (outcome.type) {
    case 'done': {
      const { quantity: _, ...pet } = outcome.pet
      return taggedReply(pet)
    }
    case 'unknown_pet':
      return errorReply(noPet(petId))
    case 'invalid_category':
      return invalidCategoryReply(outcome)
    case 'barcode_taken':
      return barcodeTakenReply(outcome)
  }
}

export function removedPetReply(outcome: OutcomeOf<RemovePet>, petId: bigint): KeptReply {
  switch (outcome.type) {
    case 'done':
      return NO_CONTENT
    case 'unknown_pet':
      return errorReply(noPet(petId))
    case 'pet_reserved':
      return inUseReply(
        `open orders reserve ${outcome.reserved} of petId ${petId}; complete or cancel them first`,
      )
  }
}

export function createdCategoryReply(
  outcome: OutcomeOf<CreateCategory>,
  reply: (category: Category) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.category)
    case 'category_exists':
      return existsReply(`category ${outcome.categoryId} already exists`)
  }
}

export function updatedCategoryReply(outcome: OutcomeOf<UpdateCategory>, categoryId: bigint): KeptReply {
  switch (outcome.type) {
    case 'done':
      return taggedReply(outcome.category)
    case 'unknown_category':
      return errorReply(noCategory(categoryId))
  }
}

export function removedCategoryReply(outcome: OutcomeOf<RemoveCategory>, categoryId: bigint): KeptReply {
  switch (outcome.type) {
    case 'done':
      return NO_CONTENT
    case 'unknown_category':
      return errorReply(noCategory(categoryId))
    case 'category_has_pets':
      return inUseReply(`category ${categoryId} has pets; move them to another category first`)
  }
}

function invalidCategoryReply({ categoryId }: InvalidCategory): KeptReply {
  const message = `categoryId must be that of a category, and there is no category ${categoryId}; POST /categories makes one`
  return errorReply(new ServiceError('invalid_request', message))
}

function barcodeTakenReply({ barcode, petId }: BarcodeTaken): KeptReply {
  return existsReply(`barcode ${barcode} is already used by pet ${petId}`)
}

function existsReply(message: string): KeptReply {
  return errorReply(new ServiceError('already_exists', `${message}; nothing was changed`))
}

function inUseReply(message: string): KeptReply {
  return errorReply(new ServiceError('in_use', `${message}; nothing was changed`))
}

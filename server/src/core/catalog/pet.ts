import Type from 'typebox'
import { PetStatus } from '../stock/inventory.ts'
import { notFound, ServiceError } from '../values/errors.ts'
import { Int64, invalidField, Metadata, Quantity, type RecordOf, updateOf } from '../values/field.ts'
import { Barcode, Name } from './catalog-fields.ts'

const CHANGEABLE = {
  name: Name('Name of the pet, without control characters.'),
  categoryId: Int64('Identifier of the category that the pet belongs to. The category must exist.'),
  status: PetStatus,
  barcode: Type.Optional(Barcode),
  lowStockAt: Type.Optional(
    Quantity(
      'The pet is low if at most this many are available. If the field is absent, the threshold of the category applies.',
    ),
  ),
  metadata: Type.Optional(Metadata),
}

export const PET = { id: Int64('Identifier of the pet.'), ...CHANGEABLE }
export type Pet = RecordOf<typeof PET>

export const STOCKED_PET = { ...PET, quantity: Quantity('Units on the shelf.') }
export type StockedPet = RecordOf<typeof STOCKED_PET>

export const EXPORTED_PET = { ...STOCKED_PET, category: Name('Name of the category.') }
export type ExportedPet = RecordOf<typeof EXPORTED_PET>

export const NEW_PET = {
  ...CHANGEABLE,
  status: Type.Optional(PetStatus),
  quantity: Type.Optional(Quantity('Units on the shelf; 0 if the field is absent.')),
  id: Type.Optional(Int64('Identifier of the pet. If it is absent, the service chooses a free one.')),
}
export type NewPet = RecordOf<typeof NEW_PET>

export const PET_UPDATE = updateOf(CHANGEABLE)
export type PetPatch = RecordOf<typeof PET_UPDATE>

/** A pet to create or, if its id exists, to update. */
export const PET_UPSERT = {
  id: Type.Optional(
    Int64(
      'Identifier of the pet. If no pet has this id, a pet is created with it. Without an id, a pet is created with a free id.',
    ),
  ),
  ...PET_UPDATE,
  quantity: Type.Optional(
    Quantity(
      'Units on the shelf. The stock of an existing pet is set to this quantity, with the reason `corrected`. Without a quantity, an existing pet keeps its stock, and a new pet has 0 units.',
    ),
  ),
}
export type PetUpsert = RecordOf<typeof PET_UPSERT>

export function petNotFound(petId: bigint): ServiceError {
  return notFound(`there is no pet with petId ${petId}`)
}

export function invalidCategory(categoryId: bigint): ServiceError {
  return invalidField(
    'categoryId',
    `categoryId must be the id of an existing category, but there is no category ${categoryId}; add it with POST /categories`,
  )
}

/** `petId` is the pet that has the barcode. */
export function barcodeTaken(barcode: string, petId: bigint): ServiceError {
  return new ServiceError('already_exists', `barcode ${barcode} is already used by pet ${petId}`)
}

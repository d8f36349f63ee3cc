import Type from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { NEW_PET, noPet, PET, PET_UPDATE } from '../core/catalog/pet.ts'
import type {
  BarcodeTaken,
  CreatePet,
  InvalidCategory,
  OutcomeOf,
  RemovePet,
  UpdatePet,
} from '../core/stock/command.ts'
import { PET_STATUSES } from '../core/stock/inventory.ts'
import { Int64, invalidField, jsonTextWriter, jsonWriter, OneOf } from '../core/values/field.ts'
import { type Page, type PageRequest, readPageById } from '../core/values/page.ts'
import { commitAndReply } from './idempotency.ts'
import { defineOperation } from './operation.ts'
import {
  alreadyExistsReply,
  createdReply,
  errorReply,
  inUseReply,
  NO_CONTENT,
  type StorableReply,
} from './reply.ts'
import { IF_NONE_MATCH, pageJsonReply, pageReply, taggedReply } from './representation.ts'
import { pageParameters } from './schemas.ts'

const Pet = Type.Object(PET, {
  title: 'Pet',
  examples: [{ id: 1, name: 'Biscuit', categoryId: 1, status: 'available' }],
})

const NewPet = Type.Object(NEW_PET, {
  title: 'NewPet',
  description: 'The default status is `available`.',
  examples: [{ name: 'Biscuit', categoryId: 1, quantity: 12, barcode: '4006381333931', lowStockAt: 3 }],
})

const PetUpdate = Type.Object(PET_UPDATE, {
  title: 'PetUpdate',
  description:
    'Has at least one of these fields; null removes an optional value. The inventory operations change the quantity.',
  minProperties: 1,
  examples: [{ name: 'Biscuit', lowStockAt: null }],
})

const petBody = jsonWriter(PET)

const { id, status: _, ...catalogFields } = PET
const CATALOG_ENTRY = { petId: id, ...catalogFields }

const CatalogEntry = Type.Object(CATALOG_ENTRY, {
  title: 'CatalogEntry',
  examples: [{ petId: 1, name: 'Biscuit', categoryId: 1 }],
})

export const listPets = defineOperation({
  operationId: 'listPets',
  method: 'GET',
  path: '/pets',
  summary: 'List pets',
  description: 'Returns the pets of the store, by id ascending, in pages.',
  tag: 'pets',
  stability: 'beta',
  query: {
    status: Type.Optional(OneOf(PET_STATUSES, { description: 'Return only pets with this status.' })),
    ...pageParameters(),
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of pets.', schema: Type.Array(Pet), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { status } = query
    const page = await readPageById(query, (limit, after) => store.listPets({ status, after }, limit))
    return pageReply(request, query, page, petBody)
  },
})

export const createPet = defineOperation({
  operationId: 'createPet',
  method: 'POST',
  path: '/pets',
  summary: 'Add a pet',
  description:
    'Adds a pet to the store together with its inventory entry. Its id and its barcode must not be used by another pet.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  body: NewPet,
  success: { status: 201, description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'already_exists', 'payload_too_large'],
  reply: ({ body, key, request, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'create_pet', draft: body, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => createPetReply(outcome, request.path.replace('/pets', '/catalog')),
    ),
})

export const getPet = defineOperation({
  operationId: 'getPet',
  method: 'GET',
  path: '/pets/{petId}',
  summary: 'Get one pet',
  description:
    'Returns the record of one pet. Deprecated: use GET /catalog/{petId}. After the sunset date the response is 410.',
  tag: 'pets',
  stability: 'stable',
  isInSpecification: true,
  deprecatedSince: new Date('2026-11-01T00:00:00Z'),
  successor: '/v1/catalog/{petId}',
  params: { petId: Int64('The pet to return.') },
  success: { description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'not_found', 'gone'],
  handle: ({ params }, { store }) => findPet(params.petId, store),
})

export const updatePet = defineOperation({
  operationId: 'updatePet',
  method: 'PATCH',
  path: '/pets/{petId}',
  summary: 'Update a pet',
  description: 'Updates the record of a pet. Fields that are not sent stay as they are.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  params: { petId: Int64('The pet to update.') },
  body: PetUpdate,
  success: { description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'not_found', 'already_exists', 'payload_too_large'],
  reply: ({ params: { petId }, body, key, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'update_pet', petId, patch: body, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => updatePetReply(outcome, petId),
    ),
})

export const removePet = defineOperation({
  operationId: 'removePet',
  method: 'DELETE',
  path: '/pets/{petId}',
  summary: 'Remove a pet',
  description:
    'Removes a pet and its inventory entry, unless it has open orders. Its history and its closed orders stay.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  params: { petId: Int64('The pet to remove.') },
  success: { status: 204, description: 'The pet was removed.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found', 'in_use'],
  reply: ({ params: { petId }, key, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'remove_pet', petId, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => removePetReply(outcome, petId),
    ),
})

export const listCatalog = defineOperation({
  operationId: 'listCatalog',
  method: 'GET',
  path: '/catalog',
  summary: 'List the catalog',
  description:
    'Returns the records of all pets, except their status, by petId ascending, in large pages. GET /inventory has the status and the quantity of each pet.',
  tag: 'pets',
  stability: 'beta',
  query: pageParameters(10_000, 1_000),
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the catalog.', schema: Type.Array(CatalogEntry), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { rows, next } = await readCatalogPage(store, query)
    return pageJsonReply(request, query, `[${rows.join()}]`, next)
  },
})

export const getCatalogPet = defineOperation({
  operationId: 'getCatalogPet',
  method: 'GET',
  path: '/catalog/{petId}',
  summary: 'Get one pet of the catalog',
  description: 'Returns the record of one pet.',
  tag: 'pets',
  stability: 'beta',
  params: { petId: Int64('The pet to return.') },
  headers: IF_NONE_MATCH,
  success: { description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'not_found'],
  handle: ({ params }, { store }) => findPet(params.petId, store),
})

async function findPet(petId: bigint, store: CatalogStore) {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw noPet(petId)
  return petBody(pet)
}

/** `path` is the path of the catalog. */
function createPetReply(outcome: OutcomeOf<CreatePet>, path: string): StorableReply {
  switch (outcome.type) {
    case 'done':
      return createdReply(path, petBody(outcome.pet))
    case 'invalid_category':
      return invalidCategoryReply(outcome)
    case 'pet_exists':
      return alreadyExistsReply(`pet ${outcome.petId} already exists`)
    case 'barcode_taken':
      return barcodeTakenReply(outcome)
  }
}

function updatePetReply(outcome: OutcomeOf<UpdatePet>, petId: bigint): StorableReply {
  switch (outcome.type) {
    case 'done':
      return taggedReply(petBody(outcome.pet))
    case 'unknown_pet':
      return errorReply(noPet(petId))
    case 'invalid_category':
      return invalidCategoryReply(outcome)
    case 'barcode_taken':
      return barcodeTakenReply(outcome)
  }
}

function removePetReply(outcome: OutcomeOf<RemovePet>, petId: bigint): StorableReply {
  switch (outcome.type) {
    case 'done':
      return NO_CONTENT
    case 'unknown_pet':
      return errorReply(noPet(petId))
    case 'pet_reserved':
      return inUseReply(
        `open orders reserve ${outcome.reserved} units of petId ${petId}; complete or cancel these orders first`,
      )
  }
}

function invalidCategoryReply({ categoryId }: InvalidCategory): StorableReply {
  const message = `categoryId must be the id of an existing category, but there is no category ${categoryId}; add it with POST /categories`
  return errorReply(invalidField('categoryId', message))
}

function barcodeTakenReply({ barcode, petId }: BarcodeTaken): StorableReply {
  return alreadyExistsReply(`barcode ${barcode} is already used by pet ${petId}`)
}

/** A page may have thousands of pets. They are read in batches, so that other requests get a turn in between. */
const CATALOG_BATCH_SIZE = 1_000

const catalogEntryText = jsonTextWriter(CATALOG_ENTRY)

/** Returns the rows as JSON text. */
async function readCatalogPage(
  store: Pick<CatalogStore, 'listPets'>,
  { limit, cursor }: PageRequest,
): Promise<Page<string>> {
  const rows: string[] = []
  let next = cursor
  for (;;) {
    const batch = { limit: Math.min(limit - rows.length, CATALOG_BATCH_SIZE), cursor: next }
    const page = await readPageById(batch, (count, after) => store.listPets({ after }, count))
    for (const pet of page.rows) rows.push(catalogEntryText({ ...pet, petId: pet.id }))
    next = page.next
    if (next === undefined || rows.length === limit) return { rows, next }
    await new Promise(setImmediate)
  }
}

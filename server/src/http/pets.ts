import Type from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import {
  barcodeTaken,
  invalidCategory,
  NEW_PET,
  noPet,
  PET,
  PET_UPDATE,
  PET_UPSERT,
  type PetUpsert as UpsertedPet,
} from '../core/catalog/pet.ts'
import {
  type CreatePet,
  MAX_CHANGES,
  type OutcomeOf,
  type RemovePet,
  type UpdatePet,
  type UpsertPets,
} from '../core/stock/command.ts'
import { PET_STATUSES } from '../core/stock/inventory.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { JsonObject } from '../core/values/field.ts'
import { Int64, invalidField, jsonTextWriter, jsonWriter, OneOf } from '../core/values/field.ts'
import { type Page, type PageRequest, readPageById } from '../core/values/page.ts'
import { parseList } from './list-body.ts'
import { bodyParser, defineOperation, rejectUnknown } from './operation.ts'
import {
  alreadyExistsReply,
  commitAndReply,
  createdReply,
  errorReply,
  IF_NONE_MATCH,
  inUseReply,
  jsonTextReply,
  NO_CONTENT,
  pageJsonReply,
  pageReply,
  type StorableReply,
  taggedReply,
} from './reply.ts'
import { pageParameters } from './schemas.ts'

export const Pet = Type.Object(PET, {
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

const PetUpsert = Type.Object(PET_UPSERT, {
  title: 'PetUpsert',
  description:
    'A pet to create or to update. Fields of an existing pet that are not sent stay as they are; null removes an optional value. A new pet needs a name and a categoryId.',
  examples: [{ id: 1, name: 'Biscuit', categoryId: 1, quantity: 12 }],
})

const PetBatch = Type.Object(
  {
    pets: Type.Array(PetUpsert, {
      minItems: 1,
      maxItems: MAX_CHANGES,
      description: 'Each id and each barcode may occur once.',
    }),
  },
  {
    title: 'PetBatch',
    description: 'Either all pets are created or updated, or none.',
    examples: [
      {
        pets: [
          { name: 'Biscuit', categoryId: 1, quantity: 12, barcode: '4006381333931' },
          { id: 2, status: 'available', lowStockAt: null },
        ],
      },
    ],
  },
)

const PetBatchResult = Type.Object(
  {
    pets: Type.Array(Pet, { description: 'The pets after the changes, in the order of the request.' }),
    created: Type.Integer({ minimum: 0, maximum: MAX_CHANGES, description: 'How many pets were created.' }),
    updated: Type.Integer({
      minimum: 0,
      maximum: MAX_CHANGES,
      description: 'How many pets existed before, including pets that did not change.',
    }),
  },
  {
    title: 'PetBatchResult',
    examples: [
      { pets: [{ id: 1, name: 'Biscuit', categoryId: 1, status: 'available' }], created: 1, updated: 0 },
    ],
  },
)

const petBody = jsonWriter(PET)
const petText = jsonTextWriter(PET)

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

export const upsertPets = defineOperation({
  operationId: 'upsertPets',
  method: 'POST',
  path: '/pets/batch',
  summary: 'Create or update several pets',
  description:
    'Creates or updates 1 to 1,000 pets. A pet whose `id` exists is updated; any other pet is created and needs a name and a categoryId. A quantity of an existing pet sets its stock with the reason `corrected`, which needs the permission `stock` as well. Pets of the batch may swap their barcodes. Either all pets are saved, in one commit, or none. If none is saved, `details` of the error lists every pet that cannot be saved. A batch counts as one request.',
  tag: 'pets',
  stability: 'experimental',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  maxBodyBytes: 256 * 1024,
  body: PetBatch,
  parseBody: parseBatch,
  success: {
    description: 'The pets after the changes, in the order of the request.',
    schema: PetBatchResult,
  },
  errors: ['invalid_request', 'already_exists', 'payload_too_large'],
  reply: ({ body, key, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      {
        type: 'upsert_pets',
        pets: body,
        canChangeStock: key.permissions.includes('stock'),
        keyId: key.id,
        at: clock(),
      },
      idempotency,
      upsertPetsReply,
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

const PET_UPSERT_FIELDS = Object.keys(PET_UPSERT)
const parsePet = bodyParser(PetUpsert, 'a pet')

/** Throws a ServiceError whose details list every invalid pet. */
function parseBatch({ pets }: JsonObject): UpsertedPet[] {
  const seenIds = new Set<bigint>()
  const seenBarcodes = new Set<string>()
  return parseList(pets, {
    list: 'pets',
    element: 'a pet',
    max: MAX_CHANGES,
    petIdField: 'id',
    parseElement: (element) => {
      rejectUnknown('field', Object.keys(element), PET_UPSERT_FIELDS)
      const pet = parsePet(element)
      requireUnseen('id', pet.id, seenIds)
      requireUnseen('barcode', pet.barcode, seenBarcodes)
      return pet
    },
  })
}

function requireUnseen<Value>(field: string, value: Value | null | undefined, seen: Set<Value>): void {
  if (value === null || value === undefined) return
  if (seen.has(value)) throw invalidField(field, `${field} ${value} occurs twice in the batch; send it once`)
  seen.add(value)
}

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
      return errorReply(invalidCategory(outcome.categoryId))
    case 'pet_exists':
      return alreadyExistsReply(`pet ${outcome.petId} already exists`)
    case 'barcode_taken':
      return alreadyExistsReply(barcodeTaken(outcome.barcode, outcome.petId).message)
  }
}

function updatePetReply(outcome: OutcomeOf<UpdatePet>, petId: bigint): StorableReply {
  switch (outcome.type) {
    case 'done':
      return taggedReply(petBody(outcome.pet))
    case 'unknown_pet':
      return errorReply(noPet(petId))
    case 'invalid_category':
      return errorReply(invalidCategory(outcome.categoryId))
    case 'barcode_taken':
      return alreadyExistsReply(barcodeTaken(outcome.barcode, outcome.petId).message)
  }
}

function upsertPetsReply(outcome: OutcomeOf<UpsertPets>): StorableReply {
  switch (outcome.type) {
    case 'done': {
      const { pets, created } = outcome
      const updated = pets.length - created
      const text = `{"pets":[${pets.map(petText).join()}],"created":${created},"updated":${updated}}`
      return jsonTextReply(text, {})
    }
    case 'refused':
      return errorReply(refusal(outcome.failures, 'pets'))
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

import { type HttpRequest, MAX_BODY_BYTES } from '@petstore/wire'
import Type from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import {
  barcodeTaken,
  invalidCategory,
  NEW_PET,
  PET,
  PET_UPDATE,
  PET_UPSERT,
  type PetUpsert as PetToUpsert,
  petNotFound,
  type Pet as StoredPet,
} from '../core/catalog/pet.ts'
import { permissionError, requirePermission } from '../core/keys/api-key.ts'
import { type BarcodeTaken, type InvalidCategory, MAX_CHANGES } from '../core/stock/command.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { JsonObject } from '../core/values/exact-json.ts'
import { Int64, invalidField, jsonTextWriter, jsonWriter } from '../core/values/field.ts'
import { type Page, type PageRequest, readPageById } from '../core/values/page.ts'
import { recordChanged, recordTag } from '../core/values/record-tag.ts'
import { elementParser, parseList } from './list-body.ts'
import { commitAndReply, defineOperation } from './operation.ts'
import {
  alreadyExists,
  conditionalReply,
  createdReply,
  inUse,
  jsonReply,
  jsonTextReply,
  NO_CONTENT,
  pageJsonTextReply,
  type Reply,
  recordETag,
  recordTagsIn,
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
    'Has at least one of these fields; null removes an optional value. To change the quantity, use the inventory operations.',
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
          { name: 'Biscuit', categoryId: 1, quantity: 12, barcode: '5012345678900' },
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

/** The errors for outcomes that `createPet` and `updatePet` have in common. */
const SHARED_ERRORS = {
  invalid_category: ({ categoryId }: InvalidCategory) => invalidCategory(categoryId),
  barcode_taken: ({ barcode, petId }: BarcodeTaken) => alreadyExists(barcodeTaken(barcode, petId).message),
}

const petBody = jsonWriter(PET)
const petText = jsonTextWriter(PET)

/** A pet without its status. Not to be confused with an inventory entry. */
const { id, status: _, ...catalogFields } = PET
const CATALOG_ENTRY = { petId: id, ...catalogFields }

const CatalogEntry = Type.Object(CATALOG_ENTRY, {
  title: 'CatalogEntry',
  examples: [{ petId: 1, name: 'Biscuit', categoryId: 1 }],
})

export const createPet = defineOperation('POST', '/pets', {
  summary: 'Add a pet',
  description:
    'Adds a pet to the store together with its inventory entry. Its id and its barcode must not be used by another pet. A quantity other than 0 needs the permission `stock` as well, and the history of the stock has it as a change.',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  body: NewPet,
  success: { status: 201, hasETag: true, description: 'The pet.', schema: Pet },
  errors: ['already_exists'],
  reply: (input, services) => {
    if ((input.body.quantity ?? 0) > 0) requirePermission(input.key, 'stock')
    // `Location` names GET /catalog/{petId}, because GET /pets/{petId} is deprecated.
    const catalogPath = input.request.path.replace('/pets', '/catalog')
    const command = { type: 'create_pet', pet: input.body } as const
    return commitAndReply(input, services, command, {
      ...SHARED_ERRORS,
      done: ({ pet }) => createdReply(catalogPath, petBody(pet), petETag(pet)),
      pet_exists: ({ petId }) => alreadyExists(`pet ${petId} already exists`),
    })
  },
})

export const upsertPets = defineOperation('POST', '/pets/batch', {
  summary: 'Create or update several pets',
  description: `Creates or updates 1 to ${MAX_CHANGES.toLocaleString('en')} pets. A pet whose \`id\` exists is updated; any other pet is created and needs a name and a categoryId. A quantity of an existing pet sets its stock with the reason \`corrected\`. To set a stock, also that of a new pet, the key needs the permission \`stock\` as well. Pets of the batch may swap their barcodes. Either all pets are saved, in one commit, or none. If none is saved, \`details\` of the error lists every pet that cannot be saved. A batch counts as one request.`,
  permission: 'pets',
  acceptsIdempotencyKey: true,
  maxBodyBytes: MAX_BODY_BYTES,
  body: PetBatch,
  parseBody: parseBatch,
  success: {
    description: 'The pets after the changes, in the order of the request.',
    schema: PetBatchResult,
  },
  errors: ['already_exists'],
  reply: (input, services) => {
    const canChangeStock = input.key.permissions.includes('stock')
    const command = { type: 'upsert_pets', pets: input.body, canChangeStock } as const
    return commitAndReply(input, services, command, {
      done: ({ pets, created }) => {
        const updated = pets.length - created
        const text = `{"pets":[${pets.map(petText).join()}],"created":${created},"updated":${updated}}`
        return jsonTextReply(text, {})
      },
      refused: ({ failures }) => refusal(failures, 'pets'),
    })
  },
})

export const getPet = defineOperation('GET', '/pets/{petId}', {
  summary: 'Get one pet',
  description:
    'Returns the record of one pet. Deprecated: use GET /catalog/{petId}. After the sunset date the response is 410.',
  ignoresUnknownInput: true,
  deprecatedSince: new Date('2026-11-01T00:00:00Z'),
  successor: '/v1/catalog/{petId}',
  params: { petId: Int64('The pet to return.') },
  // The contract leaves out If-None-Match, because SPEC.md does not have it here. The reply honours it anyway.
  headers: {},
  success: { description: 'The pet.', schema: Pet },
  errors: ['gone'],
  reply: ({ params, request }, { store }) => petReply(params.petId, store, request),
})

export const updatePet = defineOperation('PATCH', '/pets/{petId}', {
  summary: 'Update a pet',
  description: 'Updates the record of a pet. Fields that are not sent stay as they are.',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  params: { petId: Int64('The pet to update.') },
  body: PetUpdate,
  success: { description: 'The pet.', schema: Pet },
  errors: ['already_exists'],
  reply: (input, services) => {
    const { petId } = input.params
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'update_pet', petId, patch: input.body, onlyIfTags } as const
    return commitAndReply(input, services, command, {
      ...SHARED_ERRORS,
      done: ({ pet }) => jsonReply(petBody(pet), petETag(pet)),
      unknown_pet: () => petNotFound(petId),
      record_changed: () => recordChanged(`pet ${petId}`),
    })
  },
})

export const removePet = defineOperation('DELETE', '/pets/{petId}', {
  summary: 'Remove a pet',
  description:
    'Removes a pet and its inventory entry, unless it has open orders. If its quantity is not 0, the key needs the permission `stock` as well. Its history, which ends with the removal of that quantity, and its closed orders stay.',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  params: { petId: Int64('The pet to remove.') },
  success: { status: 204, description: 'The pet was removed.', schema: Type.Null() },
  errors: ['in_use'],
  reply: (input, services) => {
    const { petId } = input.params
    const onlyIfEmpty = !input.key.permissions.includes('stock')
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'remove_pet', petId, onlyIfEmpty, onlyIfTags } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      pet_has_stock: () => permissionError(input.key, 'stock'),
      unknown_pet: () => petNotFound(petId),
      record_changed: () => recordChanged(`pet ${petId}`),
      pet_reserved: ({ reserved }) =>
        inUse(`open orders reserve ${reserved} of petId ${petId}; complete or cancel these orders first`),
    })
  },
})

export const listCatalog = defineOperation('GET', '/catalog', {
  summary: 'List the catalog',
  description:
    'Returns the records of all pets, except their status, by petId ascending, in large pages. GET /inventory has the status and the quantity of each pet.',
  tag: 'pets',
  query: pageParameters({ maxLimit: 10_000, defaultLimit: 1_000 }),
  success: { description: 'A page of the catalog.', schema: Type.Array(CatalogEntry) },
  reply: async ({ query, request }, { store }) => {
    const { rows, next } = await readCatalogPage(store, query)
    return pageJsonTextReply(request, query, `[${rows.join()}]`, next)
  },
})

export const getCatalogPet = defineOperation('GET', '/catalog/{petId}', {
  summary: 'Get one pet of the catalog',
  description: 'Returns the record of one pet.',
  tag: 'pets',
  params: { petId: Int64('The pet to return.') },
  success: { description: 'The pet.', schema: Pet },
  reply: ({ params, request }, { store }) => petReply(params.petId, store, request),
})

const parsePet = elementParser(PetUpsert, 'a pet')

/** Throws a ServiceError whose details list every invalid pet. */
function parseBatch({ pets }: JsonObject): PetToUpsert[] {
  const seenIds = new Set<bigint>()
  const seenBarcodes = new Set<string>()
  return parseList(pets, {
    listField: 'pets',
    elementName: 'a pet',
    max: MAX_CHANGES,
    petIdField: 'id',
    parseElement: (element) => {
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

async function petReply(petId: bigint, store: CatalogStore, request: HttpRequest): Promise<Reply> {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw petNotFound(petId)
  return conditionalReply(jsonReply(petBody(pet), petETag(pet)), request)
}

function petETag(pet: StoredPet) {
  return recordETag(recordTag(PET, pet))
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
    const batchRequest = { limit: Math.min(limit - rows.length, CATALOG_BATCH_SIZE), cursor: next }
    const batch = await readPageById(batchRequest, (count, after) => store.listPets(after, count))
    for (const pet of batch.rows) rows.push(catalogEntryText({ ...pet, petId: pet.id }))
    next = batch.next
    if (next === undefined || rows.length === limit) return { rows, next }
    await new Promise(setImmediate)
  }
}

import Type from 'typebox'
import { RecordedReason, Reference } from '../core/stock/adjustment.ts'
import { HISTORY_ENTRY } from '../core/stock/history.ts'
import { entryNotFound } from '../core/stock/inventory.ts'
import { PET_EDIT } from '../core/stock/pet-edit.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { DateTime, Int64, jsonWriter } from '../core/values/field.ts'
import { defineOperation } from './operation.ts'
import { Pet } from './pets.ts'
import { pageReply } from './reply.ts'
import { EXAMPLE_KEY, EXAMPLE_TIME, pageParameters } from './schemas.ts'

const MAX_WHO_LENGTH = 200

const { petId: _, ...PET_HISTORY_ENTRY } = HISTORY_ENTRY
const EXAMPLE = {
  id: '17',
  before: 4,
  after: 5,
  adjustmentId: 17,
  at: EXAMPLE_TIME,
  occurredAt: EXAMPLE_TIME,
  keyId: EXAMPLE_KEY.id,
  keyName: EXAMPLE_KEY.name,
}

/** The filters of both lists that cover all pets: stock changes and edits. */
const FILTERS = {
  petId: Type.Optional(Int64('Return only changes of this pet.')),
  who: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_WHO_LENGTH,
      description: 'Return only changes made with keys of this name, or with the key of this id.',
    }),
  ),
  since: Type.Optional(DateTime('Return only changes at or after this time.')),
  until: Type.Optional(DateTime('Return only changes before this time.')),
}

const HistoryEntry = Type.Object(PET_HISTORY_ENTRY, { title: 'HistoryEntry', examples: [EXAMPLE] })

const RecentChange = Type.Object(HISTORY_ENTRY, {
  title: 'RecentChange',
  examples: [{ petId: 1, ...EXAMPLE }],
})

const historyEntryBody = jsonWriter(PET_HISTORY_ENTRY)
const changeBody = jsonWriter(HISTORY_ENTRY)

export const listInventoryHistory = defineOperation('GET', '/inventory/{petId}/history', {
  summary: 'List the stock changes of one pet',
  description:
    'Returns the changes of the stock quantity of one pet, newest first, in pages. A removed pet keeps its history.',
  params: { petId: Int64('The pet whose history is returned.') },
  query: pageParameters(),
  success: { description: 'A page of the history.', schema: Type.Array(HistoryEntry) },
  reply: async ({ params: { petId }, query, request }, { store, view }) => {
    const { limit, cursor } = query
    const page = await store.listHistoryPage(petId, limit, cursor)
    const isKnown =
      page.rows.length > 0 ||
      page.next !== undefined ||
      (await view.find(petId)) !== undefined ||
      (await hasHistory(store, petId))
    if (!isKnown) throw entryNotFound(petId)
    return pageReply(request, query, page, historyEntryBody)
  },
})

/** The requested page may be empty although the pet has a history, so this function reads the first page. */
async function hasHistory(store: HistoryStore, petId: bigint): Promise<boolean> {
  const page = await store.listHistoryPage(petId, 1, undefined)
  return page.rows.length > 0 || page.next !== undefined
}

export const listRecentChanges = defineOperation('GET', '/inventory/history', {
  summary: 'List the stock changes of all pets',
  description:
    'Returns the changes of stock quantities that match every given parameter, newest first, in pages. Removed pets keep their history. A page examines at most 100,000 rows of the log, so it may have fewer changes than `limit`, or none, and still link to the next page.',
  query: {
    ...FILTERS,
    reason: Type.Optional(RecordedReason),
    reference: Type.Optional(Reference),
    ...pageParameters(),
  },
  success: { description: 'A page of the changes.', schema: Type.Array(RecentChange) },
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { limit, cursor, ...filter } = query
    const page = await longReads.run(key.id, () => store.listRecentHistory(limit, cursor, filter))
    return pageReply(request, query, page, changeBody)
  },
})

const PetEdit = Type.Object(
  { ...PET_EDIT, pet: Type.Optional(Pet) },
  {
    title: 'PetEdit',
    description:
      '`pet` is the pet after the change. It is absent if the pet was removed. It does not include the quantity; GET /inventory/history lists quantity changes.',
    examples: [
      {
        petId: 1,
        id: '18',
        change: 'changed',
        name: 'Biscuit',
        at: EXAMPLE_TIME,
        keyId: EXAMPLE_KEY.id,
        keyName: EXAMPLE_KEY.name,
        pet: { id: 1, name: 'Biscuit', categoryId: 1, status: 'sold' },
        fields: ['status'],
      },
    ],
  },
)
const editBody = jsonWriter(PET_EDIT)

export const listPetEdits = defineOperation('GET', '/catalog/history', {
  summary: 'List the edits of all pets',
  description:
    'Returns when pets were created, changed and removed, and by whom, newest first, in pages. Every given parameter must match. The edits of an import of more than 1,000 pets may be missing. A page examines at most 100,000 rows of the log, so it may have fewer edits than `limit`, or none, and still link to the next page.',
  stability: 'beta',
  tag: 'pets',
  query: { ...FILTERS, ...pageParameters() },
  success: { description: 'A page of the edits.', schema: Type.Array(PetEdit) },
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { limit, cursor, ...filter } = query
    const page = await longReads.run(key.id, () => store.listPetEdits(limit, cursor, filter))
    return pageReply(request, query, page, editBody)
  },
})

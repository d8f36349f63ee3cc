import { MAX_BODY_BYTES } from '@petstore/wire'
import Type from 'typebox'
import { ADJUSTMENT_CHANGE, Reason, Reference } from '../core/stock/adjustment-fields.ts'
import { type AdjustmentChange, MAX_CHANGES } from '../core/stock/command.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { JsonObject } from '../core/values/exact-json.ts'
import { entryText, InventoryItem } from './inventory.ts'
import { elementParser, parseList } from './list-body.ts'
import { bodyParser, commitAndReply, defineOperation, invalid } from './operation.ts'
import { jsonTextReply } from './reply.ts'
import { Flag } from './schemas.ts'

const ADJUSTMENT_OPTIONS = {
  reason: Reason,
  reference: Type.Optional(Reference),
  keepReserved: Type.Optional(
    Flag(
      'If true, a change that would take units reserved by open orders fails with 409 insufficient_stock. By default, such units can be taken.',
    ),
  ),
}

const Change = Type.Object(ADJUSTMENT_CHANGE, {
  title: 'AdjustmentChange',
  description: 'Either a difference or a new count.',
  choices: { DeltaChange: ['delta'], CountChange: ['quantity'] },
  examples: [{ petId: 1, delta: 12 }],
})

const InventoryAdjustment = Type.Object(
  { ...ADJUSTMENT_OPTIONS, changes: Type.Array(Change, { minItems: 1, maxItems: MAX_CHANGES }) },
  {
    title: 'InventoryAdjustment',
    description: 'Either all changes are made or none.',
    examples: [
      {
        reason: 'received',
        reference: 'PO-1043',
        changes: [
          { petId: 1, delta: 12 },
          { petId: 2, quantity: 30 },
        ],
      },
    ],
  },
)

const AdjustmentResult = Type.Object(
  {
    items: Type.Array(InventoryItem, {
      description: 'The entries after the changes, in the order of the changes.',
    }),
  },
  {
    title: 'AdjustmentResult',
    examples: [{ items: [{ petId: 1, quantity: 16, status: 'available' }] }],
  },
)

export const adjustInventory = defineOperation('POST', '/inventory/adjustments', {
  summary: 'Adjust the stock of several pets',
  description: `Changes the stock quantities of 1 to ${MAX_CHANGES.toLocaleString('en')} pets, each by a difference or to a new count, and records the reason. Either all changes are made, in one commit, or none. If none is made, \`details\` of the error lists every change that cannot be made. An adjustment counts as one request. Experimental: the request shape may change before it becomes stable.`,
  stability: 'experimental',
  permission: 'stock',
  acceptsIdempotencyKey: true,
  maxBodyBytes: MAX_BODY_BYTES,
  body: InventoryAdjustment,
  parseBody: parseAdjustment,
  success: {
    description: 'The entries after the changes, in the order of the changes.',
    schema: AdjustmentResult,
  },
  errors: ['not_found', 'insufficient_stock', 'precondition_failed'],
  reply: (input, services) => {
    const command = { type: 'adjust', ...input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ items }) => jsonTextReply(`{"items":[${items.map(entryText).join()}]}`, {}),
      refused: ({ failures }) => refusal(failures),
    })
  },
})

const parseOptions = bodyParser(Type.Object(ADJUSTMENT_OPTIONS))
const parsePetId = bodyParser(Type.Object({ petId: ADJUSTMENT_CHANGE.petId }))
const parseChangeFields = elementParser(Change, 'a change')

/** Throws a ServiceError whose details list every invalid change. */
function parseAdjustment(body: JsonObject) {
  return { ...parseOptions(body), changes: parseChanges(body.changes) }
}

function parseChanges(value: unknown): AdjustmentChange[] {
  const seenPetIds = new Set<bigint>()
  return parseList(value, {
    listField: 'changes',
    elementName: 'a change',
    max: MAX_CHANGES,
    petIdField: 'petId',
    parseElement: (element) => parseChange(element, seenPetIds),
  })
}

function parseChange(element: JsonObject, seenPetIds: Set<bigint>): AdjustmentChange {
  const { petId } = parsePetId(element)
  if (seenPetIds.has(petId)) throw invalid(`petId ${petId} occurs twice; send one change for each pet`)
  seenPetIds.add(petId)
  const { delta, quantity, expected } = parseChangeFields(element)
  if (delta !== undefined) return { petId, delta, expected }
  if (quantity === undefined)
    throw new Error('the parser has accepted a change without a delta or a quantity')
  return { petId, quantity, expected }
}

import Type from 'typebox'
import {
  ADJUSTMENT_CHANGE,
  deltaOrQuantityProblem,
  Reason,
  Reference,
} from '../core/stock/adjustment-fields.ts'
import { type Adjust, type AdjustmentChange, MAX_CHANGES, type OutcomeOf } from '../core/stock/command.ts'
import { refusal } from '../core/stock/refusal.ts'
import { type ErrorDetail, ServiceError } from '../core/values/errors.ts'
import { describeValue, isObject, type JsonObject } from '../core/values/exact-json.ts'
import { codecOf } from '../core/values/field.ts'
import { replyOnce } from './idempotency.ts'
import { entryText, InventoryItem } from './inventory.ts'
import { defineOperation } from './operation.ts'
import { errorReply, type JsonReply, jsonTextReply } from './reply.ts'
import { bodyParser, invalid } from './request-input.ts'

const PURPOSE = { reason: Reason, reference: Type.Optional(Reference) }

const Change = Type.Object(ADJUSTMENT_CHANGE, {
  title: 'AdjustmentChange',
  description: 'Has exactly one of delta and quantity.',
  oneOf: [{ required: ['delta'] }, { required: ['quantity'] }],
  examples: [{ petId: 1, delta: 12 }],
})

const InventoryAdjustment = Type.Object(
  { ...PURPOSE, changes: Type.Array(Change, { minItems: 1, maxItems: MAX_CHANGES }) },
  {
    title: 'InventoryAdjustment',
    description: 'Either all changes are made or none. Other fields are ignored.',
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

export const adjustInventory = defineOperation({
  operationId: 'adjustInventory',
  method: 'POST',
  path: '/inventory/adjustments',
  summary: 'Adjust the stock of several pets',
  description:
    'Changes the stock quantities of 1 to 1,000 pets, each by a difference or to a new count, and records the reason. Either all changes are made, in one commit, or none: then `details` of the error lists every change that cannot be made. It counts as one request. Experimental: the request shape may change before it becomes stable.',
  tag: 'inventory',
  stability: 'experimental',
  needs: 'stock',
  acceptsIdempotencyKey: true,
  maxBodyBytes: 256 * 1024,
  body: InventoryAdjustment,
  parseBody: parseAdjustment,
  success: {
    description: 'The entries after the changes, in the order of the changes.',
    schema: AdjustmentResult,
  },
  errors: ['invalid_request', 'not_found', 'insufficient_stock', 'precondition_failed', 'payload_too_large'],
  reply: ({ body, key, idempotency }, { commits, clock }) =>
    replyOnce(commits, { type: 'adjust', ...body, keyId: key.id, at: clock() }, idempotency, adjustmentReply),
})

const parsePurpose = bodyParser(Type.Object(PURPOSE))
const { petId: PetId, ...AMOUNTS } = ADJUSTMENT_CHANGE
const parsePetId = bodyParser(Type.Object({ petId: PetId }))
const parseAmounts = bodyParser(Type.Object(AMOUNTS))
const PET_ID = codecOf('petId', PetId)

/** Throws a ServiceError whose details list every wrong change. */
function parseAdjustment(body: JsonObject) {
  return { ...parsePurpose(body), changes: parseChanges(body.changes) }
}

function parseChanges(value: unknown): AdjustmentChange[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHANGES) {
    const got = Array.isArray(value) ? `${value.length} of them` : describeValue(value)
    throw invalid(`changes must be an array of 1 to ${MAX_CHANGES} changes, got ${got}`)
  }
  const failures: ErrorDetail[] = []
  const seen = new Set<bigint>()
  const changes: AdjustmentChange[] = []
  for (const [index, sent] of value.entries()) {
    try {
      changes.push(parseChange(sent, seen))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const petId = isObject(sent) ? PET_ID.fromJson(sent.petId) : undefined
      const pet = typeof petId === 'bigint' ? { petId } : {}
      failures.push({ index, ...pet, code: error.code, message: error.message })
    }
  }
  if (failures.length > 0) throw refusal(failures)
  return changes
}

function parseChange(sent: unknown, seen: Set<bigint>): AdjustmentChange {
  if (!isObject(sent)) throw invalid(`a change must be an object, got ${describeValue(sent)}`)
  const { petId } = parsePetId(sent)
  if (seen.has(petId)) throw invalid(`petId ${petId} occurs twice; send one change for each pet`)
  seen.add(petId)
  const problem = deltaOrQuantityProblem(sent.delta, sent.quantity)
  if (problem !== undefined) throw invalid(problem)
  const { delta, quantity, expected } = parseAmounts(sent)
  if (delta !== undefined) return { petId, delta, expected }
  if (quantity === undefined) throw new Error('a change must have a delta or a quantity once it is checked')
  return { petId, quantity, expected }
}

function adjustmentReply(outcome: OutcomeOf<Adjust>): JsonReply {
  switch (outcome.type) {
    case 'done':
      return jsonTextReply(`{"items":[${outcome.items.map(entryText).join()}]}`, {})
    case 'refused':
      return errorReply(refusal(outcome.failures))
  }
}

import type { Adjust, OutcomeOf } from '../../core/stock/command.ts'
import { refusal } from '../../core/stock/refusal.ts'
import { readAdjustment } from '../adjustment-input.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { errorReply, type JsonReply, jsonTextReply } from '../reply.ts'
import { entryText } from '../representation.ts'
import { AdjustmentResult, InventoryAdjustment } from '../resources.ts'

export const adjustInventory = defineOperation({
  operationId: 'adjustInventory',
  method: 'POST',
  path: '/inventory/adjustments',
  summary: 'Change the stock of several pets at once',
  description:
    'Changes the stock quantities of 1 to 1,000 pets, by a difference or to a new count, and says what for. All changes are made in one commit, or none: then `details` of the error names every change that cannot be made. It counts as one request. Experimental: the request shape may change before it becomes stable.',
  tag: 'inventory',
  stability: 'experimental',
  needs: 'stock',
  isIdempotent: true,
  maxBodyBytes: 256 * 1024,
  body: InventoryAdjustment,
  parseBody: readAdjustment,
  success: { description: 'The entries after the changes, in the order sent.', schema: AdjustmentResult },
  errors: [
    ...(['invalid_request', 'not_found', 'insufficient_stock', 'precondition_failed'] as const),
    'payload_too_large',
  ],
  reply: ({ body, key, sentKey }, { commits, clock }) =>
    replyOnce(commits, { type: 'adjust', ...body, keyId: key.id, at: clock() }, sentKey, toReply),
})

function toReply(outcome: OutcomeOf<Adjust>): JsonReply {
  switch (outcome.type) {
    case 'done':
      return jsonTextReply(`{"items":[${outcome.items.map(entryText).join()}]}`, {})
    case 'refused':
      return errorReply(refusal(outcome.failures))
  }
}

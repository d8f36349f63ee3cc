import { MAX_BODY_BYTES } from '@petstore/wire'
import Type from 'typebox'
import { Barcode, Note } from '../core/catalog/catalog-fields.ts'
import {
  ADJUSTMENT_CHANGE,
  ADJUSTMENT_HEAD,
  ADJUSTMENT_LINE,
  type Adjustment as AdjustmentRecord,
  Reason,
  RecordedReason,
  Reference,
  ReversalReason,
} from '../core/stock/adjustment.ts'
import { type AdjustmentChange, MAX_CHANGES } from '../core/stock/command.ts'
import { MAX_AHEAD_MINUTES, MAX_AHEAD_MS, MAX_LATENESS_DAYS, type TooLate } from '../core/stock/facts.ts'
import { refusal } from '../core/stock/refusal.ts'
import { toAdjustment } from '../core/stock/stock-draft.ts'
import type { Clock } from '../core/values/clock.ts'
import { type ErrorDetail, notFound, ServiceError } from '../core/values/errors.ts'
import type { JsonObject } from '../core/values/exact-json.ts'
import {
  DateTime,
  Int64,
  invalidField,
  jsonTextWriter,
  jsonWriter,
  MAX_QUANTITY,
  OneOf,
} from '../core/values/field.ts'
import { entryText, InventoryItem } from './inventory.ts'
import { elementParser, parseList } from './list-body.ts'
import { findPets, requirePet } from './named-pets.ts'
import { bodyParser, commitAndReply, defineOperation } from './operation.ts'
import { conditionalReply, jsonReply, jsonTextReply, pageReply, toJson } from './reply.ts'
import { EXAMPLE_KEY, EXAMPLE_TIME, ErrorDetail as FailedChange, Flag, pageParameters } from './schemas.ts'

export const OccurredAt = DateTime(
  `When it happened on the shelf; now, if absent. At most ${MAX_LATENESS_DAYS} days ago and at most ${MAX_AHEAD_MINUTES} minutes ahead. A difference that happened before the latest count of a pet is recorded and changes nothing, because the count includes it. Later differences are added to a count that is sent late.`,
)

const ADJUSTMENT_OPTIONS = {
  reason: Reason,
  reference: Type.Optional(Reference),
  note: Type.Optional(Note('A note about the adjustment.')),
  occurredAt: Type.Optional(OccurredAt),
  onConflict: Type.Optional(
    OneOf(['fail', 'skip'], {
      description:
        'With `skip`, changes that fail because of the stock (404, 409 or 412) are left out and listed in `skipped`, if at least one other can be made. By default, all changes fail together.',
    }),
  ),
  keepReserved: Type.Optional(
    Flag(
      'If true, a change that would take units reserved by open orders fails with 409 insufficient_stock. By default, such units can be taken.',
    ),
  ),
}

const CHANGE = {
  ...ADJUSTMENT_CHANGE,
  petId: Type.Optional(ADJUSTMENT_CHANGE.petId),
  barcode: Type.Optional(Barcode),
}

const Change = Type.Object(CHANGE, {
  title: 'AdjustmentChange',
  description: 'Either a difference or a new count, of a pet that `petId` or `barcode` names.',
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

const ADJUSTMENT = {
  ...ADJUSTMENT_HEAD,
  reversedBy: Type.Array(Int64('An adjustment.'), {
    description: 'The adjustments that have reversed units of this one.',
  }),
  lines: Type.Array(Type.Object(ADJUSTMENT_LINE, { title: 'AdjustmentLine' }), {
    description: 'What happened to each pet.',
  }),
}

const EXAMPLE = {
  id: 17,
  reason: 'received',
  reference: 'PO-1043',
  occurredAt: EXAMPLE_TIME,
  recordedAt: EXAMPLE_TIME,
  keyId: EXAMPLE_KEY.id,
  reversedBy: [],
  lines: [{ petId: 1, before: 4, after: 16, delta: 12, effect: 'applied', reversed: 0 }],
}

const Adjustment = Type.Object(ADJUSTMENT, {
  title: 'Adjustment',
  description:
    'A delivery, a sale, a count, a return or a correction: the lines of one commit. It never changes; another adjustment can reverse it.',
  examples: [EXAMPLE],
})

const AdjustmentResult = Type.Object(
  {
    ...ADJUSTMENT,
    items: Type.Array(InventoryItem, {
      description: 'The entries after the changes, in the order of the lines.',
    }),
    skipped: Type.Optional(
      Type.Array(FailedChange, { description: 'With `onConflict`: the changes that were left out.' }),
    ),
  },
  {
    title: 'AdjustmentResult',
    examples: [{ ...EXAMPLE, items: [{ petId: 1, quantity: 16, status: 'available' }] }],
  },
)

export const adjustInventory = defineOperation('POST', '/inventory/adjustments', {
  summary: 'Adjust the stock of several pets',
  description: `Records an adjustment: changes the stock quantities of 1 to ${MAX_CHANGES.toLocaleString('en')} pets, each by a difference or to a new count, with the reason and the time. Either all changes are made, in one commit, or none, unless \`onConflict\` says otherwise. If none is made, \`details\` of the error lists every change that cannot be made. A count is recorded even if it confirms the quantity. An adjustment counts as one request.`,
  permission: 'stock',
  acceptsIdempotencyKey: true,
  maxBodyBytes: MAX_BODY_BYTES,
  body: InventoryAdjustment,
  parseBody: parseAdjustment,
  success: { description: 'The adjustment, and the entries after it.', schema: AdjustmentResult },
  errors: ['not_found', 'insufficient_stock', 'precondition_failed', 'too_late'],
  reply: async (input, services) => {
    const { changes, ...options } = input.body
    requireNotAhead(options.occurredAt, services.clock)
    const command = { type: 'adjust', ...options, changes: await findPets(changes, services.store) } as const
    return commitAndReply(input, services, command, {
      done: ({ document, items, skipped }) =>
        jsonTextReply(resultText(toAdjustment(document), items, skipped), {}),
      refused: ({ failures }) => refusal(failures),
      too_late: tooLateError,
    })
  },
})

export const listAdjustments = defineOperation('GET', '/inventory/adjustments', {
  summary: 'List adjustments',
  description:
    'Returns the adjustments that match every given parameter, the latest recorded first, in pages: deliveries, sales, counts, returns, corrections, and every quantity that was set or that a pet was created or removed with. A page examines at most 100,000 rows of the log and has at most 5,000 lines or one adjustment, so it may have fewer adjustments than `limit`, or none, and still link to the next page.',
  stability: 'beta',
  query: {
    petId: Type.Optional(Int64('Return only adjustments with a line of this pet.')),
    reason: Type.Optional(RecordedReason),
    keyId: Type.Optional(Type.String({ minLength: 1, description: 'Return only adjustments of this key.' })),
    reference: Type.Optional(Reference),
    orderId: Type.Optional(Int64('Return only the sale of this order, and its reversals.')),
    since: Type.Optional(DateTime('Return only adjustments that were recorded at or after this time.')),
    until: Type.Optional(DateTime('Return only adjustments that were recorded before this time.')),
    ...pageParameters({ maxLimit: 200, defaultLimit: 50 }),
  },
  success: { description: 'A page of adjustments.', schema: Type.Array(Adjustment) },
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { limit, cursor, ...filter } = query
    const page = await longReads.run(key.id, () => store.listAdjustments(limit, cursor, filter))
    return pageReply(request, query, page, adjustmentBody)
  },
})

const ADJUSTMENT_ID = { adjustmentId: Int64('Identifier of the adjustment.') }

export const getAdjustment = defineOperation('GET', '/inventory/adjustments/{adjustmentId}', {
  summary: 'Get an adjustment',
  description: 'Returns an adjustment with its lines, and what has reversed it.',
  stability: 'beta',
  params: ADJUSTMENT_ID,
  success: { description: 'The adjustment.', schema: Adjustment },
  prepare: ({ adjustmentId }, { store }) => store.findAdjustment(adjustmentId),
  reply: ({ params, request }, _, adjustment) => {
    if (adjustment === undefined) throw adjustmentNotFound(params.adjustmentId)
    return conditionalReply(jsonReply(adjustmentBody(adjustment)), request)
  },
})

const ReversedLine = Type.Object(
  {
    petId: Int64('The pet of the line.'),
    quantity: Type.Integer({
      minimum: 1,
      maximum: MAX_QUANTITY,
      description: 'The units to reverse; 1 for a count, which is reversed as a whole.',
    }),
  },
  { title: 'ReversedLine', examples: [{ petId: 1, quantity: 2 }] },
)

const REVERSAL_OPTIONS = {
  reason: Type.Optional(ReversalReason),
  note: Type.Optional(Note('A note about the reversal.')),
  occurredAt: Type.Optional(
    DateTime(
      `When it happened. By default, a correction has the time of the adjustment, and a return happens now. Not before the adjustment, at most ${MAX_LATENESS_DAYS} days ago and at most ${MAX_AHEAD_MINUTES} minutes ahead.`,
    ),
  ),
}

const Reversal = Type.Object(
  {
    ...REVERSAL_OPTIONS,
    lines: Type.Optional(Type.Array(ReversedLine, { minItems: 1, maxItems: MAX_CHANGES })),
  },
  {
    title: 'Reversal',
    description:
      'Without `lines`, everything that was not reversed yet is reversed. The reason is `correction` by default.',
    examples: [{ reason: 'returned', lines: [{ petId: 1, quantity: 2 }] }],
  },
)

export const reverseAdjustment = defineOperation('POST', '/inventory/adjustments/{adjustmentId}/reverse', {
  summary: 'Reverse an adjustment',
  description:
    'Records an adjustment that undoes another one, or some of its units. No unit is reversed twice, not even by different callers: the second request gets 409 `already_reversed`. A count is reversed to the quantity that the pet would have without it. A reversal cannot be reversed.',
  stability: 'beta',
  permission: 'stock',
  params: ADJUSTMENT_ID,
  acceptsIdempotencyKey: true,
  maxBodyBytes: MAX_BODY_BYTES,
  body: Reversal,
  parseBody: parseReversal,
  success: { description: 'The new adjustment, and the entries after it.', schema: AdjustmentResult },
  errors: ['insufficient_stock', 'already_reversed', 'too_late'],
  reply: async (input, services) => {
    const { adjustmentId } = input.params
    const { reason = 'correction', occurredAt } = input.body
    const adjustment = await services.store.findAdjustment(adjustmentId)
    if (adjustment === undefined) throw adjustmentNotFound(adjustmentId)
    requireNotAhead(occurredAt, services.clock)
    if (occurredAt !== undefined && occurredAt < adjustment.occurredAt) {
      throw invalidField(
        'occurredAt',
        `occurredAt must not be before the adjustment, which happened at ${new Date(adjustment.occurredAt).toISOString()}`,
      )
    }
    const command = { type: 'reverse', ...input.body, adjustment, reason } as const
    return commitAndReply(input, services, command, {
      done: ({ document, items }) => jsonTextReply(resultText(toAdjustment(document), items), {}),
      refused: ({ failures }) => refusal(failures, 'lines'),
      too_late: tooLateError,
      already_reversed: ({ message }) => new ServiceError('already_reversed', message),
    })
  },
})

function adjustmentNotFound(id: bigint): ServiceError {
  return notFound(`there is no adjustment ${id}; GET /inventory/adjustments lists those that exist`)
}

/** Also for a reversal and a count of one pet. */
export function tooLateError({ message }: TooLate): ServiceError {
  return new ServiceError('too_late', message)
}

export function requireNotAhead(occurredAt: number | undefined, clock: Clock): void {
  if (occurredAt === undefined || occurredAt <= clock() + MAX_AHEAD_MS) return
  throw invalidField(
    'occurredAt',
    `occurredAt must be at most ${MAX_AHEAD_MINUTES} minutes ahead, got ${new Date(occurredAt).toISOString()}; check the clock of the device`,
  )
}

const headBody = jsonWriter(ADJUSTMENT_HEAD)
const lineText = jsonTextWriter(ADJUSTMENT_LINE)

export function adjustmentBody({ reversedBy, lines, ...head }: AdjustmentRecord): object {
  return { ...headBody(head), reversedBy, lines }
}

/** Builds the lines as text, because they can be many. */
function resultText(
  { lines, ...head }: AdjustmentRecord,
  items: readonly Parameters<typeof entryText>[0][],
  skipped: readonly ErrorDetail[] = [],
): string {
  const fields = toJson({ ...headBody(head), reversedBy: head.reversedBy }).slice(0, -1)
  const skippedText = skipped.length === 0 ? '' : `,"skipped":${toJson(skipped)}`
  return `${fields},"lines":[${lines.map(lineText)}],"items":[${items.map(entryText)}]${skippedText}}`
}

const parseOptions = bodyParser(Type.Object(ADJUSTMENT_OPTIONS))
const parseChangeFields = elementParser(Change, 'a change')

type ParsedChange = AdjustmentChange & { readonly barcode?: string | undefined }

/** Throws a ServiceError whose details list every invalid change. */
function parseAdjustment(body: JsonObject) {
  const options = parseOptions(body)
  const seenPets = new Set<bigint | string>()
  const changes = parseList(body.changes, {
    listField: 'changes',
    elementName: 'a change',
    max: MAX_CHANGES,
    petIdField: 'petId',
    parseElement: (element) => parseChange(element, seenPets),
  })
  return { ...options, changes }
}

function parseChange(element: JsonObject, seenPets: Set<bigint | string>): ParsedChange {
  const change = parseChangeFields(element)
  requirePet('a change', change, seenPets)
  const { petId, barcode, delta, quantity, expected } = change
  if (delta !== undefined) return { petId, barcode, delta, expected }
  if (quantity === undefined)
    throw new Error('the parser has accepted a change without a delta or a quantity')
  return { petId, barcode, quantity, expected }
}

const parseReversalOptions = bodyParser(Type.Object(REVERSAL_OPTIONS))
const parseReversedLine = elementParser(ReversedLine, 'a line')

function parseReversal(body: JsonObject) {
  const options = parseReversalOptions(body)
  if (body.lines === undefined) return options
  const seenPets = new Set<bigint | string>()
  const lines = parseList(body.lines, {
    listField: 'lines',
    elementName: 'a line',
    max: MAX_CHANGES,
    petIdField: 'petId',
    parseElement: (element) => {
      const line = parseReversedLine(element)
      requirePet('a line', line, seenPets)
      return line
    },
  })
  return { ...options, lines }
}

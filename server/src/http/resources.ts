import Type, { type Static } from 'typebox'
import { PET } from '../core/catalog/pet.ts'
import { PERMISSIONS, PLANS } from '../core/keys/api-key.ts'
import { ORDER_STATES } from '../core/orders/order.ts'
import { ADJUSTMENT_CHANGE, Reason, Reference } from '../core/stock/adjustment-fields.ts'
import { MAX_CHANGES } from '../core/stock/command.ts'
import { INVENTORY_ITEM, PetStatus } from '../core/stock/inventory.ts'
import { ERROR_CODES } from '../core/values/errors.ts'
import { DateTime, Int64, MAX_QUANTITY, Quantity } from '../core/values/field.ts'

export { DateTime, Int64, PetStatus, Quantity, Reason }

export const limitParameterUpTo = (maximum: number, fallback: number) =>
  Type.Integer({ minimum: 1, maximum, default: fallback, description: 'How many to return at most.' })

export const limitParameter = limitParameterUpTo(100, 20)

export const cursorParameter = Type.Optional(
  Type.String({ minLength: 1, description: 'Where to go on: as `Link` with rel="next" gave it; opaque.' }),
)

export const InventoryItem = Type.Object(INVENTORY_ITEM, {
  title: 'InventoryItem',
  examples: [{ petId: 1, quantity: 12, status: 'available' }],
})

export const InventoryUpdate = Type.Object(
  { quantity: Quantity('The new stock count.') },
  {
    title: 'InventoryUpdate',
    description: 'Fields other than quantity are ignored; the status never changes by an update.',
    examples: [{ quantity: 5 }],
  },
)

export const AdjustmentChange = Type.Object(ADJUSTMENT_CHANGE, {
  title: 'AdjustmentChange',
  description: 'Has exactly one of delta and quantity.',
  oneOf: [{ required: ['delta'] }, { required: ['quantity'] }],
  examples: [{ petId: 1, delta: 12 }],
})

export const InventoryAdjustment = Type.Object(
  {
    reason: Reason,
    reference: Type.Optional(Reference),
    changes: Type.Array(AdjustmentChange, { minItems: 1, maxItems: MAX_CHANGES }),
  },
  {
    title: 'InventoryAdjustment',
    description: 'All of its changes are made, or none. Other fields are ignored.',
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

export const AdjustmentResult = Type.Object(
  { items: Type.Array(InventoryItem, { description: 'The entries after the changes, in the order sent.' }) },
  {
    title: 'AdjustmentResult',
    examples: [{ items: [{ petId: 1, quantity: 16, status: 'available' }] }],
  },
)

const HISTORY_EXAMPLE = {
  id: '17',
  before: 4,
  after: 5,
  at: '2026-11-15T12:00:00.000Z',
  keyId: 'key_4fT9cVq2Lw8ZsXyN',
  keyName: 'My shop',
}

export const HistoryEntry = Type.Object(
  {
    id: Type.String({ description: 'Identifies the change; opaque.' }),
    before: Quantity('The stock count before the change.'),
    after: Quantity('The stock count after it.'),
    at: Type.String({ format: 'date-time', description: 'When it was made, in UTC.' }),
    keyId: Type.String({ description: 'Public identifier of the API key that made it.' }),
    keyName: Type.String({
      description: 'Name of that key; its identifier where the key is not known any more.',
    }),
    reason: Type.Optional(Reason),
    reference: Type.Optional(Reference),
  },
  { title: 'HistoryEntry', examples: [HISTORY_EXAMPLE] },
)

export const RecentChange = Type.Object(
  { petId: Int64('The pet whose stock changed.'), ...HistoryEntry.properties },
  { title: 'RecentChange', examples: [{ petId: 1, ...HISTORY_EXAMPLE }] },
)

const { before, after, at, keyId, reason, reference } = HistoryEntry.properties
export const ChangeEvent = Type.Object(
  {
    petId: Int64('The pet whose quantity changed.'),
    ...{ before, after, status: PetStatus, at, keyId, reason, reference },
  },
  {
    title: 'ChangeEvent',
    examples: [
      {
        ...{ petId: 1, before: 4, after: 5, status: 'available' },
        ...{ at: HISTORY_EXAMPLE.at, keyId: HISTORY_EXAMPLE.keyId },
      },
    ],
  },
)

export const RemovedEvent = Type.Object(
  { petId: Int64('The pet whose entry is gone.'), at, keyId },
  { title: 'RemovedEvent' },
)

export const Pet = Type.Object(PET, {
  title: 'Pet',
  examples: [{ id: 1, name: 'Biscuit', categoryId: 1, status: 'available' }],
})

const { id: petId, status: _, ...catalogFields } = PET
export const CatalogEntry = Type.Object(
  { petId, ...catalogFields },
  { title: 'CatalogEntry', examples: [{ petId: 1, name: 'Biscuit', categoryId: 1 }] },
)

export const LimitWindow = Type.Object(
  {
    limit: Type.Integer({ minimum: 0, description: 'How many requests the window allows.' }),
    remaining: Type.Integer({ minimum: 0, description: 'How many are left.' }),
    reset: Type.Integer({ description: 'Unix timestamp at which the window ends.' }),
  },
  { title: 'LimitWindow', examples: [{ limit: 60, remaining: 59, reset: 1_794_744_060 }] },
)

export const Permission = Type.Enum([...PERMISSIONS], {
  title: 'Permission',
  type: 'string',
  description: 'What a key may change. Any key may look at everything but webhooks.',
})

export const KeyLimits = Type.Object(
  {
    plan: Type.Enum([...PLANS], { type: 'string', description: 'The plan of the key.' }),
    key: Type.Object({
      id: Type.String({ description: 'Public identifier of the key.' }),
      name: Type.String({ description: 'Name of the key.' }),
    }),
    permissions: Type.Array(Permission, {
      description: 'What the key may change; empty where it may only look.',
    }),
    minute: LimitWindow,
    day: LimitWindow,
  },
  {
    title: 'KeyLimits',
    examples: [
      {
        plan: 'free',
        key: { id: HISTORY_EXAMPLE.keyId, name: HISTORY_EXAMPLE.keyName },
        permissions: ['stock', 'orders'],
        minute: { limit: 60, remaining: 59, reset: 1_794_744_060 },
        day: { limit: 1_000, remaining: 999, reset: 1_794_830_400 },
      },
    ],
  },
)

const ErrorCode = (description: string) => Type.Enum([...ERROR_CODES], { type: 'string', description })

export const ErrorDetail = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Which of the changes it is, counted from 0.' }),
    petId: Type.Optional(Int64('The pet that the change names; absent where it names none.')),
    code: ErrorCode('What the change alone would have been refused with.'),
    message: Type.String({ description: 'Human-readable description.' }),
    available: Type.Optional(
      Type.Integer({
        ...{ minimum: -MAX_QUANTITY, maximum: MAX_QUANTITY },
        description:
          'With insufficient_stock: how many there are for it. Below 0 where more is reserved than there is on the shelf.',
      }),
    ),
    state: Type.Optional(
      Type.Unsafe<string>({
        ...{ type: 'string', enum: ORDER_STATES.filter((state) => state !== 'open') },
        description: 'With order_closed: what the order is.',
      }),
    ),
  },
  {
    title: 'ErrorDetail',
    examples: [
      {
        ...{ index: 0, petId: 1, code: 'insufficient_stock' },
        ...{ message: '3 of petId 1 are available, so 5 cannot be ordered', available: 3 },
      },
    ],
  },
)

/** Named `ErrorBody` here because `Error` is taken; the contract calls it Error. */
export const ErrorBody = Type.Object(
  {
    code: ErrorCode('Machine-readable error code. Codes are never renamed.'),
    message: Type.String({
      description: 'Human-readable description: what was wrong, what was expected, what to do.',
    }),
    status: Type.Integer({ description: 'The HTTP status code.' }),
    details: Type.Optional(
      Type.Array(ErrorDetail, {
        description: 'Every change that failed, where a request has several; what an order was refused for.',
      }),
    ),
  },
  {
    title: 'Error',
    examples: [
      {
        code: 'invalid_request',
        message: 'quantity must be an integer from 0 to 9007199254740991, got "5" (a string)',
        status: 400,
      },
    ],
  },
)
export type ErrorBody = Static<typeof ErrorBody>

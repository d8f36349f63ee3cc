import Type from 'typebox'
import { CATEGORY } from '../catalog/category.ts'
import { PET } from '../catalog/pet.ts'
import { AVAILABILITY, AVAILABLE, ORDER, ORDER_CHANGES, ORDER_LINE } from '../orders/order.ts'
import { type Fields, Int64, OneOf, Quantity, type RecordOf } from '../values/field.ts'
import { HISTORY_ENTRY } from './history.ts'
import { PetStatus } from './inventory.ts'

export type StockEvent =
  | QuantityEvent
  | PetEvent
  | RemovedEvent
  | OrderEvent
  | LowStockEvent
  | CategoryEvent
  | RelistEvent

interface EventBase {
  readonly cursor: string
}

type EventOf<Kind extends string, FieldSet extends Fields> = EventBase & {
  readonly kind: Kind
} & RecordOf<FieldSet>

const { before, after, adjustmentId, at, occurredAt, keyId, reason, reference } = HISTORY_ENTRY
const { id: _, ...petFields } = PET
const { id: categoryId, ...categoryFields } = CATEGORY

export const PET_CHANGES = ['created', 'changed'] as const
export const CATEGORY_CHANGES = ['created', 'changed', 'removed'] as const
export type CategoryChange = (typeof CATEGORY_CHANGES)[number]

export const QUANTITY_EVENT = {
  petId: Int64('The pet whose quantity changed.'),
  before,
  after,
  status: PetStatus,
  reserved: Type.Optional(AVAILABILITY.reserved),
  available: Type.Optional(AVAILABLE),
  adjustmentId,
  at,
  occurredAt,
  keyId,
  reason,
  reference,
}
export type QuantityEvent = EventOf<'change', typeof QUANTITY_EVENT>

/**
 * An order was created or changed. The fields are those after the change. If that changed quantities, their events come right
 * before this event. It says nothing about persons.
 */
export const ORDER_EVENT = {
  change: OneOf(ORDER_CHANGES, { description: 'What happened to the order.' }),
  orderId: ORDER.id,
  state: ORDER.state,
  reference: ORDER.reference,
  metadata: ORDER.metadata,
  at,
  keyId,
}

/** A line of the order, and the stock of its pet after the change. */
export const ORDER_EVENT_LINE = {
  petId: ORDER_LINE.petId,
  quantity: ORDER_LINE.quantity,
  reserved: Type.Optional(AVAILABILITY.reserved),
  available: Type.Optional(AVAILABLE),
}
export type OrderEventLine = RecordOf<typeof ORDER_EVENT_LINE>

export type OrderEvent = EventOf<'order', typeof ORDER_EVENT> & { readonly lines: readonly OrderEventLine[] }

/** A pet was added, or one of its fields other than the quantity changed. The fields are those after the change. */
export const PET_EVENT = {
  change: OneOf(PET_CHANGES, { description: 'What happened to the pet.' }),
  petId: AVAILABILITY.petId,
  ...petFields,
  quantity: AVAILABILITY.quantity,
  at,
  keyId,
}
export type PetEvent = EventOf<'pet', typeof PET_EVENT>

export const REMOVED_EVENT = { petId: Int64('The pet that was removed.'), at, keyId }
export type RemovedEvent = EventOf<'removed', typeof REMOVED_EVENT>

export const LOW_STOCK_EVENT = {
  ...AVAILABILITY,
  available: AVAILABLE,
  lowStockAt: Type.Optional(Quantity('The threshold that applies; absent if the pet no longer has one.')),
  at,
  keyId,
}
export type LowStockEvent = EventOf<'low' | 'recovered', typeof LOW_STOCK_EVENT>

/** The fields of the category are those after the change, or before its removal. */
export const CATEGORY_EVENT = {
  change: OneOf(CATEGORY_CHANGES, { description: 'What happened to the category.' }),
  categoryId,
  ...categoryFields,
  at,
  keyId,
}
export type CategoryEvent = EventOf<'category', typeof CATEGORY_EVENT>

/** Events since the reader's cursor are missing: the reader must read the whole list again and continue after this event. */
export interface RelistEvent extends EventBase {
  readonly kind: 'relist'
}

/**
 * The pet by which events are kept in order: of an order, the first of its pets. `undefined` for a change of a category and for a
 * relist.
 */
export function petIdOf(event: StockEvent): bigint | undefined {
  switch (event.kind) {
    case 'category':
    case 'relist':
      return undefined
    case 'order':
      return event.lines[0]?.petId
    default:
      return event.petId
  }
}

/** The kinds of events that a reader can choose. Every reader gets a `relist`. */
export const EVENT_KINDS = [
  'change',
  'order',
  'low',
  'recovered',
  'pet',
  'removed',
  'category',
] as const satisfies readonly StockEvent['kind'][]

/** An absent field accepts all events. */
export interface EventFilter {
  readonly kinds?: readonly StockEvent['kind'][] | undefined
  readonly petId?: bigint | undefined
}

export function passesFilter(event: StockEvent, { kinds, petId }: EventFilter): boolean {
  if (event.kind === 'relist') return true
  const hasKind = kinds === undefined || kinds.includes(event.kind)
  return hasKind && (petId === undefined || isAbout(event, petId))
}

function isAbout(event: StockEvent, petId: bigint): boolean {
  return event.kind === 'order' ? event.lines.some((line) => line.petId === petId) : petIdOf(event) === petId
}

/** Events after a cursor, in the order of their commits. */
export interface StockEvents {
  readonly events: readonly StockEvent[]
  /** The cursor after the last event. If there are as many events as the limit, more may follow. */
  readonly cursor: string
}

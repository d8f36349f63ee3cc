import Type, { type TSchema } from 'typebox'
import { mapOrderWebhooks, NEW_STATE } from '../core/orders/order.ts'
import { MAX_EVENTS_PER_PAGE, readEventPage } from '../core/stock/event-page.ts'
import {
  CATEGORY_EVENT,
  EVENT_KINDS,
  LOW_STOCK_EVENT,
  ORDER_EVENT,
  ORDER_EVENT_LINE,
  PET_EVENT,
  QUANTITY_EVENT,
  REMOVED_EVENT,
  type StockEvent,
} from '../core/stock/stock-event.ts'
import { DateTime, Int64, jsonWriter, ListOf, OneOf } from '../core/values/field.ts'
import { TEST_EVENT, TEST_EVENT_TYPE } from '../core/webhooks/test-event.ts'
import type { WebhookKind } from '../core/webhooks/webhook.ts'
import { defineOperation } from './operation.ts'
import { conditionalReply, EVENT_ID, jsonReply, nextLink } from './reply.ts'
import { EXAMPLE_KEY, EXAMPLE_TIME, pageParameters, pascalCase } from './schemas.ts'

/** Proxies and browsers close a connection that is silent for about a minute; a heartbeat keeps it open even if two are lost. */
export const HEARTBEAT_SECONDS = 15
/** 20 streams are enough for the pages and programs of a shop. Each process counts only its own streams. */
export const MAX_STREAMS_PER_KEY = 20
/**
 * Enterprise keys serve many shops. More streams cost little, because all of them get an event from the same read of the
 * log.
 */
export const MAX_STREAMS_PER_ENTERPRISE_KEY = 200

const ChangeEvent = Type.Object(QUANTITY_EVENT, {
  title: 'ChangeEvent',
  examples: [
    {
      petId: 1,
      before: 4,
      after: 5,
      status: 'available',
      reserved: 1,
      available: 4,
      adjustmentId: 17,
      at: EXAMPLE_TIME,
      occurredAt: EXAMPLE_TIME,
      keyId: EXAMPLE_KEY.id,
    },
  ],
})

const OrderEvent = Type.Object(
  {
    ...ORDER_EVENT,
    lines: Type.Array(Type.Object(ORDER_EVENT_LINE, { title: 'OrderEventLine' }), {
      description: 'The lines of the order, and the stock of each pet right after the change.',
    }),
  },
  {
    title: 'OrderEvent',
    description: 'The order as it was right after the change, without personal data.',
    examples: [
      {
        change: 'created',
        orderId: 17,
        state: NEW_STATE,
        reference: 'cart-8841',
        at: EXAMPLE_TIME,
        keyId: EXAMPLE_KEY.id,
        lines: [{ petId: 1, quantity: 1, reserved: 1, available: 3 }],
      },
    ],
  },
)

const PetEvent = Type.Object(PET_EVENT, {
  title: 'PetEvent',
  description: 'The pet as it was right after the change.',
})

const CategoryEvent = Type.Object(CATEGORY_EVENT, {
  title: 'CategoryEvent',
  description: 'The category as it was right after the change, or before its removal.',
})

const RemovedEvent = Type.Object(REMOVED_EVENT, { title: 'RemovedEvent' })

const LowStockEvent = Type.Object(LOW_STOCK_EVENT, {
  title: 'LowStockEvent',
  description: 'The stock as it was right after the change that crossed the threshold.',
})

/** The data of each kind of event that a reader can choose. */
const EVENT_DATA = {
  change: ChangeEvent,
  order: OrderEvent,
  low: LowStockEvent,
  recovered: LowStockEvent,
  pet: PetEvent,
  removed: RemovedEvent,
  category: CategoryEvent,
} satisfies Readonly<Record<(typeof EVENT_KINDS)[number], TSchema>>

const orderEventBody = jsonWriter(ORDER_EVENT)
const petEventBody = jsonWriter(PET_EVENT)
const categoryEventBody = jsonWriter(CATEGORY_EVENT)

/** The data of an event, the same in event streams, event pages and webhook deliveries. */
export function eventBody(event: StockEvent): object {
  if (event.kind === 'relist') return {}
  const { kind: _, cursor: __, ...data } = event
  const at = new Date(event.at).toISOString()
  switch (event.kind) {
    case 'order':
      return { ...orderEventBody(event), lines: event.lines }
    case 'pet':
      return petEventBody(event)
    case 'category':
      return categoryEventBody(event)
    case 'change':
      return { ...data, at, occurredAt: new Date(event.occurredAt).toISOString() }
    case 'low':
    case 'recovered':
    case 'removed':
      return { ...data, at }
  }
}

const LAST_EVENT_ID = 'The id of the last event that was received. The stream continues with the next event.'

/** The filters of the stream and of the pages. */
const FILTERS = {
  kinds: Type.Optional(
    ListOf(
      EVENT_KINDS,
      { title: 'EventKind', description: 'A kind of event.' },
      { description: 'Only events of these kinds, separated by commas.' },
    ),
  ),
  petId: Type.Optional(Int64('Only events of this pet and of its orders, and none of categories.')),
}

export const inventoryEvents = defineOperation('GET', '/inventory/events', {
  summary: 'Stream all changes',
  description: [
    'A stream of server-sent events: every change of the stock, of orders, pets and categories, in the order of the commits.',
    '`change`: a quantity changed.',
    '`order`: an order was created, changed, completed, cancelled, or has expired; if this changed quantities, their `change` events come right before the `order` event. It names no person.',
    '`pet`: a pet was added, or changed in anything but its quantity.',
    '`removed`: a pet and its inventory entry were removed.',
    '`category`: a category was created, changed or removed.',
    '`low`: the available units of a pet reached the low-stock threshold of the pet or of its category. `recovered`: they rose above the threshold. Both come after all events of the request that caused them. A new threshold of a category causes them after the `category` event.',
    '`relist`: the changes cannot be listed one by one, because they are too many or no longer in the log; list the inventory again, then continue after this event.',
    'The stream begins with `ready`, whose id is the starting point. If Last-Event-ID is sent, the stream begins with the missed events instead. Comment lines keep the connection open.',
    'The stream ends when its key is revoked or expires, when the service stops, or when the reader is too slow; reconnect with Last-Event-ID to continue without a gap.',
    '`kinds` and `petId` select events; `ready` and `relist` are always sent. A stream with a filter also gets blocks that consist of an `id` only. They move the Last-Event-ID past events that were left out; parsers of server-sent events handle them without delivering an event.',
    `A stream counts as one request. On each instance of the service, a key can have ${MAX_STREAMS_PER_KEY} open streams, and an Enterprise key ${MAX_STREAMS_PER_ENTERPRISE_KEY}; beyond that the response is 429.`,
  ].join(' '),
  query: {
    lastEventId: Type.Optional(
      Type.String({
        minLength: 1,
        description: `${LAST_EVENT_ID} For callers that cannot set the header, which takes precedence.`,
      }),
    ),
    ...FILTERS,
  },
  headers: { 'Last-Event-ID': LAST_EVENT_ID },
  success: {
    description: 'The stream. The data of each event is JSON.',
    schema: Type.String(),
    events: { ready: Type.Object({}), ...EVENT_DATA, relist: Type.Object({}) },
  },
  reply: ({ request, query, key, secretHash }, { streams }) => {
    // A reader that has received no id yet may send an empty header.
    const after = request.headers.get('last-event-id') || query.lastEventId
    const { kinds, petId } = query
    return streams.open({ keyId: key.id, plan: key.plan, secretHash, after, filter: { kinds, petId } })
  },
})

const ListedEvent = Type.Object(
  {
    id: Type.String({ description: 'The id of the event, the same as in the stream; opaque.' }),
    kind: OneOf([...EVENT_KINDS, 'relist'], {
      description: 'The kind of the event. The field of this name has its data; a `relist` has none.',
    }),
    change: Type.Optional(ChangeEvent),
    order: Type.Optional(OrderEvent),
    low: Type.Optional(LowStockEvent),
    recovered: Type.Optional(LowStockEvent),
    pet: Type.Optional(PetEvent),
    removed: Type.Optional(RemovedEvent),
    category: Type.Optional(CategoryEvent),
  } satisfies Readonly<Record<'id' | 'kind' | keyof typeof EVENT_DATA, TSchema>>,
  {
    title: 'ListedEvent',
    examples: [
      { id: '17.5f0c', kind: 'removed', removed: { petId: 1, at: EXAMPLE_TIME, keyId: EXAMPLE_KEY.id } },
    ],
  },
)

function listedEventBody(event: StockEvent): object {
  const { kind, cursor } = event
  return { id: cursor, kind, ...(kind === 'relist' ? {} : { [kind]: eventBody(event) }) }
}

const { limit } = pageParameters()

export const listEvents = defineOperation('GET', '/events', {
  summary: 'List the events after a position',
  description: [
    'Returns a page of the events of GET /inventory/events, in the same order, with the same ids and data.',
    'The header `Event-Id` is the position for the next page, whether or not this one has events; `Link` with rel="next" is there if more events may follow.',
    `A page examines at most ${MAX_EVENTS_PER_PAGE} events, so with a filter it may have fewer events than \`limit\`, or none, and still link to the next page.`,
    'Without `after`, the page is empty and its `Event-Id` is the end of the log: start there, then read the inventory.',
    'If events after the position are no longer in the log, or it belongs to another database, the page has only a `relist`, as the stream does: list the inventory again, then continue after this event.',
  ].join(' '),
  stability: 'beta',
  tag: 'inventory',
  query: {
    after: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The id of an event, or an `Event-Id`. The page begins with the next event.',
      }),
    ),
    ...FILTERS,
    limit,
  },
  success: {
    description: 'A page of the events.',
    schema: Type.Array(ListedEvent),
    headers: ['Event-Id', 'NextPage'],
  },
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { after, limit: maxEvents, ...filter } = query
    const page = await longReads.run(key.id, () => readEventPage(store, { after, limit: maxEvents, filter }))
    const { events, cursor, hasMore } = page
    const headers = {
      [EVENT_ID]: cursor,
      ...(hasMore ? nextLink(request, query, { after: cursor }) : {}),
    }
    return conditionalReply(jsonReply(events.map(listedEventBody), headers), request)
  },
})

const TestEvent = Type.Object(TEST_EVENT, {
  title: 'TestEvent',
  examples: [{ webhookId: 4_821_734_829, test: true }],
})

interface PayloadSpec {
  readonly summary: string
  readonly data: TSchema
}

const PAYLOAD_SPECS: Readonly<Record<WebhookKind | 'relist' | typeof TEST_EVENT_TYPE, PayloadSpec>> = {
  'stock.changed': { summary: 'A quantity changed', data: ChangeEvent },
  'stock.low': { summary: 'A pet is low in stock', data: LowStockEvent },
  'stock.recovered': { summary: 'A pet is no longer low in stock', data: LowStockEvent },
  ...mapOrderWebhooks(({ summary }) => ({ summary, data: OrderEvent })),
  'pet.changed': { summary: 'A pet was added, or changed in anything but its quantity', data: PetEvent },
  'pet.removed': { summary: 'A pet was removed', data: RemovedEvent },
  'category.changed': { summary: 'A category was created, changed or removed', data: CategoryEvent },
  relist: { summary: 'Events are missing: read the list again, then continue', data: Type.Object({}) },
  [TEST_EVENT_TYPE]: { summary: 'A test of the webhook: nothing has happened', data: TestEvent },
}

/** The bodies of webhook deliveries. */
export const WEBHOOK_PAYLOADS = Object.entries(PAYLOAD_SPECS).map(([type, { summary, data }]) => {
  const schema = Type.Object(
    {
      type: OneOf([type], { description: 'The kind of event.' }),
      timestamp: DateTime('When the event happened.'),
      data,
    },
    { title: `${pascalCase(type)}Payload`, description: `${summary}.` },
  )
  return { type, summary, schema }
})

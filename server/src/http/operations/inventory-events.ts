import Type from 'typebox'
import { LowStockEvent, PetEvent } from '../catalog-resources.ts'
import { defineOperation } from '../operation.ts'
import { OrderEvent } from '../order-resources.ts'
import { ChangeEvent, RemovedEvent } from '../resources.ts'

const LAST_EVENT_ID = 'The id of the last event that was received: the stream goes on right behind it.'

export const inventoryEvents = defineOperation({
  operationId: 'inventoryEvents',
  method: 'GET',
  path: '/inventory/events',
  summary: 'Follow the changes of the stock',
  description:
    "A stream of server-sent events: one for each change of the stock, of its orders and of the pets, whoever made it, in the order of the commits. `change`: a quantity changed. `order`: an order was created, changed, completed, cancelled or has expired; what that did to the quantity is a `change` right before it. `pet`: a pet was added, or changed in anything but its quantity. `removed`: a pet and its entry are gone. `low`: so few are available that the pet has reached its threshold, or its category's; `recovered`: it no longer has. Both come right behind what crossed it. `relist`: too much changed to tell it one by one; list the inventory again, then go on from this event. It begins with `ready`, whose id is the point that the stream starts from, or, with Last-Event-ID, with the events that were missed. A comment line is sent every now and then to keep the connection. The stream ends when its key does, when the service stops, and when its reader is too slow; reconnect with Last-Event-ID to go on without a gap. It counts as one request; a key can have 20 streams open.",
  tag: 'inventory',
  stability: 'beta',
  query: {
    lastEventId: Type.Optional(
      Type.String({
        minLength: 1,
        description: `${LAST_EVENT_ID} For callers that cannot set the header, which wins.`,
      }),
    ),
  },
  headers: { 'Last-Event-ID': LAST_EVENT_ID },
  success: {
    description: 'The stream; the data of each event is JSON.',
    schema: Type.String(),
    events: {
      ready: Type.Object({}),
      change: ChangeEvent,
      order: OrderEvent,
      low: LowStockEvent,
      recovered: LowStockEvent,
      pet: PetEvent,
      removed: RemovedEvent,
      relist: Type.Object({}),
    },
  },
  errors: ['invalid_request'],
  reply: ({ request, query, key, secretHash }, { streams }) => {
    // An empty header is what a reader sends that has not had an id yet.
    const after = request.headers.get('last-event-id') || query.lastEventId
    return streams.open({ keyId: key.id, secretHash, after })
  },
})

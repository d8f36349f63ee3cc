import { nameWords } from '../../core/catalog/name-words.ts'
import { ORDER_STATES, type Order, type OrderState } from '../../core/orders/order.ts'
import { isSearchableCustomer, positionOf } from '../../core/orders/order-list.ts'
import type { OrderFilter, OrderStore } from '../../core/orders/order-store.ts'
import { type OutcomeOf, SYSTEM_KEY_ID } from '../../core/stock/command.ts'
import {
  choiceParser,
  type JsonFlags,
  type PetstoreCommand,
  parseOrderId,
  parsePetId,
  throwUsageError,
  wholeNumberParser,
} from '../arguments.ts'
import { formatCount, formatMinute, printFields, printJson, printList, withIsoTimes } from '../terminal.ts'
import type { OpenedStore } from '../with-store.ts'

interface ListFlags extends JsonFlags {
  readonly state?: OrderState
  readonly pet?: bigint
  readonly customer?: string
  readonly limit: number
}

const PAGE_SIZE = 1_000

const SHOWN_FIELDS: readonly (readonly [label: string, cell: (order: Order) => string | number])[] = [
  ['Pet', ({ petId }) => String(petId)],
  ['Quantity', ({ quantity }) => quantity],
  ['State', ({ state }) => state],
  ['Created', ({ createdAt }) => formatMinute(createdAt)],
  ['Expires', ({ expiresAt }) => formatMinute(expiresAt)],
  ['Ships', ({ shipDate }) => formatMinute(shipDate)],
  ['Closed', ({ closedAt }) => formatMinute(closedAt)],
  ['Customer', ({ customer }) => customer ?? '-'],
]

export function addOrdersCommands(program: PetstoreCommand): void {
  const orders = program
    .command('orders')
    .description('Manage orders, even while the service is running. For many orders: petstore import')
  orders
    .command('list')
    .description('List the open and complete orders, or those in one state, sorted by id. Times are in UTC.')
    .option('--state <state>', ORDER_STATES.join(', '), choiceParser('--state', ORDER_STATES))
    .option('--pet <petId>', 'only the orders of this pet', parsePetId)
    .option(
      '--customer <text>',
      'only the orders of customers whose name begins with this text, sorted by customer',
      parseCustomer,
    )
    .option('--limit <number>', 'maximum number of orders', wholeNumberParser('--limit', 1), 100)
    .jsonOption()
    .storeAction(listOrders)
  orders
    .command('show')
    .description('Show an order in any state.')
    .argument('<orderId>', 'id of the order', parseOrderId)
    .jsonOption()
    .storeAction(showOrder)
  orders
    .command('complete')
    .description('Complete an order. This removes its units from the stock and from the reserved units.')
    .argument('<orderId>', 'id of the order', parseOrderId)
    .storeAction((opened, orderId: bigint) => changeOrder(opened, 'complete_order', orderId))
  orders
    .command('cancel')
    .description('Cancel an order. This releases its reserved units.')
    .argument('<orderId>', 'id of the order', parseOrderId)
    .storeAction((opened, orderId: bigint) => changeOrder(opened, 'cancel_order', orderId))
}

function parseCustomer(text: string): string {
  return isSearchableCustomer(text)
    ? text
    : throwUsageError(`--customer must have at least one letter or digit, got "${text}"`)
}

async function listOrders({ store }: OpenedStore, flags: ListFlags): Promise<void> {
  const { state, pet: petId, customer, limit } = flags
  const filter = { state, petId, customerPrefix: customer === undefined ? undefined : nameWords(customer) }
  // Reads one order more than the limit, to know whether there are more.
  const orders = await readOrders(store, filter, limit + 1)
  printList(orders.slice(0, limit), flags, {
    columns: [
      ['ID', ({ id }) => String(id)],
      ...SHOWN_FIELDS.map(([label, cell]) => [label.toUpperCase(), cell] as const),
    ],
    toJson: orderToJson,
    emptyMessage: 'There are no such orders.',
  })
  if (orders.length > limit) {
    console.error(`petstore: there are more than ${formatCount(limit, 'order')}; --limit shows more`)
  }
}

async function readOrders(
  store: Pick<OrderStore, 'listOrders'>,
  filter: OrderFilter,
  limit: number,
): Promise<Order[]> {
  const orders: Order[] = []
  for (;;) {
    const last = orders.at(-1)
    const pageSize = Math.min(PAGE_SIZE, limit - orders.length)
    const after = last === undefined ? undefined : positionOf(last)
    const page = await store.listOrders({ ...filter, after }, pageSize)
    orders.push(...page)
    if (page.length < pageSize || orders.length === limit) return orders
  }
}

async function showOrder({ store }: OpenedStore, orderId: bigint, flags: JsonFlags): Promise<void> {
  const order = await store.findOrder(orderId)
  if (order === undefined) throw new Error(`there is no order ${orderId}`)
  if (flags.json === true) printJson(orderToJson(order))
  else {
    printFields([
      ['Order', String(orderId)],
      ...SHOWN_FIELDS.map(([label, cell]) => [label, String(cell(order))] as const),
      ['Note', order.note?.replaceAll(/\s*[\r\n]+\s*/g, ' ') ?? '-'],
    ])
  }
}

async function changeOrder(
  { store, database }: OpenedStore,
  type: 'complete_order' | 'cancel_order',
  orderId: bigint,
): Promise<void> {
  const petId = (await store.findOrder(orderId))?.petId
  const [outcome] = await store.changeStock([
    { type, orderId, petId, keyId: SYSTEM_KEY_ID, at: store.clock() },
  ])
  const { quantity, state } = requireChangedOrder(orderId, outcome)
  console.log(`Order ${orderId} (${quantity} of pet ${petId}) is now ${state} in ${database}.`)
}

function requireChangedOrder(orderId: bigint, outcome: OutcomeOf<'complete_order' | 'cancel_order'>): Order {
  switch (outcome.type) {
    case 'done':
      return outcome.order
    case 'unknown_order':
      throw new Error(`there is no order ${orderId}; nothing was changed`)
    case 'order_closed':
      throw new Error(`order ${orderId} is already ${outcome.order.state}; nothing was changed`)
    case 'insufficient_stock': {
      const { petId, wanted, available } = outcome
      throw new Error(
        `order ${orderId} needs ${wanted} of pet ${petId}, but only ${available} are in stock; nothing was changed`,
      )
    }
  }
}

function orderToJson(order: Order) {
  return withIsoTimes(order, 'createdAt', 'expiresAt', 'shipDate', 'closedAt')
}

import type { Command } from 'commander'
import { ORDER_STATES, type Order, type OrderState } from '../../core/orders/order.ts'
import type { OrderFilter, OrderStore } from '../../core/orders/order-store.ts'
import {
  type CancelOrder,
  type CompleteOrder,
  type OutcomeOf,
  STORE_KEY_ID,
} from '../../core/stock/command.ts'
import { oneOf, readOrderId, readPetId, wholeNumber } from '../arguments.ts'
import { counted, json, moment, table } from '../output.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

interface ListFlags extends SettingFlags {
  readonly state?: OrderState
  readonly pet?: bigint
  readonly limit: number
  readonly json?: true
}

const PAGE = 1_000

export function addOrdersCommands(program: Command): void {
  const orders = program
    .command('orders')
    .description('Look after orders, while the service runs. Many at once: petstore import')
  orders
    .command('list')
    .description('List orders by id: open and complete ones, unless a state is given. Times are in UTC.')
    .option('--state <state>', ORDER_STATES.join(', '), oneOf('--state', ORDER_STATES))
    .option('--pet <petId>', 'only those of this pet', readPetId)
    .option('--limit <number>', 'how many at the most', wholeNumber('--limit', 1), 100)
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(listOrders)
  orders
    .command('show')
    .description('Show one order, in whatever state it is.')
    .argument('<orderId>', '', readOrderId)
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(showOrder)
  orders
    .command('complete')
    .description('Complete an order: takes it out of the stock, and out of what is reserved.')
    .argument('<orderId>', '', readOrderId)
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action((orderId: bigint, flags: SettingFlags) => change(orderId, 'complete_order', flags))
  orders
    .command('cancel')
    .description('Cancel an order: releases what it has reserved.')
    .argument('<orderId>', '', readOrderId)
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action((orderId: bigint, flags: SettingFlags) => change(orderId, 'cancel_order', flags))
}

async function listOrders(flags: ListFlags): Promise<void> {
  const { state, pet, limit } = flags
  const filter = { ...(state === undefined ? {} : { state }), ...(pet === undefined ? {} : { petId: pet }) }
  // One more than asked for tells whether there are more.
  const found = await withStore(flags, 'expect', (store) => upTo(store, filter, limit + 1))
  const orders = found.slice(0, limit)
  if (flags.json === true) console.log(json(orders.map(forMachines)))
  else if (orders.length === 0) console.log('There are no such orders.')
  else {
    console.log(
      table(
        ['ID', 'PET', 'QUANTITY', 'STATE', 'CREATED', 'EXPIRES', 'SHIPS'],
        orders.map((order) => [
          ...[String(order.id), String(order.petId), order.quantity, order.state],
          ...[moment(order.createdAt), moment(order.expiresAt), moment(order.shipDate)],
        ]),
      ),
    )
  }
  if (found.length > limit) {
    console.error(`petstore: these are the first ${counted(limit, 'order')}; --limit shows more`)
  }
}

async function upTo(
  store: Pick<OrderStore, 'listOrders'>,
  filter: OrderFilter,
  limit: number,
): Promise<Order[]> {
  const orders: Order[] = []
  for (;;) {
    const last = orders.at(-1)
    const wanted = Math.min(PAGE, limit - orders.length)
    const page = await store.listOrders(
      { ...filter, ...(last === undefined ? {} : { after: last.id }) },
      wanted,
    )
    orders.push(...page)
    if (page.length < wanted || orders.length === limit) return orders
  }
}

async function showOrder(orderId: bigint, flags: SettingFlags & { readonly json?: true }): Promise<void> {
  const order = await withStore(flags, 'expect', (store) => store.findOrder(orderId))
  if (order === undefined) throw new Error(`there is no order ${orderId}`)
  if (flags.json === true) console.log(json(forMachines(order)))
  else {
    console.log(
      table(
        ['', ''],
        [
          ['Order', String(order.id)],
          ['Pet', String(order.petId)],
          ['Quantity', String(order.quantity)],
          ['State', order.state],
          ['Created', moment(order.createdAt)],
          ['Expires', moment(order.expiresAt)],
          ['Ships', moment(order.shipDate)],
        ],
      ).trimStart(),
    )
  }
}

async function change(
  orderId: bigint,
  type: (CompleteOrder | CancelOrder)['type'],
  flags: SettingFlags,
): Promise<void> {
  await withStore(flags, 'expect', async (store, config) => {
    const found = await store.findOrder(orderId)
    const petId = found?.petId
    const [outcome] = await store.changeStock([
      { type, orderId, petId, keyId: STORE_KEY_ID, at: store.clock() },
    ])
    const { quantity, state } = changedOrder(orderId, outcome)
    console.log(`Order ${orderId} of ${quantity} of pet ${petId} is ${state} in ${databaseName(config)}.`)
  })
}

function changedOrder(orderId: bigint, outcome: OutcomeOf<CompleteOrder | CancelOrder>): Order {
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
        `order ${orderId} takes ${wanted} of pet ${petId}, but only ${available} are in stock; nothing was changed`,
      )
    }
  }
}

/** With its times in ISO 8601. */
function forMachines(order: Order) {
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  const { createdAt, expiresAt, shipDate, ...rest } = order
  return { ...rest, createdAt: iso(createdAt), expiresAt: iso(expiresAt), shipDate: iso(shipDate) }
}

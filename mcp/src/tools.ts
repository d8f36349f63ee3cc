import type * as petstore from '@petstore/client'
import openapi from '../../openapi.json' with { type: 'json' }
import { type ObjectSchema, parametersOf, resolve, resultOf } from './contract.ts'

type Client = petstore.PetstoreClient
type QueryOf<Method extends (query: never) => unknown> = NonNullable<Parameters<Method>[0]>
type Line = Pick<petstore.AdjustmentChange, 'petId' | 'barcode'> & { readonly quantity: number }
type Booking = Omit<petstore.InventoryAdjustment, 'reason' | 'changes'> & { readonly lines: readonly Line[] }
type Return = petstore.Reversal & { readonly adjustmentId: bigint }
type Call = { readonly agent: string; readonly options: petstore.WriteOptions }

export interface Tool<Arguments = never> {
  readonly name: string
  readonly description: string
  /** Whether it changes nothing, only adds something, or takes or overwrites something. */
  readonly effect: 'reads' | 'adds' | 'takes'
  readonly input: ObjectSchema
  readonly output: ObjectSchema
  /** The arguments match `input`; their ids are `bigint`. */
  readonly run: (client: Client, args: Arguments, call: Call) => Promise<object>
}

export const MAX_AGENT_LENGTH = 40

const { paths, components } = openapi
const { CountChange, InventoryAdjustment, NewBasket, NewOrderLine, Reversal } = components.schemas
const search = paths['/inventory/search'].get
const availability = paths['/inventory/{petId}/availability'].get
const adjustments = paths['/inventory/adjustments']
const reversal = paths['/inventory/adjustments/{adjustmentId}/reverse'].post
const report = paths['/reports/movements'].get

const findPets: Tool<QueryOf<Client['inventory']['search']>> = {
  name: 'find_pets',
  description: 'Finds pets by id, barcode or words of the name, with their stock.',
  effect: 'reads',
  input: parametersOf(search),
  output: resultOf(search),
  run: (client, query, { options }) => client.inventory.search({ ...query, ...options }),
}

const getStock: Tool<{ readonly petId: bigint }> = {
  name: 'get_stock',
  description: 'Returns how many units of a pet are on the shelf, reserved by open orders, and available.',
  effect: 'reads',
  input: parametersOf(availability),
  output: resultOf(availability),
  run: (client, { petId }, { options }) => client.inventory.availability(petId, options),
}

const listLowStock: typeof findPets = {
  ...findPets,
  name: 'list_low_stock',
  description: 'Lists the pets of which no more units are available than their threshold.',
  input: parametersOf(search, ['q', 'low', 'below']),
  run: (client, query, { options }) => client.inventory.search({ ...query, low: true, ...options }),
}

const listAdjustments: Tool<QueryOf<Client['adjustments']['list']>> = {
  name: 'list_adjustments',
  description: 'Lists deliveries, sales, counts, returns and corrections, the latest first.',
  effect: 'reads',
  input: parametersOf(adjustments.get),
  output: resultOf(adjustments.get),
  run: (client, query, { options }) => client.adjustments.list({ ...query, ...options }),
}

const reportMovements: Tool<QueryOf<Client['reports']['movements']>> = {
  name: 'report_movements',
  description: 'Sums the units that were received, sold, returned, counted and lost in a time range.',
  effect: 'reads',
  input: parametersOf(report),
  output: resultOf(report),
  run: (client, query, { options }) => client.reports.movements({ ...query, ...options }),
}

const receive: Tool<Booking> = {
  name: 'receive',
  description: 'Adds units that were delivered: all lines or none.',
  effect: 'adds',
  input: bookingOf(unitsOf('Units that came in.')),
  output: resultOf(adjustments.post),
  run: (client, booking, call) =>
    book(client, booking, call, 'received', ({ quantity, ...pet }) => ({ ...pet, delta: quantity })),
}

const sell: Tool<Booking> = {
  name: 'sell',
  description: 'Takes units that were sold: all lines or none, and never units that open orders reserve.',
  effect: 'takes',
  input: bookingOf(unitsOf('Units that were sold.')),
  output: resultOf(adjustments.post),
  run: (client, booking, call) =>
    book(client, booking, call, 'sold', ({ quantity, ...pet }) => ({ ...pet, delta: -quantity })),
}

const count: Tool<Booking> = {
  name: 'count',
  description: 'Sets quantities to what is on the shelf, reserved units included: all lines or none.',
  effect: 'takes',
  input: bookingOf(CountChange),
  output: resultOf(adjustments.post),
  run: (client, booking, call) => book(client, booking, call, 'counted', (line) => line),
}

const reserve: Tool<petstore.NewBasket> = {
  name: 'reserve',
  description: 'Orders units for a customer. They stay on the shelf, and nobody else can buy them.',
  effect: 'adds',
  input: orderOf(NewBasket.properties),
  output: resultOf(paths['/store/orders'].post),
  run: (client, order, { agent, options }) =>
    client.orders.create({ ...order, reference: sign(order.reference, agent) }, options),
}

const takeBack: Tool<Return> = {
  name: 'return',
  description: 'Takes back a sale or some of its units or, with the reason correction, any mistake.',
  effect: 'takes',
  input: objectOf(
    {
      ...parametersOf(reversal).properties,
      ...Reversal.properties,
      note: signable(Reversal.properties.note),
    },
    ['adjustmentId'],
  ),
  output: resultOf(reversal),
  run: (client, { adjustmentId, reason = 'returned', ...facts }, { agent, options }) =>
    client.adjustments.reverse(adjustmentId, { ...facts, reason, note: sign(facts.note, agent) }, options),
}

const READING: readonly Tool[] = [findPets, getStock, listLowStock, listAdjustments, reportMovements]
export const TOOLS: readonly Tool[] = [...READING, receive, sell, count, reserve, takeBack]

function book(
  client: Client,
  { lines, reference, ...facts }: Booking,
  { agent, options }: Call,
  reason: petstore.Reason,
  changeOf: (line: Line) => petstore.AdjustmentChange,
): Promise<petstore.AdjustmentResult> {
  const purpose = { reason, keepReserved: reason === 'sold', reference: sign(reference, agent) }
  return client.inventory.adjust({ ...facts, ...purpose, changes: lines.map(changeOf) }, options)
}

/** The text with the name of the agent, or the name alone. */
function sign(text: string | undefined, agent: string): string {
  return text === undefined ? agent : `${text} (${agent})`
}

/** The schema of a text that `sign` makes longer. */
function signable<Text extends { readonly maxLength: number }>(text: Text): Text {
  return { ...text, maxLength: text.maxLength - sign('', '').length - MAX_AGENT_LENGTH }
}

function bookingOf(line: object): ObjectSchema {
  const { changes, reference, note, occurredAt } = InventoryAdjustment.properties
  const lines = { ...changes, items: line }
  return objectOf({ lines, reference: signable(reference), note, occurredAt }, ['lines'])
}

/** Without the fields of an order that is complete at once: that is a sale. */
function orderOf(basket: typeof NewBasket.properties): ObjectSchema {
  const { complete, occurredAt, evenIfReserved, ...open } = basket
  return objectOf({ ...open, reference: signable(open.reference) }, NewBasket.required)
}

function unitsOf(description: string): ObjectSchema {
  const { properties, required } = NewOrderLine
  return objectOf({ ...properties, quantity: { ...properties.quantity, description } }, required)
}

function objectOf(properties: object, required: readonly string[]): ObjectSchema {
  return resolve({ type: 'object', properties, required, additionalProperties: false }) as ObjectSchema
}

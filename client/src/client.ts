import { type AdjustmentOptions, adjustInventory, type StockChange } from './adjust-inventory.ts'
import type {
  Availability,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  KeyLimits,
  NewOrder,
  Operations,
  Order,
  OrderState,
  RecentChange,
} from './contract-types.ts'
import { asAnswer } from './exact-json.ts'
import { type EventOptions, followEvents, type InventoryEvent } from './inventory-events.ts'
import { KeyClient } from './key-client.ts'
import type { LimitState } from './limit-state.ts'
import {
  type CallOptions,
  callForValue,
  callOperation,
  int64,
  type OperationId,
  type Outcome,
  type WriteOptions,
} from './operation-call.ts'
import { type PetstoreClientOptions, readOptions } from './options.ts'
import { allItems, type Page, type PageOptions, pageOf } from './pages.ts'
import { Transport } from './transport.ts'

/** An entry with the tag of its state: give it as `ifMatch` to change just that state. */
export interface TaggedInventoryItem extends InventoryItem {
  readonly etag: string
}

/** Which changes are wanted; see the contract. */
export type ChangeFilter = Omit<Operations['listRecentChanges']['query'], 'limit' | 'cursor'>

export interface OrderFilter {
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
}

/** One of the two. */
export type OrderUpdate =
  | { readonly shipDate: string; readonly complete?: never }
  | { readonly complete: true; readonly shipDate?: never }

/** Every operation of the contract has a method of its name: a missing one does not compile. */
type OperationMethods = Readonly<Record<OperationId, (...args: never[]) => unknown>>

/** The service as an object. One client holds one key: its calls share the key's limits and wait together. */
export class PetstoreClient extends KeyClient implements OperationMethods {
  readonly #transport: Transport
  /** The tag of a list is kept beside it: an array has no room for one. */
  readonly #listTags = new WeakMap<readonly unknown[], string>()

  constructor(options: PetstoreClientOptions) {
    const transport = new Transport(readOptions(options))
    super(transport)
    this.#transport = transport
  }

  /** How the limits stood with the last answer; `undefined` before the first. */
  get limits(): LimitState | undefined {
    return this.#transport.limits
  }

  /**
   * The stock level of every pet, by petId. Give a list that this client gave before as `known`, and you get that
   * very array back when nothing has changed, for the cost of a few bytes.
   */
  async listInventory({
    known,
    signal,
  }: CallOptions & { readonly known?: readonly InventoryItem[] } = {}): Promise<readonly InventoryItem[]> {
    const knownTag = known === undefined ? undefined : this.#listTags.get(known)
    const headers = knownTag === undefined ? {} : { 'If-None-Match': knownTag }
    const answer = await callOperation(this.#transport, 'listInventory', { headers, signal })
    if (answer.value === undefined && known !== undefined) return known
    const list = answer.value ?? []
    const tag = answer.headers.get('ETag')
    if (tag !== null) this.#listTags.set(list, tag)
    return list
  }

  /** The stock level of one pet, and `known` itself where that is still right. */
  async getInventoryItem(
    petId: bigint,
    { known, signal }: CallOptions & { readonly known?: TaggedInventoryItem } = {},
  ): Promise<TaggedInventoryItem> {
    const headers = known?.petId === petId ? { 'If-None-Match': known.etag } : {}
    const { value, headers: answered } = await callOperation(this.#transport, 'getInventoryItem', {
      params: { petId },
      headers,
      signal,
    })
    return value === undefined && known !== undefined ? known : tagged({ value, headers: answered })
  }

  /**
   * Sets the stock of one pet. With `ifMatch`, only if the entry is still in that state; else it throws
   * `precondition_failed`. To add or take, use `adjustInventory`.
   */
  async updateInventory(
    petId: bigint,
    update: InventoryUpdate,
    { ifMatch, ...options }: WriteOptions & { readonly ifMatch?: string } = {},
  ): Promise<TaggedInventoryItem> {
    const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch }
    const input = { params: { petId }, headers, body: update, ...options }
    return tagged(await callForValue(this.#transport, 'updateInventory', input))
  }

  /**
   * Changes the stock of one pet or of up to 1,000, by a difference or to a new count, all or nothing and in one
   * request; right with any number of callers doing the same. Throws `not_found`, `insufficient_stock` rather than
   * going below 0, or `precondition_failed` where `expected` does not hold; `details` has every change that failed.
   */
  adjustInventory(change: StockChange, options: AdjustmentOptions): Promise<InventoryItem>
  adjustInventory(
    changes: readonly StockChange[],
    options: AdjustmentOptions,
  ): Promise<readonly InventoryItem[]>
  async adjustInventory(
    changes: StockChange | readonly StockChange[],
    options: AdjustmentOptions,
  ): Promise<InventoryItem | readonly InventoryItem[]> {
    if (!isOne(changes)) return adjustInventory(this.#transport, changes, options)
    const [item] = await adjustInventory(this.#transport, [changes], options)
    if (item === undefined) throw new Error('one change came to no entry')
    return item
  }

  /** A page of the changes of one pet's stock, newest first. */
  async listInventoryHistory(petId: bigint, options: PageOptions = {}): Promise<Page<HistoryEntry>> {
    const { limit, cursor, signal } = options
    const input = { params: { petId }, query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#transport, 'listInventoryHistory', input)
    return pageOf(value, headers)
  }

  /** All changes of one pet's stock, newest first. */
  allInventoryHistory(petId: bigint, { signal }: CallOptions = {}): AsyncIterable<HistoryEntry> {
    return allItems((cursor) => this.listInventoryHistory(petId, { limit: 100, cursor, signal }))
  }

  /**
   * A page of the changes of all stock that fit the filter, newest first. With a filter it may have fewer than asked for,
   * or none, and still tell where to go on.
   */
  async listRecentChanges({
    signal,
    ...query
  }: ChangeFilter & PageOptions = {}): Promise<Page<RecentChange>> {
    const input = { query, signal }
    const { value, headers } = await callForValue(this.#transport, 'listRecentChanges', input)
    return pageOf(value, headers)
  }

  /** All changes of all stock that fit the filter, newest first. */
  allRecentChanges(options: ChangeFilter & CallOptions = {}): AsyncIterable<RecentChange> {
    return allItems((cursor) => this.listRecentChanges({ ...options, limit: 100, cursor }))
  }

  /**
   * What happens to the stock, as it happens, each event once. Reconnects and goes on by itself. On `ready` the
   * stream has begun; on `relist` too much was missed: list the inventory again, then go on.
   */
  inventoryEvents(options: EventOptions = {}): AsyncIterable<InventoryEvent> {
    return followEvents(this.#transport, options)
  }

  /** The plan of the key, and how it stands in both of its windows, this call counted. */
  async getLimits({ signal }: CallOptions = {}): Promise<KeyLimits> {
    return (await callForValue(this.#transport, 'getLimits', { signal })).value
  }

  /** How many of one pet are on the shelf, reserved by open orders, and available. */
  async getAvailability(petId: bigint, { signal }: CallOptions = {}): Promise<Availability> {
    return (await callForValue(this.#transport, 'getAvailability', { params: { petId }, signal })).value
  }

  /** The short name of `getAvailability`. */
  availability(petId: bigint, options: CallOptions = {}): Promise<Availability> {
    return this.getAvailability(petId, options)
  }

  /**
   * Orders a pet, which reserves it, for `holdSeconds` where that is given. Throws `InsufficientStockError`, which says
   * how many are `available`, or `not_found`.
   */
  async createOrder(order: NewOrder, options: WriteOptions = {}): Promise<Order> {
    int64('petId', order.petId)
    return (await callForValue(this.#transport, 'createOrder', { body: order, ...options })).value
  }

  /** One order, in whatever state it is. */
  async getOrder(orderId: bigint, { signal }: CallOptions = {}): Promise<Order> {
    return (await callForValue(this.#transport, 'getOrder', { params: { orderId }, signal })).value
  }

  /** Gives an open order another ship date, or completes it. Throws `OrderClosedError` on one that is closed. */
  async updateOrder(orderId: bigint, update: OrderUpdate, options: WriteOptions = {}): Promise<Order> {
    const input = { params: { orderId }, body: update, ...options }
    return (await callForValue(this.#transport, 'updateOrder', input)).value
  }

  /**
   * Takes what an order reserved out of the stock; one that is complete stays so. Throws `OrderClosedError` on one that
   * was cancelled or has expired, and `InsufficientStockError` where the stock was set below what the order takes.
   */
  completeOrder(orderId: bigint, options: WriteOptions = {}): Promise<Order> {
    return this.updateOrder(orderId, { complete: true }, options)
  }

  /** Releases what an order reserved; one that was cancelled or expired stays so. `OrderClosedError` once it is complete. */
  async cancelOrder(orderId: bigint, options: WriteOptions = {}): Promise<void> {
    await callOperation(this.#transport, 'cancelOrder', { params: { orderId }, ...options })
  }

  /** All orders by id, those of all pages; open and complete ones unless `state` says otherwise. Pages have 1,000. */
  listOrders({ cursor, ...options }: OrderFilter & PageOptions = {}): AsyncIterable<Order> {
    return allItems((next) => this.listOrderPage({ limit: 1_000, ...options, cursor: next ?? cursor }))
  }

  /** One page of what `listOrders` walks over, of 100 where `limit` does not say otherwise; 1 to 1,000. */
  async listOrderPage(options: OrderFilter & PageOptions = {}): Promise<Page<Order>> {
    const { state, petId, limit, cursor, signal } = options
    if (petId !== undefined) int64('petId', petId)
    const input = { query: { state, petId, limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#transport, 'listOrders', input)
    return pageOf(value, headers)
  }
}

function tagged({ value, headers }: Outcome<InventoryItem | undefined>): TaggedInventoryItem {
  if (value === undefined) throw new TypeError('the service answered 304 to a request without a condition')
  return asAnswer({ ...value, etag: headers.get('ETag') ?? '' })
}

function isOne(changes: StockChange | readonly StockChange[]): changes is StockChange {
  return !Array.isArray(changes)
}

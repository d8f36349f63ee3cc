import { adjustInventory } from './adjust-inventory.ts'
import type {
  Availability,
  CatalogEntry,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  KeyLimits,
  NewOrder,
  Operations,
  Order,
  OrderUpdate,
  Pet,
  RecentChange,
} from './contract-types.ts'
import { type EventOptions, followEvents, type InventoryEvent } from './inventory-events.ts'
import type { LimitState } from './limit-state.ts'
import { callForValue, callOperation, type OperationId, type Outcome } from './operation-call.ts'
import { type PetstoreClientOptions, readOptions } from './options.ts'
import { allItems, type Page, pageOf } from './pages.ts'
import { PetQueue } from './pet-queue.ts'
import { Transport } from './transport.ts'
import { updateInventory } from './update-inventory.ts'

export interface CallOptions {
  /** Ends the call, whatever it is waiting for; the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** An entry with the tag of its state: give it as `ifMatch` to change just that state. */
export interface TaggedInventoryItem extends InventoryItem {
  readonly etag: string
}

export interface PageOptions extends CallOptions {
  /** How many to a page: 1 to 100, 20 by default, where the method does not say otherwise. */
  readonly limit?: number
  readonly cursor?: string | undefined
}

export interface PetFilter {
  readonly status?: Pet['status']
}

/** Every operation of the contract has a method of its name: a missing one does not compile. */
type OperationMethods = Readonly<Record<OperationId, (...args: never[]) => unknown>>

/** The service as an object. One client holds one key: its calls share the key's limits and wait together. */
export class PetstoreClient implements OperationMethods {
  readonly #transport: Transport
  readonly #adjusting = new PetQueue()
  readonly #listTags = new WeakMap<readonly unknown[], string>()

  constructor(options: PetstoreClientOptions) {
    this.#transport = new Transport(readOptions(options))
  }

  /** How the limits stood with the last answer; `undefined` before the first. */
  get limits(): LimitState | undefined {
    return this.#transport.limits
  }

  /**
   * The stock level of every pet, by petId. Give a list that this client gave before as `known`, and you get that
   * very array back when nothing has changed, for the cost of a few bytes.
   */
  async listInventory(
    options: CallOptions & { readonly known?: readonly InventoryItem[] } = {},
  ): Promise<readonly InventoryItem[]> {
    return this.#list('listInventory', options)
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
    { ifMatch, signal }: CallOptions & { readonly ifMatch?: string } = {},
  ): Promise<TaggedInventoryItem> {
    return tagged(await updateInventory(this.#transport, { petId, update, ifMatch, signal }))
  }

  /**
   * Adds to the stock of one pet, or takes from it with a negative `delta`; safe with any number of callers doing
   * the same. Throws `insufficient_stock` rather than going below 0.
   */
  async adjustInventory(petId: bigint, delta: number, { signal }: CallOptions = {}): Promise<InventoryItem> {
    if (!Number.isSafeInteger(delta)) throw new TypeError(`delta must be an integer, got ${String(delta)}`)
    return this.#adjusting.run(petId, signal, () =>
      adjustInventory(this.#transport, { petId, delta, signal }),
    )
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

  /** A page of the changes of all stock, newest first. */
  async listRecentChanges({ limit, cursor, signal }: PageOptions = {}): Promise<Page<RecentChange>> {
    const input = { query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#transport, 'listRecentChanges', input)
    return pageOf(value, headers)
  }

  /** All changes of all stock, newest first. */
  allRecentChanges({ signal }: CallOptions = {}): AsyncIterable<RecentChange> {
    return allItems((cursor) => this.listRecentChanges({ limit: 100, cursor, signal }))
  }

  /**
   * What happens to the stock, as it happens, each event once. Reconnects and goes on by itself. On `ready` the
   * stream has begun; on `relist` too much was missed: list the inventory again, then go on.
   */
  inventoryEvents(options: EventOptions = {}): AsyncIterable<InventoryEvent> {
    return followEvents(this.#transport, options)
  }

  /** A page of the pets, by id. */
  async listPets({ status, limit, cursor, signal }: PetFilter & PageOptions = {}): Promise<Page<Pet>> {
    const input = { query: { status, limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#transport, 'listPets', input)
    return pageOf(value, headers)
  }

  /** All pets, by id. */
  allPets({ status, signal }: PetFilter & CallOptions = {}): AsyncIterable<Pet> {
    const filter = status === undefined ? {} : { status }
    return allItems((cursor) => this.listPets({ ...filter, limit: 100, cursor, signal }))
  }

  /** @deprecated The service ends this operation on its sunset date; use `listPets`. */
  async getPet(petId: bigint, { signal }: CallOptions = {}): Promise<Pet> {
    return (await callForValue(this.#transport, 'getPet', { params: { petId }, signal })).value
  }

  /** A page of the names and categories, by petId: 1 to 10,000 of them, 1,000 by default. */
  async listCatalog({ limit, cursor, signal }: PageOptions = {}): Promise<Page<CatalogEntry>> {
    const input = { query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#transport, 'listCatalog', input)
    return pageOf(value, headers)
  }

  /** All names and categories, by petId. */
  allCatalog({ signal }: CallOptions = {}): AsyncIterable<CatalogEntry> {
    return allItems((cursor) => this.listCatalog({ limit: 10_000, cursor, signal }))
  }

  /** The plan of the key, and how it stands in both of its windows, this call counted. */
  async getLimits({ signal }: CallOptions = {}): Promise<KeyLimits> {
    return (await callForValue(this.#transport, 'getLimits', { signal })).value
  }

  /** How many of one pet are on the shelf, reserved by open orders, and available. */
  async getAvailability(petId: bigint, { signal }: CallOptions = {}): Promise<Availability> {
    return (await callForValue(this.#transport, 'getAvailability', { params: { petId }, signal })).value
  }

  /** Orders a pet, which reserves it; throws `insufficient_stock` where less is available. */
  async createOrder(order: NewOrder, { signal }: CallOptions = {}): Promise<Order> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    return (await callForValue(this.#transport, 'createOrder', { body: order, headers, signal })).value
  }

  /** One order, in whatever state it is. */
  async getOrder(orderId: bigint, { signal }: CallOptions = {}): Promise<Order> {
    return (await callForValue(this.#transport, 'getOrder', { params: { orderId }, signal })).value
  }

  /** Completes an order, or gives it another ship date. */
  async updateOrder(orderId: bigint, update: OrderUpdate, { signal }: CallOptions = {}): Promise<Order> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const input = { params: { orderId }, body: update, headers, signal }
    return (await callForValue(this.#transport, 'updateOrder', input)).value
  }

  /** Cancels an order, which releases what it reserved. */
  async cancelOrder(orderId: bigint, { signal }: CallOptions = {}): Promise<void> {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    await callOperation(this.#transport, 'cancelOrder', { params: { orderId }, headers, signal })
  }

  /** The first 100 orders that are open or complete. `known` works as with `listInventory`. */
  async listOrders(
    options: CallOptions & { readonly known?: readonly Order[] } = {},
  ): Promise<readonly Order[]> {
    return this.#list('listOrders', options)
  }

  /** The tag of a list is kept beside it: an array has no room for one. */
  async #list<Id extends 'listInventory' | 'listOrders'>(
    id: Id,
    { known, signal }: CallOptions & { readonly known?: Operations[Id]['answer'] },
  ): Promise<Operations[Id]['answer']> {
    const knownTag = known === undefined ? undefined : this.#listTags.get(known)
    const conditions = knownTag === undefined ? {} : { 'If-None-Match': knownTag }
    const { value, headers } = await callOperation(this.#transport, id, { headers: conditions, signal })
    if (value === undefined && known !== undefined) return known
    const list = value ?? []
    const tag = headers.get('ETag')
    if (tag !== null) this.#listTags.set(list, tag)
    return list
  }
}

function tagged({ value, headers }: Outcome<InventoryItem | undefined>): TaggedInventoryItem {
  if (value === undefined) throw new TypeError('the service answered 304 to a request without a condition')
  return { ...value, etag: headers.get('ETag') ?? '' }
}

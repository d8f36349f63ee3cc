import type { AdjustmentChange, Availability, InventoryItem } from './contract-types.ts'
import { PetstoreError } from './errors.ts'
import {
  type EventOptions,
  type EventPage,
  eventIdOf,
  followEvents,
  type InventoryEvent,
  readEventPage,
} from './events.ts'
import type { IdInput, IdKind, Input, Output } from './ids.ts'
import { List, type Page } from './list.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import { type Api, type BodyOf, type Filter, type Query, readIdempotencyKey } from './request.ts'

/** An entry with the tag of its state; pass the tag as `ifMatch` to change the entry only in that state. */
export interface TaggedInventoryItem extends InventoryItem {
  readonly etag: string
}

/** Changes a quantity by `delta`, or sets it to `quantity`; with `expected`, only if that is the current quantity. */
export type StockChange = Input<AdjustmentChange> &
  (
    | { readonly delta: number; readonly quantity?: never }
    | { readonly quantity: number; readonly delta?: never }
  )

export type Adjustment = Omit<BodyOf<'adjustInventory'>, 'changes'> & {
  readonly changes: readonly StockChange[]
}

/** Units of one pet. */
export interface StockLine {
  readonly petId: IdInput
  readonly quantity: number
}

/** A counted quantity; with `expected`, it is only set if that is the current quantity. */
export interface CountLine extends StockLine {
  readonly expected?: number | undefined
}

export interface BookingOptions extends WriteOptions {
  /** The receipt, delivery note or list that the change belongs to; up to 200 characters. */
  readonly reference?: string | undefined
}

/** Books one line or many, all or nothing, and returns the entries after the change. */
export interface Booking<Line, Ids extends IdKind> {
  (line: Line, options?: BookingOptions): Promise<Output<InventoryItem, Ids>>
  (lines: readonly Line[], options?: BookingOptions): Promise<readonly Output<InventoryItem, Ids>[]>
}

export interface Availabilities<Ids extends IdKind> {
  readonly items: readonly Output<Availability, Ids>[]
  /** The position of the items among the events: `readEvents` with it as `after` misses no change. */
  readonly lastEventId: string
}

export type InventorySearch = Filter<'searchInventory'>
export type ChangeFilter = Filter<'listRecentChanges'>

export type Inventory<Ids extends IdKind> = ReturnType<typeof createInventory<Ids>>

/** The stock: entries, changes, history and events. */
export function createInventory<Ids extends IdKind>(api: Api<Ids>) {
  type Item = Output<InventoryItem, Ids>
  type Tagged = Output<TaggedInventoryItem, Ids>
  const tagOf = new WeakMap<Page<Item>, string>()

  async function readAll(known: Page<Item> | undefined, options: CallOptions): Promise<Page<Item>> {
    const tag = known === undefined ? undefined : tagOf.get(known)
    const condition: Record<string, string> = tag === undefined ? {} : { 'If-None-Match': tag }
    const { status, value, headers } = await api.outcome('listInventory', { headers: condition }, options)
    if (status === 304 && known !== undefined) return known
    // TypeScript does not resolve the conditional type while `Ids` is a type parameter.
    const page = { items: (value ?? []) as readonly Item[], next: undefined }
    const newTag = headers.get('ETag')
    if (newTag !== null) tagOf.set(page, newTag)
    return page
  }

  /** TypeScript cannot spread a conditional type whose `Ids` is a type parameter. */
  function withTag(item: Item, headers: Headers): Tagged {
    return { ...(item as object), etag: headers.get('ETag') ?? '' } as Tagged
  }

  async function adjust(adjustment: Adjustment, options: WriteOptions = {}): Promise<readonly Item[]> {
    const idempotencyKey = readIdempotencyKey(options.idempotencyKey)
    const result = await api.value('adjustInventory', { body: adjustment }, { ...options, idempotencyKey })
    const { items } = result as { readonly items: readonly Item[] }
    if (items.length === adjustment.changes.length) return items
    throw new PetstoreError(
      'invalid_response',
      `response 200 has ${items.length} entries for ${adjustment.changes.length} changes`,
      { request: 'POST /inventory/adjustments', status: 200, idempotencyKey, mayHaveBeenMade: true },
    )
  }

  function booking<Line extends StockLine>(
    purpose: Pick<Adjustment, 'reason' | 'keepReserved'>,
    changeOf: (line: Line) => StockChange,
  ): Booking<Line, Ids> {
    async function book(lines: Line | readonly Line[], { reference, ...options }: BookingOptions = {}) {
      const isList = Array.isArray(lines)
      const changes = (isList ? (lines as readonly Line[]) : [lines as Line]).map(changeOf)
      const items = await adjust({ ...purpose, reference, changes }, options)
      return isList ? items : items[0]
    }
    // An implementation of both overloads has the union of their results.
    return book as Booking<Line, Ids>
  }

  return {
    /**
     * The entries of all pets, by petId, on one page. Pass an earlier page of this client as `known`, and the same
     * object is returned if nothing has changed.
     */
    list: ({ known, ...options }: CallOptions & { readonly known?: Page<Item> } = {}): List<Item> =>
      new List(() => readAll(known, options)),

    /** The entry of one pet; `known` itself if it has not changed. */
    get: async (
      petId: IdInput,
      { known, ...options }: CallOptions & { readonly known?: Tagged } = {},
    ): Promise<Tagged> => {
      // Both types of `Tagged` have these fields.
      const last = known as Input<TaggedInventoryItem> | undefined
      const isSamePet = last !== undefined && String(last.petId) === String(petId)
      const condition: Record<string, string> = isSamePet ? { 'If-None-Match': last.etag } : {}
      const input = { params: { petId }, headers: condition }
      const { status, value, headers } = await api.outcome('getInventoryItem', input, options)
      if (status === 304 && known !== undefined) return known
      return withTag(value as Item, headers)
    },

    /**
     * Sets the quantity of one pet. With `ifMatch`, only if the entry still has that tag; otherwise it throws
     * `precondition_failed`. Use `adjust` to add or take units.
     */
    set: async (
      petId: IdInput,
      update: BodyOf<'updateInventory'>,
      options: WriteOptions & Condition = {},
    ): Promise<Tagged> => {
      const input = { params: { petId }, body: update }
      const { value, headers } = await api.outcome('updateInventory', input, options)
      return withTag(value as Item, headers)
    },

    /**
     * Changes up to 1,000 quantities, all or nothing, and returns the entries in the order of the changes. It is safe
     * with any number of concurrent callers. Throws `not_found`, `insufficient_stock` if a quantity would go below 0,
     * or `precondition_failed` if `expected` does not match; `details` lists every change that failed.
     */
    adjust,

    /** Takes units that were sold. Throws `insufficient_stock` rather than taking units that open orders reserve. */
    sell: booking<StockLine>({ reason: 'sold', keepReserved: true }, ({ petId, quantity }) => ({
      petId,
      delta: -units(quantity),
    })),

    /** Adds units that were delivered. */
    receive: booking<StockLine>({ reason: 'received' }, ({ petId, quantity }) => ({
      petId,
      delta: units(quantity),
    })),

    /** Sets quantities that were counted. Throws `precondition_failed` if `expected` does not match. */
    count: booking<CountLine>({ reason: 'counted' }, ({ petId, quantity, expected }) => ({
      petId,
      quantity,
      expected,
    })),

    /** The pets with their stock that match every filter. */
    search: (options: Query<'searchInventory'> & CallOptions = {}) => api.list('searchInventory', options),

    /** The changes of one pet's stock, newest first. A page may have fewer items than `limit`. */
    history: (petId: IdInput, options: Query<'listInventoryHistory'> & CallOptions = {}) =>
      api.list('listInventoryHistory', options, { petId }),

    /** The changes of all stock that match every filter, newest first. A page may have fewer items than `limit`. */
    changes: (options: Query<'listRecentChanges'> & CallOptions = {}) =>
      api.list('listRecentChanges', options),

    /** How many units of one pet are on the shelf, reserved by open orders, and available. */
    availability: (petId: IdInput, options: CallOptions = {}) =>
      api.value('getAvailability', { params: { petId } }, options),

    /** The availability of up to 1,000 pets at one moment; pets that do not exist are left out. */
    availabilities: async ({
      petIds,
      ...options
    }: Query<'listAvailability'> & CallOptions): Promise<Availabilities<Ids>> => {
      const { value, headers } = await api.outcome('listAvailability', { query: { petIds } }, options)
      const items = (value ?? []) as readonly Output<Availability, Ids>[]
      return { items, lastEventId: eventIdOf(headers) }
    },

    /** A page of the events after `after`. Without it, the page is empty, and its `lastEventId` is the end of the log. */
    readEvents: (options: Query<'listEvents'> & CallOptions = {}): Promise<EventPage<Ids>> =>
      readEventPage<Ids>(api, options),

    /**
     * The changes as they happen, each exactly once. It reconnects and resumes by itself. `ready` marks the beginning
     * of the stream; after `relist`, events were missed: read the list again.
     */
    events: (options: EventOptions = {}): AsyncIterable<Output<InventoryEvent, Ids>> =>
      followEvents<Ids>(api.transport, options),
  }
}

function units(quantity: number): number {
  if (quantity > 0) return quantity
  throw new RangeError(`quantity must be at least 1, got ${quantity}`)
}

/**
 * The tag of an entry in this state, for entries from a list or an event, which have no tag. If the service changes the
 * form of its tags, a request with this tag fails with 412 and changes nothing.
 */
export function entryTag({ quantity, status }: Pick<InventoryItem, 'quantity' | 'status'>): string {
  return `"${quantity}-${status}"`
}

// Generated from openapi.json by client/scripts/contract-types.ts; "npm run contract:client" regenerates it.

import type {
  Adjustment,
  AdjustmentResult,
  Availability,
  CatalogEntry,
  Category,
  CategoryUpdate,
  EventKind,
  HistoryEntry,
  ImportKind,
  ImportResult,
  InventoryAdjustment,
  InventoryItem,
  InventoryUpdate,
  Key,
  KeyAuditEntry,
  KeyLimits,
  KeyName,
  KeyRotation,
  KeyUpdate,
  KeyWithSecret,
  ListedEvent,
  MovementReport,
  NewCategory,
  NewKey,
  NewOrder,
  NewPet,
  NewWebhook,
  Order,
  OrderUpdate,
  PairingCode,
  Pet,
  PetBatch,
  PetBatchResult,
  PetEdit,
  PetUpdate,
  RecentChange,
  RecordedReason,
  Reversal,
  SearchRow,
  Webhook,
  WebhookDelivery,
  WebhookReplay,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from './contract-types.ts'
import type { IdInput, Input } from './ids.ts'
import type { List } from './list.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Api } from './request.ts'

/** The parameters of `inventory.readEvents`. */
export interface ListEventsQuery {
  /** The id of an event, or an `Event-Id`. The page begins with the next event. */
  readonly after?: string | undefined
  /** Only events of these kinds, separated by commas. */
  readonly kinds?: readonly EventKind[] | undefined
  /** Only events of this pet and of its orders, and none of categories. */
  readonly petId?: IdInput | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
}

/** The parameters of `adjustments.list`. */
export interface ListAdjustmentsQuery {
  /** Return only adjustments with a line of this pet. */
  readonly petId?: IdInput | undefined
  /** Why the stock was adjusted. Only a reversal has the reason `correction`. */
  readonly reason?: RecordedReason | undefined
  /** Return only adjustments of this key. */
  readonly keyId?: string | undefined
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string | undefined
  /** Return only the sale of this order, and its reversals. */
  readonly orderId?: IdInput | undefined
  /** Return only adjustments that were recorded at or after this time. */
  readonly since?: string | undefined
  /** Return only adjustments that were recorded before this time. */
  readonly until?: string | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `inventory.availabilities`. */
export interface ListAvailabilityQuery {
  /** The pets, each once, separated by commas. The request line and the headers have 16 KiB together. */
  readonly petIds: readonly IdInput[]
}

/** The parameters of `inventory.history`. */
export interface ListInventoryHistoryQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `inventory.changes`. */
export interface ListRecentChangesQuery {
  /** Return only changes of this pet. */
  readonly petId?: IdInput | undefined
  /** Return only changes made with keys of this name, or with the key of this id. */
  readonly who?: string | undefined
  /** Return only changes at or after this time. */
  readonly since?: string | undefined
  /** Return only changes before this time. */
  readonly until?: string | undefined
  /** Why the stock was adjusted. Only a reversal has the reason `correction`. */
  readonly reason?: RecordedReason | undefined
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `inventory.search`. */
export interface SearchInventoryQuery {
  /** A petId, a barcode, or up to 10 different prefixes of words in the name, ignoring case and diacritics. */
  readonly q?: string | undefined
  /** Return only pets with this status. */
  readonly status?: 'available' | 'pending' | 'sold' | undefined
  /** Return only pets of this category. */
  readonly categoryId?: IdInput | undefined
  /** Return only pets with fewer available units than this. */
  readonly below?: number | undefined
  /** true returns only pets with low stock; false returns all pets. */
  readonly low?: boolean | undefined
  /** The field to sort by; a leading - sorts in descending order. Ties are sorted by petId. Names are compared word by word, ignoring case and diacritics. */
  readonly sort?:
    | 'petId'
    | '-petId'
    | 'name'
    | '-name'
    | 'quantity'
    | '-quantity'
    | 'available'
    | '-available'
    | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `catalog.list`. */
export interface ListCatalogQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `pets.history`. */
export interface ListPetEditsQuery {
  /** Return only changes of this pet. */
  readonly petId?: IdInput | undefined
  /** Return only changes made with keys of this name, or with the key of this id. */
  readonly who?: string | undefined
  /** Return only changes at or after this time. */
  readonly since?: string | undefined
  /** Return only changes before this time. */
  readonly until?: string | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `categories.list`. */
export interface ListCategoriesQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `imports.file`. */
export interface ImportFileQuery {
  /** The records of a file. */
  readonly kind?: ImportKind | undefined
  /** Checks the whole file and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** Columns with other names, such as `Article:name,Stock:quantity`. */
  readonly map?: string | undefined
  /** The system that exported a file of pets. Its columns are read as its documentation names them. */
  readonly preset?: 'shopify' | 'square' | undefined
  /** How numbers are written. Needed only if the file has numbers such as 1.200 or 1,200. */
  readonly locale?: 'en' | 'de' | undefined
  /** The encoding of the file; latin1 is Windows-1252. */
  readonly encoding?: 'utf8' | 'latin1' | undefined
}

/** The parameters of `orders.list`. */
export interface ListOrdersQuery {
  /** Return only orders in this state. */
  readonly state?: 'open' | 'complete' | 'cancelled' | 'expired' | undefined
  /** Return only orders with a line of this pet. */
  readonly petId?: IdInput | undefined
  /** Return only orders whose customer has each of these words, or a word that begins so, in any sequence. Only letters and digits count; case, accents and punctuation do not: `smith a` finds `Anna Smith`, and so does `SMITH, Á`. Digits are found anywhere in a number, with or without blanks: `5550134` finds `555 0134`. */
  readonly customer?: string | undefined
  /** Return only orders with exactly this reference. */
  readonly reference?: string | undefined
  /** Return only orders that were created at or after this time. */
  readonly since?: string | undefined
  /** Return only orders that were created before this time. */
  readonly until?: string | undefined
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `reports.movements`. */
export interface GetMovementReportQuery {
  /** The beginning of the range; by default of the current day. */
  readonly since?: string | undefined
  /** The end of the range, which is not part of it; by default of the current day. */
  readonly until?: string | undefined
  /** What each row stands for. */
  readonly by?: 'day' | 'pet' | 'category' | 'reason' | 'key' | undefined
}

/** The parameters of `webhooks.deliveries`. */
export interface ListWebhookDeliveriesQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `keys.list`. */
export interface ListKeysQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `keys.names`. */
export interface ListKeyNamesQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

/** The parameters of `keys.audit`. */
export interface ListKeyAuditQuery {
  /** The maximum number of rows in the page. */
  readonly limit?: number | undefined
  /** Where the page starts; opaque. The `Link` header with rel="next" of a page has the cursor of the next page. */
  readonly cursor?: string | undefined
}

export type InventoryMethods = ReturnType<typeof inventoryMethods>

export function inventoryMethods(api: Api) {
  return {
    /** Returns the current stock levels for all pets in the store, by petId ascending. */
    list: (options: CallOptions = {}): List<InventoryItem> =>
      api.list<InventoryItem>('/inventory', {}, options),

    /** Returns a page of the events of GET /inventory/events, in the same order, with the same ids and data. The header `Event-Id` is the position for the next page, whether or not this one has events; `Link` with rel="next" is there if more events may follow. A page examines at most 10000 events, so with a filter it may have fewer events than `limit`, or none, and still link to the next page. Without `after`, the page is empty and its `Event-Id` is the end of the log: start there, then read the inventory. If events after the position are no longer in the log, or it belongs to another database, the page has only a `relist`, as the stream does: list the inventory again, then continue after this event. */
    readEvents: (options: ListEventsQuery & CallOptions = {}): List<ListedEvent> =>
      api.list<ListedEvent>('/events', { maxLimit: 1000, pageBy: 'after' }, options),

    /** Returns the current stock level of one pet. If you send its ETag as If-Match with an update, the update is made only if the entry has not changed since. */
    get: (petId: IdInput, options: CallOptions = {}): Promise<InventoryItem> =>
      api.value<InventoryItem>('GET', '/inventory/{petId}', { params: { petId } }, options),

    /** Sets the stock quantity of one pet, to record new arrivals, returns or manual adjustments. The response is sent once the change is on disk. Experimental: the request shape may change before it becomes stable. The key needs the permission `stock`. */
    set: (
      petId: IdInput,
      body: Input<InventoryUpdate>,
      options: WriteOptions & Condition = {},
    ): Promise<InventoryItem> =>
      api.value<InventoryItem>('PATCH', '/inventory/{petId}', { params: { petId }, body }, options),

    /** Records an adjustment: changes the stock quantities of 1 to 1,000 pets, each by a difference or to a new count, with the reason and the time. Either all changes are made, in one commit, or none, unless `onConflict` says otherwise. If none is made, `details` of the error lists every change that cannot be made. A count is recorded even if it confirms the quantity. An adjustment counts as one request. The key needs the permission `stock`. */
    adjust: (body: Input<InventoryAdjustment>, options: WriteOptions = {}): Promise<AdjustmentResult> =>
      api.value<AdjustmentResult>('POST', '/inventory/adjustments', { body }, options),

    /** Returns the availability of the given pets at one moment, by petId ascending. Pets that do not exist are left out. The header `Event-Id` is a position among the events. The response includes all events up to it, so a reader that continues there, with GET /events or GET /inventory/events, misses nothing. Events of the very moment of the response may be included and come again, so use the values that an event states instead of adding to the values of the response. A hold that has just expired reserves nothing, although its `order` event may still come. */
    availabilities: (options: ListAvailabilityQuery & CallOptions): List<Availability> =>
      api.list<Availability>('/inventory/availability', {}, options),

    /** Returns how many units of a pet are on the shelf, how many of them open orders reserve, and how many can still be ordered. An expired hold reserves nothing. */
    availability: (petId: IdInput, options: CallOptions = {}): Promise<Availability> =>
      api.value<Availability>('GET', '/inventory/{petId}/availability', { params: { petId } }, options),

    /** Returns the changes of the stock quantity of one pet, newest first, in pages. A removed pet keeps its history. */
    history: (petId: IdInput, options: ListInventoryHistoryQuery & CallOptions = {}): List<HistoryEntry> =>
      api.list<HistoryEntry>('/inventory/{petId}/history', { params: { petId }, maxLimit: 1000 }, options),

    /** Returns the changes of stock quantities that match every given parameter, newest first, in pages. Removed pets keep their history. A page examines at most 100,000 rows of the log, so it may have fewer changes than `limit`, or none, and still link to the next page. */
    changes: (options: ListRecentChangesQuery & CallOptions = {}): List<RecentChange> =>
      api.list<RecentChange>('/inventory/history', { maxLimit: 1000 }, options),

    /** Returns the pets that match every given parameter, with their stock, in pages. A pet that changes while the pages are read may be missing or appear twice; every other pet appears exactly once. Searches of one API key run one after the other. If a search takes longer than 2 seconds, the response is 400; add parameters to narrow the search. With `Accept: text/csv` each page is a CSV file that `POST /imports` reads, with the own threshold of each pet and the name of its category. */
    search: (options: SearchInventoryQuery & CallOptions = {}): List<SearchRow> =>
      api.list<SearchRow>('/inventory/search', { maxLimit: 1000 }, options),
  }
}

export type AdjustmentsMethods = ReturnType<typeof adjustmentsMethods>

export function adjustmentsMethods(api: Api) {
  return {
    /** Returns the adjustments that match every given parameter, the latest recorded first, in pages: deliveries, sales, counts, returns, corrections, and every quantity that was set or that a pet was created or removed with. A page examines at most 100,000 rows of the log and has at most 5,000 lines or one adjustment, so it may have fewer adjustments than `limit`, or none, and still link to the next page. */
    list: (options: ListAdjustmentsQuery & CallOptions = {}): List<Adjustment> =>
      api.list<Adjustment>('/inventory/adjustments', { maxLimit: 200 }, options),

    /** Returns an adjustment with its lines, and what has reversed it. */
    get: (adjustmentId: IdInput, options: CallOptions = {}): Promise<Adjustment> =>
      api.value<Adjustment>(
        'GET',
        '/inventory/adjustments/{adjustmentId}',
        { params: { adjustmentId } },
        options,
      ),

    /** Records an adjustment that undoes another one, or some of its units. No unit is reversed twice, not even by different callers: the second request gets 409 `already_reversed`. A count is reversed to the quantity that the pet would have without it. A reversal cannot be reversed. The key needs the permission `stock`. */
    reverse: (
      adjustmentId: IdInput,
      body: Input<Reversal> = {},
      options: WriteOptions = {},
    ): Promise<AdjustmentResult> =>
      api.value<AdjustmentResult>(
        'POST',
        '/inventory/adjustments/{adjustmentId}/reverse',
        { params: { adjustmentId }, body },
        options,
      ),
  }
}

export type PetsMethods = ReturnType<typeof petsMethods>

export function petsMethods(api: Api) {
  return {
    /** Adds a pet to the store together with its inventory entry. Its id and its barcode must not be used by another pet. A quantity other than 0 needs the permission `stock` as well, and the history of the stock has it as a change. The key needs the permission `pets`. */
    create: (body: Input<NewPet>, options: WriteOptions = {}): Promise<Pet> =>
      api.value<Pet>('POST', '/pets', { body }, options),

    /** Creates or updates 1 to 1,000 pets. A pet whose `id` exists is updated; any other pet is created and needs a name and a categoryId. A quantity of an existing pet sets its stock with the reason `corrected`. To set a stock, also that of a new pet, the key needs the permission `stock` as well. Pets of the batch may swap their barcodes. Either all pets are saved, in one commit, or none. If none is saved, `details` of the error lists every pet that cannot be saved. A batch counts as one request. The key needs the permission `pets`. */
    upsert: (body: Input<PetBatch>, options: WriteOptions = {}): Promise<PetBatchResult> =>
      api.value<PetBatchResult>('POST', '/pets/batch', { body }, options),

    /** Updates the record of a pet. Fields that are not sent stay as they are. The key needs the permission `pets`. */
    update: (petId: IdInput, body: Input<PetUpdate>, options: WriteOptions & Condition = {}): Promise<Pet> =>
      api.value<Pet>('PATCH', '/pets/{petId}', { params: { petId }, body }, options),

    /** Removes a pet and its inventory entry, unless it has open orders. If its quantity is not 0, the key needs the permission `stock` as well. Its history, which ends with the removal of that quantity, and its closed orders stay. The key needs the permission `pets`. */
    remove: (petId: IdInput, options: WriteOptions & Condition = {}): Promise<void> =>
      api.done('DELETE', '/pets/{petId}', { params: { petId } }, options),

    /** Returns when pets were created, changed and removed, and by whom, newest first, in pages. Every given parameter must match. The edits of an import of more than 1,000 pets may be missing. A page examines at most 100,000 rows of the log, so it may have fewer edits than `limit`, or none, and still link to the next page. */
    history: (options: ListPetEditsQuery & CallOptions = {}): List<PetEdit> =>
      api.list<PetEdit>('/catalog/history', { maxLimit: 1000 }, options),

    /** Returns the record of one pet. */
    get: (petId: IdInput, options: CallOptions = {}): Promise<Pet> =>
      api.value<Pet>('GET', '/catalog/{petId}', { params: { petId } }, options),
  }
}

export type CatalogMethods = ReturnType<typeof catalogMethods>

export function catalogMethods(api: Api) {
  return {
    /** Returns the records of all pets, except their status, by petId ascending, in large pages. GET /inventory has the status and the quantity of each pet. */
    list: (options: ListCatalogQuery & CallOptions = {}): List<CatalogEntry> =>
      api.list<CatalogEntry>('/catalog', { maxLimit: 10000 }, options),
  }
}

export type CategoriesMethods = ReturnType<typeof categoriesMethods>

export function categoriesMethods(api: Api) {
  return {
    /** Returns the categories of the store, by id ascending, in pages. */
    list: (options: ListCategoriesQuery & CallOptions = {}): List<Category> =>
      api.list<Category>('/categories', { maxLimit: 1000 }, options),

    /** Adds a category that pets can belong to. The key needs the permission `pets`. */
    create: (body: Input<NewCategory>, options: WriteOptions = {}): Promise<Category> =>
      api.value<Category>('POST', '/categories', { body }, options),

    /** Updates the name or the low-stock threshold of a category. A new threshold applies to all its pets that have no threshold of their own. It reaches 500 pets at a time, and all of them before the response is sent. The key needs the permission `pets`. */
    update: (
      categoryId: IdInput,
      body: Input<CategoryUpdate>,
      options: WriteOptions & Condition = {},
    ): Promise<Category> =>
      api.value<Category>('PATCH', '/categories/{categoryId}', { params: { categoryId }, body }, options),

    /** Removes a category that has no pets. The key needs the permission `pets`. */
    remove: (categoryId: IdInput, options: WriteOptions & Condition = {}): Promise<void> =>
      api.done('DELETE', '/categories/{categoryId}', { params: { categoryId } }, options),
  }
}

export type ImportsMethods = ReturnType<typeof importsMethods>

export function importsMethods(api: Api) {
  return {
    /** Imports a CSV file of up to 64 MiB: all of its rows or none. The first line names the columns, which are separated by commas, semicolons or tabs. They are found by their English or German names, or by `map`; other columns are ignored. A row of a pet without an id changes the pet that has its barcode, or else creates a pet. If rows are refused, `details` names up to 1,000 of them with their lines. Setting the stock of pets needs the permission `stock` as well, and a file of orders the permission `orders`. While the import writes, other changes of the same pets, and with SQLite all changes, wait or get 503 with Retry-After. Only an import that was made is remembered for its Idempotency-Key: a dry run or a refused file changes nothing, so it is checked again. The key needs the permission `pets`. */
    file: (body: Input<string>, options: ImportFileQuery & WriteOptions = {}): Promise<ImportResult> =>
      api.value<ImportResult>('POST', '/imports', { body, contentType: 'text/csv' }, options),
  }
}

export type OrdersMethods = ReturnType<typeof ordersMethods>

export function ordersMethods(api: Api) {
  return {
    /** Returns orders by id ascending, in pages. Without `state`, returns only open and complete orders. Each further parameter narrows the list. */
    list: (options: ListOrdersQuery & CallOptions = {}): List<Order> =>
      api.list<Order>('/store/orders', { maxLimit: 1000 }, options),

    /** Creates an order of one or several pets, which reserves its units: all lines or none. If several callers order the last unit at once, exactly one of them gets it. The `quantity` of an inventory entry does not change until the order is completed. With `holdSeconds` the order is a hold, which expires after that time and then reserves nothing. With `complete` the units are sold at once. If lines cannot be ordered, `details` of the error names each of them. The key needs the permission `orders`. */
    create: (body: Input<NewOrder>, options: WriteOptions = {}): Promise<Order> =>
      api.value<Order>('POST', '/store/orders', { body }, options),

    /** Returns an order in any state. */
    get: (orderId: IdInput, options: CallOptions = {}): Promise<Order> =>
      api.value<Order>('GET', '/store/orders/{orderId}', { params: { orderId } }, options),

    /** `{"complete": true}` completes the order: all of its units leave the stock in one commit, as an adjustment with the reason `sold` and the reference of the order or, if it has none, such as `order 17`. Completing it again changes nothing; `closedAt` shows when it was completed. With `onlyIfOpen`, completing it again fails. The other fields change an open order: `lines` replaces its lines, all or none; `holdSeconds` restarts the hold from now, and null makes the order firm; null clears a field: `{"shipDate": null}`. Setting `customer` and `note` to null erases them, in every state of the order. The key needs the permission `orders`. */
    update: (
      orderId: IdInput,
      body: Input<OrderUpdate>,
      options: WriteOptions & Condition = {},
    ): Promise<Order> =>
      api.value<Order>('PATCH', '/store/orders/{orderId}', { params: { orderId }, body }, options),

    /** Cancels an open order and releases its reserved units. An expired order can be cancelled, too: a late payment no longer completes it. Cancelling an order again changes nothing. A return of sold units is a reversal of the adjustment of the order instead. The key needs the permission `orders`. */
    cancel: (orderId: IdInput, options: WriteOptions & Condition = {}): Promise<void> =>
      api.done('DELETE', '/store/orders/{orderId}', { params: { orderId } }, options),
  }
}

export type ReportsMethods = ReturnType<typeof reportsMethods>

export function reportsMethods(api: Api) {
  return {
    /** Returns how many units were received, sold, returned, counted and so on in a time range, by day, pet, category, reason or API key, net of reversals. A fact counts when it happened, not when it was recorded. A reversal that corrects counts at the time and with the reason of what it reverses; goods that came back count as returned. A sale or delivery that a later count had included already counts as such, and in the other direction as counted, so the figures always add up to `change`. If old history was removed, `completeSince` says from when the report is complete. A report has at most 10000 rows and, by day, 800 days; beyond that, and if it takes too long, the response is 400. With `Accept: text/csv` the response is a CSV file of the rows, and the header `Complete-Since` has the time. */
    movements: (options: GetMovementReportQuery & CallOptions = {}): Promise<MovementReport> =>
      api.value<MovementReport>('GET', '/reports/movements', {}, options),
  }
}

export type WebhooksMethods = ReturnType<typeof webhooksMethods>

export function webhooksMethods(api: Api) {
  return {
    /** Returns all webhooks, oldest first, each with its backlog. The key needs the permission `webhooks`. */
    list: (options: CallOptions = {}): List<Webhook> => api.list<Webhook>('/webhooks', {}, options),

    /** Creates a webhook. It belongs to your key, and pauses while that key is revoked, paused or expired, or lacks the permission. From now on, the service sends every event of the given kinds to the address with POST, as the Standard Webhooks specification says. Each event is delivered at least once, and events of one pet arrive in order. An event of an order is in order with the events of the first pet in its lines; if the lines were replaced, compare `timestamp`. A delivery succeeds if the receiver replies 2xx within 15 seconds. Otherwise the delivery is retried, while the later events of its pet wait. An event that was refused for 3 days is parked: it is not tried again, and its last attempt has `parked`. A receiver that accepts nothing at all for 3 days has its webhook turned off. If the log was pruned before all events were delivered, the webhook gets one delivery of the type `relist`: read the list again. Only this response shows the secret. A store can have 10 webhooks; beyond that the response is 409. The key needs the permission `webhooks`. */
    create: (body: Input<NewWebhook>, options: WriteOptions = {}): Promise<WebhookWithSecret> =>
      api.value<WebhookWithSecret>('POST', '/webhooks', { body }, options),

    /** Returns one webhook with its backlog, but without its secret. The key needs the permission `webhooks`. */
    get: (webhookId: IdInput, options: CallOptions = {}): Promise<Webhook> =>
      api.value<Webhook>('GET', '/webhooks/{webhookId}', { params: { webhookId } }, options),

    /** Changes the address or the kinds of a webhook, pauses it or resumes it. Fields that are not sent stay as they are. Deliveries that are sent after the response obey the change. A delivery that is being sent during the change may be repeated. The webhook continues where it stopped, and a failed delivery is retried at once. The key needs the permission `webhooks`. */
    update: (
      webhookId: IdInput,
      body: Input<WebhookUpdate>,
      options: WriteOptions & Condition = {},
    ): Promise<Webhook> =>
      api.value<Webhook>('PATCH', '/webhooks/{webhookId}', { params: { webhookId }, body }, options),

    /** Removes a webhook and its list of deliveries. No delivery is sent after the response; one that was sent before may still arrive. The key needs the permission `webhooks`. */
    remove: (webhookId: IdInput, options: WriteOptions & Condition = {}): Promise<void> =>
      api.done('DELETE', '/webhooks/{webhookId}', { params: { webhookId } }, options),

    /** Returns the delivery attempts of a webhook and their responses, newest first, in pages. The latest 1,000 attempts are kept. The key needs the permission `webhooks`. */
    deliveries: (
      webhookId: IdInput,
      options: ListWebhookDeliveriesQuery & CallOptions = {},
    ): List<WebhookDelivery> =>
      api.list<WebhookDelivery>(
        '/webhooks/{webhookId}/deliveries',
        { params: { webhookId }, maxLimit: 1000 },
        options,
      ),

    /** Gives a webhook a new secret. For 24 hours, all deliveries that are sent after the response are signed with both the new and the old secret, so that the receiver can switch to the new secret without losing a delivery. A second rotation within that time ends the signature with the first secret. The key needs the permission `webhooks`. */
    rotateSecret: (webhookId: IdInput, options: WriteOptions = {}): Promise<WebhookWithSecret> =>
      api.value<WebhookWithSecret>(
        'POST',
        '/webhooks/{webhookId}/rotate-secret',
        { params: { webhookId } },
        options,
      ),

    /** Takes a webhook back to an event, so that this event and all later ones are sent again, with the same `webhook-id`. Events that the webhook has not sent yet are never skipped. If the log no longer has these events, the webhook gets a single `relist` instead: read the list again. A webhook that is paused or off sends the events once it is on again. The key needs the permission `webhooks`. */
    replay: (webhookId: IdInput, body: Input<WebhookReplay>, options: WriteOptions = {}): Promise<void> =>
      api.done('POST', '/webhooks/{webhookId}/replay', { params: { webhookId }, body }, options),

    /** The webhook belongs to your key from now on, and pauses with it. Your key needs the permissions `webhooks` and `keys`. The webhook continues where it stopped, with the same secret: rotate it if the previous holder should not know it. The key needs the permission `webhooks`. */
    takeOver: (webhookId: IdInput, options: WriteOptions = {}): Promise<Webhook> =>
      api.value<Webhook>('POST', '/webhooks/{webhookId}/take-over', { params: { webhookId } }, options),

    /** Sends an event of the type `webhook.test` at once, whatever kinds the webhook receives and even if it is paused or off, and returns the response. A test event says nothing about the stock. Its `webhook-id` begins with `test_`. It is never retried. Each instance of the service sends one test event of a webhook at a time; beyond that the response is 503. The key needs the permission `webhooks`. */
    test: (webhookId: IdInput, options: CallOptions = {}): Promise<WebhookTest> =>
      api.value<WebhookTest>(
        'POST',
        '/webhooks/{webhookId}/test',
        { params: { webhookId } },
        { retries: 0, ...options },
      ),
  }
}

export type KeysMethods = ReturnType<typeof keysMethods>

export function keysMethods(api: Api) {
  return {
    /** Returns all keys, oldest first, in pages. Revoked keys stay in the list. The key needs the permission `keys`. */
    list: (options: ListKeysQuery & CallOptions = {}): List<Key> =>
      api.list<Key>('/keys', { maxLimit: 1000 }, options),

    /** Creates a key for a person, a device or a program. A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403. Only this response shows the secret. An Idempotency-Key is ignored. If the response is lost, revoke the key or rotate its secret. The key needs the permission `keys`. */
    create: (body: Input<NewKey>, options: CallOptions = {}): Promise<KeyWithSecret> =>
      api.value<KeyWithSecret>('POST', '/keys', { body }, { retries: 0, ...options }),

    /** Returns the id and the name of every key, oldest first, in pages. Revoked keys are included, so that an order or a change can be shown with the name of the person who made it. */
    names: (options: ListKeyNamesQuery & CallOptions = {}): List<KeyName> =>
      api.list<KeyName>('/keys/names', { maxLimit: 1000 }, options),

    /** Returns one key, without its secrets. The key needs the permission `keys`. */
    get: (keyId: string, options: CallOptions = {}): Promise<Key> =>
      api.value<Key>('GET', '/keys/{keyId}', { params: { keyId } }, options),

    /** Changes the given fields of a key; its secrets stay valid. Changes take effect on all instances within a second. A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403. One unpaused key without expiry always has the permission `keys`: a request that would end this gets 409. The key needs the permission `keys`. */
    update: (keyId: string, body: Input<KeyUpdate>, options: CallOptions & Condition = {}): Promise<Key> =>
      api.value<Key>('PATCH', '/keys/{keyId}', { params: { keyId }, body }, options),

    /** Revokes a key and all its secrets permanently. Its history stays. A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403. One unpaused key without expiry always has the permission `keys`: a request that would end this gets 409. The key needs the permission `keys`. */
    revoke: (keyId: string, options: CallOptions & Condition = {}): Promise<void> =>
      api.done('DELETE', '/keys/{keyId}', { params: { keyId } }, options),

    /** Returns every action on one key and on the webhooks that belong to it, newest first, in pages. A revoked key keeps its log. The key needs the permission `keys`. */
    audit: (keyId: string, options: ListKeyAuditQuery & CallOptions = {}): List<KeyAuditEntry> =>
      api.list<KeyAuditEntry>('/keys/{keyId}/audit', { params: { keyId }, maxLimit: 1000 }, options),

    /** Gives a key a new secret. The earlier secrets stay valid for `graceSeconds`, and an unused pairing code becomes invalid at once. A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403. Only this response shows the secret. An Idempotency-Key is ignored. The key needs the permission `keys`. */
    rotate: (
      keyId: string,
      body: Input<KeyRotation> = {},
      options: CallOptions = {},
    ): Promise<KeyWithSecret> =>
      api.value<KeyWithSecret>(
        'POST',
        '/keys/{keyId}/rotate',
        { params: { keyId }, body },
        { retries: 0, ...options },
      ),

    /** Creates a code that signs in a device with this key: see POST /keys/pair. The code is valid for 10 minutes and can be used once. It replaces the earlier code of the key. A key can manage another key only if it has all permissions of that key. After the request, the managed key may not have more permissions, a higher plan or limit, or a later expiry than the key that manages it, unless the request only takes away. Otherwise the response is 403. If the key is paused or expired, the response is 409. The key needs the permission `keys`. */
    createPairingCode: (keyId: string, options: CallOptions = {}): Promise<PairingCode> =>
      api.value<PairingCode>(
        'POST',
        '/keys/{keyId}/pairing-code',
        { params: { keyId } },
        { retries: 0, ...options },
      ),

    /** Exchanges a pairing code, sent as the bearer token, for its key. The key gets a new secret, and its earlier secrets stay valid, except that only the newest 10 are kept. Only this response shows the secret. An Idempotency-Key is ignored. The request does not count towards the limits of the key. It counts towards the limit of its address instead, like every request without a valid key. */
    pair: (options: CallOptions = {}): Promise<KeyWithSecret> =>
      api.value<KeyWithSecret>('POST', '/keys/pair', {}, { retries: 0, ...options }),
  }
}

export type LimitsMethods = ReturnType<typeof limitsMethods>

export function limitsMethods(api: Api) {
  return {
    /** Returns the plan and the permissions of the key, and the status of both rate-limit windows. Response headers report only the window with fewer remaining requests, or the ban. The request does not count towards the limits, and is answered even if they are exceeded or the key is banned. */
    get: (options: CallOptions = {}): Promise<KeyLimits> =>
      api.value<KeyLimits>('GET', '/limits', {}, options),
  }
}

/** The methods of the contract, by resource. */
export class Resources {
  readonly inventory: InventoryMethods
  readonly adjustments: AdjustmentsMethods
  readonly pets: PetsMethods
  readonly catalog: CatalogMethods
  readonly categories: CategoriesMethods
  readonly imports: ImportsMethods
  readonly orders: OrdersMethods
  readonly reports: ReportsMethods
  readonly webhooks: WebhooksMethods
  readonly keys: KeysMethods
  readonly limits: LimitsMethods

  constructor(api: Api) {
    this.inventory = inventoryMethods(api)
    this.adjustments = adjustmentsMethods(api)
    this.pets = petsMethods(api)
    this.catalog = catalogMethods(api)
    this.categories = categoriesMethods(api)
    this.imports = importsMethods(api)
    this.orders = ordersMethods(api)
    this.reports = reportsMethods(api)
    this.webhooks = webhooksMethods(api)
    this.keys = keysMethods(api)
    this.limits = limitsMethods(api)
  }
}

/** The method of each operation. */
export const METHODS = {
  listInventory: 'inventory.list',
  listEvents: 'inventory.readEvents',
  getInventoryItem: 'inventory.get',
  updateInventory: 'inventory.set',
  adjustInventory: 'inventory.adjust',
  listAdjustments: 'adjustments.list',
  getAdjustment: 'adjustments.get',
  reverseAdjustment: 'adjustments.reverse',
  listAvailability: 'inventory.availabilities',
  getAvailability: 'inventory.availability',
  listInventoryHistory: 'inventory.history',
  listRecentChanges: 'inventory.changes',
  searchInventory: 'inventory.search',
  createPet: 'pets.create',
  upsertPets: 'pets.upsert',
  updatePet: 'pets.update',
  removePet: 'pets.remove',
  listCatalog: 'catalog.list',
  listPetEdits: 'pets.history',
  getCatalogPet: 'pets.get',
  listCategories: 'categories.list',
  createCategory: 'categories.create',
  updateCategory: 'categories.update',
  removeCategory: 'categories.remove',
  importFile: 'imports.file',
  listOrders: 'orders.list',
  createOrder: 'orders.create',
  getOrder: 'orders.get',
  updateOrder: 'orders.update',
  cancelOrder: 'orders.cancel',
  getMovementReport: 'reports.movements',
  listWebhooks: 'webhooks.list',
  createWebhook: 'webhooks.create',
  getWebhook: 'webhooks.get',
  updateWebhook: 'webhooks.update',
  removeWebhook: 'webhooks.remove',
  listWebhookDeliveries: 'webhooks.deliveries',
  rotateWebhookSecret: 'webhooks.rotateSecret',
  replayWebhook: 'webhooks.replay',
  takeOverWebhook: 'webhooks.takeOver',
  testWebhook: 'webhooks.test',
  listKeys: 'keys.list',
  createKey: 'keys.create',
  listKeyNames: 'keys.names',
  getKey: 'keys.get',
  updateKey: 'keys.update',
  revokeKey: 'keys.revoke',
  listKeyAudit: 'keys.audit',
  rotateKey: 'keys.rotate',
  createPairingCode: 'keys.createPairingCode',
  pairKey: 'keys.pair',
  getLimits: 'limits.get',
} as const

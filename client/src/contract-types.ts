// Generated from openapi.json by client/scripts/contract-types.ts; "npm run contract:client" regenerates it.

export interface ChangeEvent {
  /** The pet whose quantity changed. */
  readonly petId: bigint
  /** The quantity before the change. */
  readonly before: number
  /** The quantity after the change. */
  readonly after: number
  readonly status: PetStatus
  /** Units that open orders reserve. */
  readonly reserved?: number
  /** Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units. */
  readonly available?: number
  /** The adjustment that the change belongs to; absent if an older version of the service made the change. */
  readonly adjustmentId?: bigint
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** When the change happened on the shelf, in UTC. */
  readonly occurredAt: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
  readonly reason?: RecordedReason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
}

/** The order as it was right after the change, without personal data. */
export interface OrderEvent {
  /** What happened to the order. */
  readonly change: 'created' | 'changed' | 'completed' | 'cancelled' | 'expired'
  /** Identifier of the order. */
  readonly orderId: bigint
  readonly state: OrderState
  /** What the order refers to in another system, such as a cart or a receipt; without control characters. It is part of events, so it is no place for personal data. */
  readonly reference?: string
  readonly metadata?: Metadata
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
  /** The lines of the order, and the stock of each pet right after the change. */
  readonly lines: readonly OrderEventLine[]
}

/** The stock as it was right after the change that crossed the threshold. */
export interface LowStockEvent {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** Units on the shelf. */
  readonly quantity: number
  /** Units that open orders reserve. */
  readonly reserved: number
  /** Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units. */
  readonly available: number
  /** The threshold that applies; absent if the pet no longer has one. */
  readonly lowStockAt?: number
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
}

/** The pet as it was right after the change. */
export interface PetEvent {
  /** What happened to the pet. */
  readonly change: 'created' | 'changed'
  /** Identifier of the pet. */
  readonly petId: bigint
  /** Name of the pet, without control characters. */
  readonly name: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId: bigint
  readonly status: PetStatus
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** The pet is low if at most this many are available. If the field is absent, the threshold of the category applies. */
  readonly lowStockAt?: number
  readonly metadata?: Metadata
  /** Units on the shelf. */
  readonly quantity: number
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
}

export interface RemovedEvent {
  /** The pet that was removed. */
  readonly petId: bigint
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
}

/** The category as it was right after the change, or before its removal. */
export interface CategoryEvent {
  /** What happened to the category. */
  readonly change: 'created' | 'changed' | 'removed'
  /** Identifier of the category. */
  readonly categoryId: bigint
  /** Name of the category, without control characters. No two categories have the same name, regardless of case. */
  readonly name: string
  /** The low-stock threshold of the pets in this category that have no threshold of their own. A pet is low if at most this many units are available. */
  readonly lowStockAt?: number
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
}

export interface InventoryItem {
  /** Identifier of the animal the entry tracks. */
  readonly petId: bigint
  /** Current stock count. */
  readonly quantity: number
  readonly status: PetStatus
}

/** Fields other than quantity are ignored, so an update never changes the status. */
export interface InventoryUpdate {
  /** The new stock count. */
  readonly quantity: number
}

/** Either all changes are made or none. */
export interface InventoryAdjustment {
  readonly reason: Reason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
  /** A note about the adjustment. */
  readonly note?: string
  /** When it happened on the shelf; now, if absent. At most 30 days ago and at most 5 minutes ahead. A difference that happened before the latest count of a pet is recorded and changes nothing, because the count includes it. Later differences are added to a count that is sent late. */
  readonly occurredAt?: string
  /** With `skip`, changes that fail because of the stock (404, 409 or 412) are left out and listed in `skipped`, if at least one other can be made. By default, all changes fail together. */
  readonly onConflict?: 'fail' | 'skip'
  /** If true, a change that would take units reserved by open orders fails with 409 insufficient_stock. By default, such units can be taken. */
  readonly keepReserved?: boolean
  readonly changes: readonly AdjustmentChange[]
}

export interface AdjustmentResult {
  /** Identifier of the adjustment. */
  readonly id: bigint
  readonly reason?: RecordedReason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
  /** A note about the adjustment. */
  readonly note?: string
  /** When it happened on the shelf, in UTC. */
  readonly occurredAt: string
  /** When it was recorded, in UTC. */
  readonly recordedAt: string
  /** Public identifier of the API key that made the adjustment. */
  readonly keyId: string
  /** The order that was completed by this adjustment. */
  readonly orderId?: bigint
  /** The adjustment that this adjustment reverses. */
  readonly reverses?: bigint
  /** The adjustments that have reversed units of this one. */
  readonly reversedBy: readonly bigint[]
  /** What happened to each pet. */
  readonly lines: readonly AdjustmentLine[]
  /** The entries after the changes, in the order of the lines. */
  readonly items: readonly InventoryItem[]
  /** With `onConflict`: the changes that were left out. */
  readonly skipped?: readonly ErrorDetail[]
}

/** Why the stock was adjusted. Only a reversal has the reason `correction`. */
export type RecordedReason =
  | 'received'
  | 'returned'
  | 'sold'
  | 'damaged'
  | 'lost'
  | 'counted'
  | 'corrected'
  | 'correction'

/** A delivery, a sale, a count, a return or a correction: the lines of one commit. It never changes; another adjustment can reverse it. */
export interface Adjustment {
  /** Identifier of the adjustment. */
  readonly id: bigint
  readonly reason?: RecordedReason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
  /** A note about the adjustment. */
  readonly note?: string
  /** When it happened on the shelf, in UTC. */
  readonly occurredAt: string
  /** When it was recorded, in UTC. */
  readonly recordedAt: string
  /** Public identifier of the API key that made the adjustment. */
  readonly keyId: string
  /** The order that was completed by this adjustment. */
  readonly orderId?: bigint
  /** The adjustment that this adjustment reverses. */
  readonly reverses?: bigint
  /** The adjustments that have reversed units of this one. */
  readonly reversedBy: readonly bigint[]
  /** What happened to each pet. */
  readonly lines: readonly AdjustmentLine[]
}

/** Without `lines`, everything that was not reversed yet is reversed. The reason is `correction` by default. */
export interface Reversal {
  readonly reason?: ReversalReason
  /** A note about the reversal. */
  readonly note?: string
  /** When it happened. By default, a correction has the time of the adjustment, and a return happens now. Not before the adjustment, at most 30 days ago and at most 5 minutes ahead. */
  readonly occurredAt?: string
  readonly lines?: readonly ReversedLine[]
}

export interface Availability {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** Units on the shelf. */
  readonly quantity: number
  /** Units that open orders reserve. */
  readonly reserved: number
  /** Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units. */
  readonly available: number
}

/** The default status is `available`. */
export interface NewPet {
  /** Name of the pet, without control characters. */
  readonly name: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId: bigint
  readonly status?: PetStatus
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** The pet is low if at most this many are available. If the field is absent, the threshold of the category applies. */
  readonly lowStockAt?: number
  readonly metadata?: Metadata
  /** Units on the shelf; 0 if the field is absent. */
  readonly quantity?: number
  /** Identifier of the pet. If it is absent, the service chooses a free one. */
  readonly id?: bigint
}

export interface Pet {
  /** Identifier of the pet. */
  readonly id: bigint
  /** Name of the pet, without control characters. */
  readonly name: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId: bigint
  readonly status: PetStatus
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** The pet is low if at most this many are available. If the field is absent, the threshold of the category applies. */
  readonly lowStockAt?: number
  readonly metadata?: Metadata
}

/** Either all pets are created or updated, or none. */
export interface PetBatch {
  /** Each id and each barcode may occur once. */
  readonly pets: readonly PetUpsert[]
}

export interface PetBatchResult {
  /** The pets after the changes, in the order of the request. */
  readonly pets: readonly Pet[]
  /** How many pets were created. */
  readonly created: number
  /** How many pets existed before, including pets that did not change. */
  readonly updated: number
}

/** Has at least one of these fields; null removes an optional value. To change the quantity, use the inventory operations. */
export interface PetUpdate {
  /** Name of the pet, without control characters. */
  readonly name?: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId?: bigint
  readonly status?: PetStatus
  readonly barcode?: string | null
  readonly lowStockAt?: number | null
  readonly metadata?: Readonly<Record<string, string>> | null
}

export interface NewCategory {
  /** Name of the category, without control characters. No two categories have the same name, regardless of case. */
  readonly name: string
  /** The low-stock threshold of the pets in this category that have no threshold of their own. A pet is low if at most this many units are available. */
  readonly lowStockAt?: number
  /** Identifier of the category. If it is absent, the service chooses a free one. */
  readonly id?: bigint
}

export interface Category {
  /** Identifier of the category. */
  readonly id: bigint
  /** Name of the category, without control characters. No two categories have the same name, regardless of case. */
  readonly name: string
  /** The low-stock threshold of the pets in this category that have no threshold of their own. A pet is low if at most this many units are available. */
  readonly lowStockAt?: number
}

/** Has at least one of these fields; null removes the threshold. */
export interface CategoryUpdate {
  /** Name of the category, without control characters. No two categories have the same name, regardless of case. */
  readonly name?: string
  readonly lowStockAt?: number | null
}

/** The records of a file. */
export type ImportKind = 'pets' | 'orders' | 'count' | 'categories'

export interface ImportResult {
  readonly kind: ImportKind
  /** If true, nothing was changed. */
  readonly dryRun: boolean
  /** The rows of the file, without the header and blank rows. */
  readonly rows: number
  /** The records that were created. */
  readonly added: number
  /** The records that were changed. */
  readonly changed: number
  /** The rows that agreed with the store. */
  readonly unchanged: number
  /** The columns of the file that the import ignores. */
  readonly ignoredColumns: readonly string[]
}

/** Either `lines`, or one line in short. */
export type NewOrder = NewBasket | NewOrderOfOnePet

export interface Order {
  /** Identifier of the order. */
  readonly id: bigint
  /** What was ordered, in the order of the pets. */
  readonly lines: readonly OrderLine[]
  readonly state: OrderState
  /** Whether the order has been fulfilled. */
  readonly complete: boolean
  /** What the order refers to in another system, such as a cart or a receipt; without control characters. It is part of events, so it is no place for personal data. */
  readonly reference?: string
  /** When the order ships or shipped. Requests may use any time zone; responses use UTC. */
  readonly shipDate?: string
  /** The customer, for example a name and a telephone number, without control characters. */
  readonly customer?: string
  /** A note for the staff. It may contain line breaks, but no other control characters. */
  readonly note?: string
  readonly metadata?: Metadata
  /** When the order was created, in UTC. */
  readonly createdAt: string
  /** When a hold expires, in UTC; absent if the order is not a hold. */
  readonly expiresAt?: string
  /** When the order was completed or cancelled, or expired, in UTC; absent while it is open, or if an older version of the service closed it. */
  readonly closedAt?: string
  /** Public identifier of the API key that created the order; GET /keys/names has its name. Orders of `petstore import` have `petstore-import`, which is not a key. Absent if an older version of the service created the order. */
  readonly createdBy?: string
  /** Public identifier of the API key that completed or cancelled the order. `petstore-import` if an import closed the order, which is not a key. Absent if the order is open or expired, or if an older version of the service closed it. */
  readonly closedBy?: string
  /** The adjustment by which the units of a complete order left the stock. Reverse it to take units back. Absent if the order is not complete, was imported, or was completed by an older version of the service. */
  readonly adjustmentId?: bigint
}

export type OrderUpdate = OrderCompletion | OrderChange

export interface MovementReport {
  /** From this time on, in UTC. */
  readonly since: string
  /** Before this time, in UTC. */
  readonly until: string
  /** From this time on the history is complete. Absent if nothing was removed from it. */
  readonly completeSince?: string
  /** The time zone that says where a day begins. */
  readonly timeZone: string
  readonly by: ReportGroup
  readonly total: MovementRow
  /** Without rows in which every figure is 0. */
  readonly rows: readonly MovementRow[]
}

export interface NewWebhook {
  /** The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and uses port 443, port 80 or a port above 1024. */
  readonly url: string
  /** The kinds of events that the webhook receives. */
  readonly kinds: readonly WebhookKind[]
}

export interface WebhookWithSecret {
  /** Identifier of the webhook. */
  readonly id: bigint
  /** The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and uses port 443, port 80 or a port above 1024. */
  readonly url: string
  /** The kinds of events that the webhook receives. */
  readonly kinds: readonly WebhookKind[]
  /** While the webhook is paused, nothing is sent. Afterwards it continues where it stopped. */
  readonly paused: boolean
  /** When the webhook was created, in UTC. */
  readonly createdAt: string
  /** The id of the key that the webhook belongs to; absent for webhooks of early versions. */
  readonly createdBy?: string
  /** off: the webhook was turned off, because the receiver replied 410 or accepted nothing for 3 days. */
  readonly state: 'on' | 'paused' | 'off'
  readonly behind: WebhookLag
  /** Pets whose events wait, because the receiver refused one of them. The events of other pets are sent. */
  readonly heldPets: number
  /** If the last attempt failed: when the first attempt failed since the last success, in UTC. */
  readonly failingSince?: string
  /** If events wait and the webhook is on: when the next of them is retried, in UTC. */
  readonly retryAt?: string
  /** Why nothing is sent although `paused` may be false: the key of the webhook is revoked, paused or expired, or lacks the permission. */
  readonly pauseReason?: string
  /** When the webhook was turned off, in UTC. */
  readonly offAt?: string
  /** Why the webhook was turned off. */
  readonly offReason?: string
  /** The secret that deliveries are signed with. It is shown only once. */
  readonly secret: string
}

export interface Webhook {
  /** Identifier of the webhook. */
  readonly id: bigint
  /** The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and uses port 443, port 80 or a port above 1024. */
  readonly url: string
  /** The kinds of events that the webhook receives. */
  readonly kinds: readonly WebhookKind[]
  /** While the webhook is paused, nothing is sent. Afterwards it continues where it stopped. */
  readonly paused: boolean
  /** When the webhook was created, in UTC. */
  readonly createdAt: string
  /** The id of the key that the webhook belongs to; absent for webhooks of early versions. */
  readonly createdBy?: string
  /** off: the webhook was turned off, because the receiver replied 410 or accepted nothing for 3 days. */
  readonly state: 'on' | 'paused' | 'off'
  readonly behind: WebhookLag
  /** Pets whose events wait, because the receiver refused one of them. The events of other pets are sent. */
  readonly heldPets: number
  /** If the last attempt failed: when the first attempt failed since the last success, in UTC. */
  readonly failingSince?: string
  /** If events wait and the webhook is on: when the next of them is retried, in UTC. */
  readonly retryAt?: string
  /** Why nothing is sent although `paused` may be false: the key of the webhook is revoked, paused or expired, or lacks the permission. */
  readonly pauseReason?: string
  /** When the webhook was turned off, in UTC. */
  readonly offAt?: string
  /** Why the webhook was turned off. */
  readonly offReason?: string
}

/** Has at least one of these fields. `"paused": false` or a new `url` also turns on a webhook that was turned off. */
export interface WebhookUpdate {
  /** The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and uses port 443, port 80 or a port above 1024. */
  readonly url?: string
  /** The kinds of events that the webhook receives. */
  readonly kinds?: readonly WebhookKind[]
  /** While the webhook is paused, nothing is sent. Afterwards it continues where it stopped. */
  readonly paused?: boolean
}

export interface WebhookReplay {
  /** The first event that is sent again: the `webhook-id` of its delivery, or its id in an event stream. */
  readonly from: string
}

/** The attempt and the response of the receiver. */
export interface WebhookTest {
  /** The `webhook-id`, which is the same for all attempts of a delivery. */
  readonly messageId: string
  /** The kind of event. */
  readonly type: string
  /** When the attempt was made, in UTC. */
  readonly at: string
  /** How long the attempt took. */
  readonly durationMs: number
  /** Whether the receiver replied 2xx in time. */
  readonly delivered: boolean
  /** The status of the response; absent if there was none. */
  readonly status?: number
  /** Why the attempt failed. */
  readonly error?: string
  /** The beginning of the response body, up to 1 kB. */
  readonly response: string
}

/** The enterprise plan needs `perMinute` and `perDay`; the limits of other plans are fixed. */
export interface NewKey {
  /** Name of the person, device or program that uses the key. */
  readonly name: string
  /** The plan of the key. */
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise'
  /** What the key may change. By default: stock, orders, pets. */
  readonly permissions?: readonly Permission[]
  /** When the key expires; it never expires by default. */
  readonly expiresAt?: string
  /** Requests that the key may send per minute. */
  readonly perMinute?: number
  /** Requests that the key may send per day. */
  readonly perDay?: number
}

export interface KeyWithSecret {
  readonly key: Key
  /** The secret of the key, to send as the bearer token. It is shown only once. */
  readonly secret: string
}

export interface Key {
  /** Public identifier of the key. */
  readonly id: string
  /** Name of the person, device or program that uses the key. */
  readonly name: string
  /** The plan of the key. */
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise'
  /** What the key may change; empty if it may only read. */
  readonly permissions: readonly Permission[]
  readonly limits: {
    /** Requests that the key may send per minute. */
    readonly perMinute: number
    /** Requests that the key may send per day. */
    readonly perDay: number
  }
  /** When the key was created, in UTC. */
  readonly createdAt: string
  /** When the key expires, in UTC; absent if it never expires. */
  readonly expiresAt?: string
  /** When the key was revoked, in UTC; absent if it was not. */
  readonly revokedAt?: string
  /** Requests with a paused key get 401 until it is resumed. */
  readonly paused: boolean
  /** When the key was last used, in UTC; absent if it never was. */
  readonly lastUsedAt?: string
  /** Requests that count towards `limits.perDay`, since the current window of 24 hours began. May be a few seconds out of date. */
  readonly usedToday: number
  /** Hints of the secrets of the key, newest first. */
  readonly secrets: readonly SecretHint[]
}

/** Has at least one of these fields. `perMinute` and `perDay` need `"plan": "enterprise"`. */
export interface KeyUpdate {
  /** Name of the person, device or program that uses the key. */
  readonly name?: string
  /** What the key may change; empty if it may only read. */
  readonly permissions?: readonly Permission[]
  /** Requests with a paused key get 401 until it is resumed. */
  readonly paused?: boolean
  readonly expiresAt?: string | null
  /** The plan of the key. */
  readonly plan?: 'free' | 'pro' | 'business' | 'enterprise'
  /** Requests that the key may send per minute. */
  readonly perMinute?: number
  /** Requests that the key may send per day. */
  readonly perDay?: number
}

export interface KeyRotation {
  /** How long the earlier secrets stay valid; 86400 (a day) by default, 0 ends them at once. */
  readonly graceSeconds?: number
}

export interface PairingCode {
  /** 8 letters and digits with a dash in the middle. The dash and the case do not matter. */
  readonly code: string
  /** When the code expires, in UTC. */
  readonly expiresAt: string
}

export interface KeyLimits {
  /** The plan of the key. */
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise'
  readonly key: {
    /** Public identifier of the key. */
    readonly id: string
    /** Name of the key. */
    readonly name: string
  }
  /** What the key may change; empty if the key may only read. */
  readonly permissions: readonly Permission[]
  readonly minute: LimitWindow
  readonly day: LimitWindow
  /** Unix timestamp at which the ban of the key ends; absent if it is not banned. */
  readonly bannedUntil?: number
}

/** A quantity changed. */
export interface StockChangedPayload {
  /** The kind of event. */
  readonly type: 'stock.changed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: ChangeEvent
}

/** A pet is low in stock. */
export interface StockLowPayload {
  /** The kind of event. */
  readonly type: 'stock.low'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: LowStockEvent
}

/** A pet is no longer low in stock. */
export interface StockRecoveredPayload {
  /** The kind of event. */
  readonly type: 'stock.recovered'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: LowStockEvent
}

/** An order was created. */
export interface OrderCreatedPayload {
  /** The kind of event. */
  readonly type: 'order.created'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: OrderEvent
}

/** An order was changed. */
export interface OrderChangedPayload {
  /** The kind of event. */
  readonly type: 'order.changed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: OrderEvent
}

/** An order was completed. */
export interface OrderCompletedPayload {
  /** The kind of event. */
  readonly type: 'order.completed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: OrderEvent
}

/** An order was cancelled. */
export interface OrderCancelledPayload {
  /** The kind of event. */
  readonly type: 'order.cancelled'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: OrderEvent
}

/** A hold expired. */
export interface OrderExpiredPayload {
  /** The kind of event. */
  readonly type: 'order.expired'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: OrderEvent
}

/** A pet was added, or changed in anything but its quantity. */
export interface PetChangedPayload {
  /** The kind of event. */
  readonly type: 'pet.changed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: PetEvent
}

/** A pet was removed. */
export interface PetRemovedPayload {
  /** The kind of event. */
  readonly type: 'pet.removed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: RemovedEvent
}

/** A category was created, changed or removed. */
export interface CategoryChangedPayload {
  /** The kind of event. */
  readonly type: 'category.changed'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: CategoryEvent
}

/** Events are missing: read the list again, then continue. */
export interface RelistPayload {
  /** The kind of event. */
  readonly type: 'relist'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: Readonly<Record<never, never>>
}

/** A test of the webhook: nothing has happened. */
export interface WebhookTestPayload {
  /** The kind of event. */
  readonly type: 'webhook.test'
  /** When the event happened. */
  readonly timestamp: string
  readonly data: TestEvent
}

export interface ErrorBody {
  /** Machine-readable error code. Codes are never renamed. */
  readonly code:
    | 'invalid_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'request_timeout'
    | 'gone'
    | 'insufficient_stock'
    | 'order_closed'
    | 'already_reversed'
    | 'too_late'
    | 'in_use'
    | 'already_exists'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'service_unavailable'
  /** Human-readable description: what is wrong, what was expected, what to do. */
  readonly message: string
  /** The HTTP status code. */
  readonly status: number
  /** The field of the body, the query parameter or the path parameter that is wrong, such as `quantity` or `changes[3].delta`. Absent if a combination of fields is wrong. */
  readonly field?: string
  /** Each change of an adjustment, each line of an order, or each pet of a batch, that cannot be saved. */
  readonly details?: readonly ErrorDetail[]
}

/** An error as problem details (RFC 9457), which a request gets if its Accept header names `application/problem+json`. */
export interface Problem {
  /** Identifies the code, and is the address of its documentation, relative to that of the request. */
  readonly type: string
  /** The code in words. */
  readonly title: string
  /** The same as `message`. */
  readonly detail: string
  /** Machine-readable error code. Codes are never renamed. */
  readonly code:
    | 'invalid_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'request_timeout'
    | 'gone'
    | 'insufficient_stock'
    | 'order_closed'
    | 'already_reversed'
    | 'too_late'
    | 'in_use'
    | 'already_exists'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'service_unavailable'
  /** Human-readable description: what is wrong, what was expected, what to do. */
  readonly message: string
  /** The HTTP status code. */
  readonly status: number
  /** The field of the body, the query parameter or the path parameter that is wrong, such as `quantity` or `changes[3].delta`. Absent if a combination of fields is wrong. */
  readonly field?: string
  /** Each change of an adjustment, each line of an order, or each pet of a batch, that cannot be saved. */
  readonly details?: readonly ErrorDetail[]
}

/** A kind of event. */
export type EventKind = 'change' | 'order' | 'low' | 'recovered' | 'pet' | 'removed' | 'category'

/** Status of a pet in the store. */
export type PetStatus = 'available' | 'pending' | 'sold'

/** open: the order reserves stock. complete: its units were taken out of the stock. cancelled: it was called off and reserves nothing. expired: its hold ended, and it reserves nothing. */
export type OrderState = 'open' | 'complete' | 'cancelled' | 'expired'

/** Pairs of your own, such as the identifiers of other systems. They are part of events, so they are no place for personal data. An update replaces all pairs. */
export type Metadata = Readonly<Record<string, string>>

export interface ListedEvent {
  /** The id of the event, the same as in the stream; opaque. */
  readonly id: string
  /** The kind of the event. The field of this name has its data; a `relist` has none. */
  readonly kind: 'change' | 'order' | 'low' | 'recovered' | 'pet' | 'removed' | 'category' | 'relist'
  readonly change?: ChangeEvent
  readonly order?: OrderEvent
  readonly low?: LowStockEvent
  readonly recovered?: LowStockEvent
  readonly pet?: PetEvent
  readonly removed?: RemovedEvent
  readonly category?: CategoryEvent
}

/** Why the stock was adjusted. */
export type Reason = 'received' | 'returned' | 'sold' | 'damaged' | 'lost' | 'counted' | 'corrected'

/** correction: the adjustment never happened. Its reversal has the same time, so a count in between keeps its word. returned: the goods come back now. */
export type ReversalReason = 'correction' | 'returned'

export interface HistoryEntry {
  /** Identifies the change; opaque. */
  readonly id: string
  /** The quantity before the change. */
  readonly before: number
  /** The quantity after the change. */
  readonly after: number
  /** The adjustment that the change belongs to; absent if an older version of the service made the change. */
  readonly adjustmentId?: bigint
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** When the change happened on the shelf, in UTC. */
  readonly occurredAt: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
  /** Name of that key, or its identifier if the key no longer exists. */
  readonly keyName: string
  readonly reason?: RecordedReason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
}

export interface RecentChange {
  /** The pet whose stock changed. */
  readonly petId: bigint
  /** Identifies the change; opaque. */
  readonly id: string
  /** The quantity before the change. */
  readonly before: number
  /** The quantity after the change. */
  readonly after: number
  /** The adjustment that the change belongs to; absent if an older version of the service made the change. */
  readonly adjustmentId?: bigint
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** When the change happened on the shelf, in UTC. */
  readonly occurredAt: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
  /** Name of that key, or its identifier if the key no longer exists. */
  readonly keyName: string
  readonly reason?: RecordedReason
  /** What it refers to in another system, such as a delivery note or a receipt; without control characters. */
  readonly reference?: string
}

export interface SearchRow {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** Name of the pet, without control characters. */
  readonly name: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId: bigint
  readonly status: PetStatus
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  readonly metadata?: Metadata
  /** Units on the shelf. */
  readonly quantity: number
  /** Units that open orders reserve. */
  readonly reserved: number
  /** The pet is low if at most this many are available. The own threshold of the pet, or else that of its category. */
  readonly lowStockAt?: number
  /** The pet's own threshold, which PATCH /pets/{petId} sets as lowStockAt; absent if the pet has none. */
  readonly ownLowStockAt?: number
  /** If the pet is low: when it became low, in UTC; absent if the log no longer has that event. */
  readonly lowSince?: string
  /** Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units. */
  readonly available: number
}

export interface CatalogEntry {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** Name of the pet, without control characters. */
  readonly name: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId: bigint
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** The pet is low if at most this many are available. If the field is absent, the threshold of the category applies. */
  readonly lowStockAt?: number
  readonly metadata?: Metadata
}

/** `pet` is the pet after the change. It is absent if the pet was removed. It does not include the quantity; GET /inventory/history lists quantity changes. */
export interface PetEdit {
  /** The pet that was edited. */
  readonly petId: bigint
  /** Identifies the change; opaque. */
  readonly id: string
  /** What happened to the pet. */
  readonly change: 'created' | 'changed' | 'removed'
  /** Name of the pet after the change, or before its removal; absent if the log does not have it. */
  readonly name?: string
  /** When the change was recorded, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made the change. */
  readonly keyId: string
  /** Name of that key, or its identifier if the key no longer exists. */
  readonly keyName: string
  readonly pet?: Pet
  /** The fields of `pet` that this edit changed. Present only if `change` is `changed` and the log still has the previous state of the pet. */
  readonly fields?: readonly EditedField[]
}

export interface NewBasket {
  readonly lines: readonly NewOrderLine[]
  /** What the order refers to in another system, such as a cart or a receipt; without control characters. It is part of events, so it is no place for personal data. */
  readonly reference?: string
  /** When the order ships or shipped. Requests may use any time zone; responses use UTC. */
  readonly shipDate?: string
  /** The customer, for example a name and a telephone number, without control characters. */
  readonly customer?: string
  /** A note for the staff. It may contain line breaks, but no other control characters. */
  readonly note?: string
  readonly metadata?: Metadata
  /** Makes the order a hold, which expires after this many seconds from now and then reserves nothing. */
  readonly holdSeconds?: number
  /** If true, the order is a sale: its units leave the stock at once. They must be available: neither sold nor reserved by another order. */
  readonly complete?: boolean
  /** When the goods left the shelf; now, if absent. Only with `complete`. At most 30 days ago and at most 5 minutes ahead. A line that left before the latest count of its pet changes no quantity, because the count includes it. */
  readonly occurredAt?: string
  /** If true, also units that other orders reserve are sold, because the goods have already left. Only with `complete`. */
  readonly evenIfReserved?: boolean
}

export interface NewOrderOfOnePet {
  /** The pet of the line. Each pet may occur once in an order. */
  readonly petId?: bigint
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** Units to order. This many must be available. */
  readonly quantity: number
  /** What the order refers to in another system, such as a cart or a receipt; without control characters. It is part of events, so it is no place for personal data. */
  readonly reference?: string
  /** When the order ships or shipped. Requests may use any time zone; responses use UTC. */
  readonly shipDate?: string
  /** The customer, for example a name and a telephone number, without control characters. */
  readonly customer?: string
  /** A note for the staff. It may contain line breaks, but no other control characters. */
  readonly note?: string
  readonly metadata?: Metadata
  /** Makes the order a hold, which expires after this many seconds from now and then reserves nothing. */
  readonly holdSeconds?: number
  /** If true, the order is a sale: its units leave the stock at once. They must be available: neither sold nor reserved by another order. */
  readonly complete?: boolean
  /** When the goods left the shelf; now, if absent. Only with `complete`. At most 30 days ago and at most 5 minutes ahead. A line that left before the latest count of its pet changes no quantity, because the count includes it. */
  readonly occurredAt?: string
  /** If true, also units that other orders reserve are sold, because the goods have already left. Only with `complete`. */
  readonly evenIfReserved?: boolean
}

export interface OrderCompletion {
  /** The order is fulfilled: its units leave the stock and are no longer reserved. */
  readonly complete: true
  /** If true, completing an order that is already complete fails with 409 order_closed, so that the caller knows whether this request completed it. */
  readonly onlyIfOpen?: boolean
  /** If true, an order whose hold has expired is completed nevertheless, if all of its units are still available. Meant for a payment that arrives late. */
  readonly evenIfExpired?: boolean
  /** When the goods left the shelf; now, if absent. Only with `complete`. At most 30 days ago and at most 5 minutes ahead. A line that left before the latest count of its pet changes no quantity, because the count includes it. */
  readonly occurredAt?: string
}

export interface OrderChange {
  readonly lines?: readonly NewOrderLine[]
  readonly reference?: string | null
  readonly shipDate?: string | null
  readonly customer?: string | null
  readonly note?: string | null
  readonly metadata?: Readonly<Record<string, string>> | null
  readonly holdSeconds?: number | null
}

/** What the rows stand for. */
export type ReportGroup = 'day' | 'pet' | 'category' | 'reason' | 'key'

export interface MovementRow {
  /** With by=day: the day in the time zone. */
  readonly day?: string
  /** With by=pet: the pet. */
  readonly petId?: bigint
  /** With by=category: the category in which the pets are now. Absent in the row of removed pets. */
  readonly categoryId?: bigint
  /** With by=key: public identifier of the API key. */
  readonly keyId?: string
  /** With by=reason: the reason; `counted` has the row of all counts. */
  readonly reason?: 'received' | 'returned' | 'sold' | 'damaged' | 'lost' | 'counted' | 'corrected'
  /** Name of the pet, category or key; absent if it no longer exists. */
  readonly name?: string
  /** Units received. */
  readonly received: number
  /** Units that customers brought back, also by reversals with the reason `returned`. */
  readonly returned: number
  /** Units sold. */
  readonly sold: number
  /** Units damaged. */
  readonly damaged: number
  /** Units lost. */
  readonly lost: number
  /** Units that counts found in addition to those recorded. A new pet is counted. */
  readonly countedUp: number
  /** Units that counts found missing. A removed pet is counted as 0. */
  readonly countedDown: number
  /** Units added, less units taken, by corrections and by adjustments without a reason. */
  readonly corrected: number
  /** By how much the stock changed: received + returned + countedUp + corrected - sold - damaged - lost - countedDown. */
  readonly change: number
}

/** The backlog of the webhook. */
export interface WebhookLag {
  /** Events that the webhook has not processed yet, including events of kinds that it does not receive. A pending `relist` counts as one event, in place of the events that it replaces; so does each held pet, in place of its events. */
  readonly events: number
  /** When the oldest of these events happened, in UTC. */
  readonly since?: string
}

export interface WebhookDelivery {
  /** Identifies the attempt; opaque. */
  readonly id: string
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** The `webhook-id`, which is the same for all attempts of a delivery. */
  readonly messageId: string
  /** The kind of event. */
  readonly type: string
  /** When the attempt was made, in UTC. */
  readonly at: string
  /** How long the attempt took. */
  readonly durationMs: number
  /** Whether the receiver replied 2xx in time. */
  readonly delivered: boolean
  /** The status of the response; absent if there was none. */
  readonly status?: number
  /** Why the attempt failed. */
  readonly error?: string
  /** The beginning of the response body, up to 1 kB. */
  readonly response: string
  /** True if the event is not tried again, because it was refused for 3 days. */
  readonly parked?: boolean
}

export interface KeyName {
  /** Public identifier of the key. */
  readonly id: string
  /** Name of the person, device or program that uses the key. */
  readonly name: string
}

export interface KeyAuditEntry {
  /** Identifies the entry. */
  readonly id: bigint
  /** When the action was made, in UTC. */
  readonly at: string
  /** Name and id of the key that made the action, or the user of the machine of the service. */
  readonly actor: string
  /** Such as `create`, `change`, `rotate`, `revoke`, `pair` or `change webhook`. Later versions may add actions. */
  readonly action: string
  /** What changed, with the values before and after. Empty for a webhook if the caller lacks the permission `webhooks`. */
  readonly detail: string
}

export interface LimitWindow {
  /** Requests that the window allows. */
  readonly limit: number
  /** Requests that remain in the window. */
  readonly remaining: number
  /** Unix timestamp at which the window ends. */
  readonly reset: number
}

export interface TestEvent {
  /** The webhook that was tested. */
  readonly webhookId: bigint
  /** Always true. */
  readonly test: boolean
}

export interface OrderEventLine {
  /** The pet of the line. Each pet may occur once in an order. */
  readonly petId: bigint
  /** Units that were ordered. */
  readonly quantity: number
  /** Units that open orders reserve. */
  readonly reserved?: number
  /** Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units. */
  readonly available?: number
}

/** Either a difference or a new count, of a pet that `petId` or `barcode` names. */
export type AdjustmentChange = DeltaChange | CountChange

export interface AdjustmentLine {
  /** The pet of the line. */
  readonly petId: bigint
  /** The quantity before the adjustment was recorded. */
  readonly before: number
  /** The quantity after the adjustment was recorded. */
  readonly after: number
  /** Units that came in or, if negative, went out. Of a count, what it changed. */
  readonly delta: number
  /** The counted quantity. Absent if the line is not a count. */
  readonly counted?: number
  readonly effect: AdjustmentEffect
  /** Units of the line that were reversed since. A reversed count has 1. */
  readonly reversed: number
}

export interface ErrorDetail {
  /** The position of the change in the request, or of the line in a file, from 0. */
  readonly index: number
  /** The line of the file, from 1, if the request is an import. */
  readonly line?: number
  /** The pet that the change names; absent if it names none. */
  readonly petId?: bigint
  /** The error code of this change. */
  readonly code:
    | 'invalid_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'request_timeout'
    | 'gone'
    | 'insufficient_stock'
    | 'order_closed'
    | 'already_reversed'
    | 'too_late'
    | 'in_use'
    | 'already_exists'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'service_unavailable'
  /** Human-readable description. */
  readonly message: string
  /** The field of the change that is wrong. */
  readonly field?: string
  /** With insufficient_stock: the units that the request could have taken. For a new order, or for an adjustment with `keepReserved`, these are the available units, which are negative if more units are reserved than are on the shelf. Otherwise they are the units on the shelf. */
  readonly available?: number
  readonly state?: ClosedOrderState
}

export interface ReversedLine {
  /** The pet of the line. */
  readonly petId: bigint
  /** The units to reverse; 1 for a count, which is reversed as a whole. */
  readonly quantity: number
}

/** A pet to create or to update. Fields of an existing pet that are not sent stay as they are; null removes an optional value. A new pet needs a name and a categoryId. */
export interface PetUpsert {
  /** Identifier of the pet. If no pet has this id, a pet is created with it. Without an id, a pet is created with a free id. */
  readonly id?: bigint
  /** Name of the pet, without control characters. */
  readonly name?: string
  /** Identifier of the category that the pet belongs to. The category must exist. */
  readonly categoryId?: bigint
  readonly status?: PetStatus
  readonly barcode?: string | null
  readonly lowStockAt?: number | null
  readonly metadata?: Readonly<Record<string, string>> | null
  /** Units on the shelf. The stock of an existing pet is set to this quantity, with the reason `corrected`. Without a quantity, an existing pet keeps its stock, and a new pet has 0 units. */
  readonly quantity?: number
}

/** Units of the pet that `petId` or `barcode` names. */
export interface NewOrderLine {
  /** The pet of the line. Each pet may occur once in an order. */
  readonly petId?: bigint
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
  /** Units to order. This many must be available. */
  readonly quantity: number
}

export interface OrderLine {
  /** The pet of the line. Each pet may occur once in an order. */
  readonly petId: bigint
  /** Units that were ordered. */
  readonly quantity: number
  /** Units that were taken back since the order was completed, by reversals that the history still has. */
  readonly returned: number
}

/** A kind of event that a webhook can receive. */
export type WebhookKind =
  | 'stock.changed'
  | 'stock.low'
  | 'stock.recovered'
  | 'order.created'
  | 'order.changed'
  | 'order.completed'
  | 'order.cancelled'
  | 'order.expired'
  | 'pet.changed'
  | 'pet.removed'
  | 'category.changed'

/** What a key may change. Every key may read everything except webhooks and keys; of keys, only their names. */
export type Permission = 'stock' | 'orders' | 'pets' | 'webhooks' | 'keys'

export interface SecretHint {
  /** The beginning and the end of the secret, to recognise it. */
  readonly hint: string
  /** When the secret was created, in UTC. */
  readonly createdAt: string
  /** When the secret expires, in UTC; absent if it expires with its key. */
  readonly expiresAt?: string
}

export interface DeltaChange {
  /** The pet whose stock changes. Each pet may occur once in an adjustment. */
  readonly petId?: bigint
  /** Units that come in or, if negative, go out. */
  readonly delta: number
  /** The expected stock count. If the current count differs, the answer is 412. */
  readonly expected?: number
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
}

export interface CountChange {
  /** The pet whose stock changes. Each pet may occur once in an adjustment. */
  readonly petId?: bigint
  /** The new stock count. */
  readonly quantity: number
  /** The expected stock count. If the current count differs, the answer is 412. */
  readonly expected?: number
  /** Barcode of the pet: visible ASCII characters. No two pets have the same barcode. */
  readonly barcode?: string
}

/** applied: the line changed the stock, or confirmed it. already_counted: it happened before the latest count, which includes it, so it changed nothing. superseded: it is a count that was made before the latest one, so it changed nothing. */
export type AdjustmentEffect = 'applied' | 'already_counted' | 'superseded'

/** With order_closed: the state of the order. */
export type ClosedOrderState = 'complete' | 'cancelled' | 'expired'

/** A field of a pet. */
export type EditedField = 'name' | 'categoryId' | 'status' | 'barcode' | 'lowStockAt' | 'metadata'

/** The data of each event of the stream. */
export interface EventData {
  readonly ready: Readonly<Record<never, never>>
  readonly change: ChangeEvent
  readonly order: OrderEvent
  readonly low: LowStockEvent
  readonly recovered: LowStockEvent
  readonly pet: PetEvent
  readonly removed: RemovedEvent
  readonly category: CategoryEvent
  readonly relist: Readonly<Record<never, never>>
}

export const EVENT_NAMES: ReadonlySet<string> = new Set([
  'ready',
  'change',
  'order',
  'low',
  'recovered',
  'pet',
  'removed',
  'category',
  'relist',
])

/** The body of a webhook delivery, by `type`. */
export type WebhookPayload =
  | StockChangedPayload
  | StockLowPayload
  | StockRecoveredPayload
  | OrderCreatedPayload
  | OrderChangedPayload
  | OrderCompletedPayload
  | OrderCancelledPayload
  | OrderExpiredPayload
  | PetChangedPayload
  | PetRemovedPayload
  | CategoryChangedPayload
  | RelistPayload
  | WebhookTestPayload

export const WEBHOOK_TYPES: ReadonlySet<string> = new Set([
  'stock.changed',
  'stock.low',
  'stock.recovered',
  'order.created',
  'order.changed',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'pet.changed',
  'pet.removed',
  'category.changed',
  'relist',
  'webhook.test',
])

/** The values of each enumeration. */
export const VALUES = {
  RecordedReason: ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected', 'correction'],
  ImportKind: ['pets', 'orders', 'count', 'categories'],
  EventKind: ['change', 'order', 'low', 'recovered', 'pet', 'removed', 'category'],
  PetStatus: ['available', 'pending', 'sold'],
  OrderState: ['open', 'complete', 'cancelled', 'expired'],
  Reason: ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'],
  ReversalReason: ['correction', 'returned'],
  ReportGroup: ['day', 'pet', 'category', 'reason', 'key'],
  WebhookKind: [
    'stock.changed',
    'stock.low',
    'stock.recovered',
    'order.created',
    'order.changed',
    'order.completed',
    'order.cancelled',
    'order.expired',
    'pet.changed',
    'pet.removed',
    'category.changed',
  ],
  Permission: ['stock', 'orders', 'pets', 'webhooks', 'keys'],
  AdjustmentEffect: ['applied', 'already_counted', 'superseded'],
  ClosedOrderState: ['complete', 'cancelled', 'expired'],
  EditedField: ['name', 'categoryId', 'status', 'barcode', 'lowStockAt', 'metadata'],
} as const

/** The longest text, or the longest list, of each field of a request. */
export const MAX_LENGTHS = {
  InventoryAdjustment: { reference: 200, note: 1000, changes: 1000 },
  Reversal: { note: 1000, lines: 1000 },
  NewPet: { name: 200, barcode: 48 },
  PetBatch: { pets: 1000 },
  PetUpdate: { name: 200, barcode: 48 },
  NewCategory: { name: 200 },
  CategoryUpdate: { name: 200 },
  NewWebhook: { url: 2000, kinds: 11 },
  WebhookUpdate: { url: 2000, kinds: 11 },
  NewKey: { name: 200, permissions: 5 },
  KeyUpdate: { name: 200, permissions: 5 },
  NewBasket: { lines: 100, reference: 200, customer: 200, note: 1000 },
  NewOrderOfOnePet: { barcode: 48, reference: 200, customer: 200, note: 1000 },
  OrderChange: { lines: 100, reference: 200, customer: 200, note: 1000 },
  PetUpsert: { name: 200, barcode: 48 },
  NewOrderLine: { barcode: 48 },
  DeltaChange: { barcode: 48 },
  CountChange: { barcode: 48 },
} as const

/** The fields that are int64. */
export const INT64_FIELDS: ReadonlySet<string> = new Set([
  'adjustmentId',
  'categoryId',
  'id',
  'orderId',
  'petId',
  'reverses',
  'webhookId',
])

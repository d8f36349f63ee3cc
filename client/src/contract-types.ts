// Made from openapi.json by client/scripts/contract-types.ts: "npm run contract:client" writes it anew.

type NoFields = Readonly<Record<never, never>>

export interface InventoryItem {
  /** Identifier of the animal the entry tracks. */
  readonly petId: bigint
  /** Current stock count. */
  readonly quantity: number
  readonly status: PetStatus
}

/** Fields other than quantity are ignored; the status never changes by an update. */
export interface InventoryUpdate {
  /** The new stock count. */
  readonly quantity: number
}

/** Where a pet stands in the store. */
export type PetStatus = 'available' | 'pending' | 'sold'

/** All of its changes are made, or none. Other fields are ignored. */
export interface InventoryAdjustment {
  readonly reason: Reason
  /** What it refers to, such as an order or a delivery note; without control characters. */
  readonly reference?: string
  readonly changes: readonly AdjustmentChange[]
}

/** Has exactly one of delta and quantity. */
export interface AdjustmentChange {
  /** The pet whose stock changes; at most once in an adjustment. */
  readonly petId: bigint
  /** How many come in or, below 0, go out. */
  readonly delta?: number
  /** The new stock count. */
  readonly quantity?: number
  /** The stock count that it must have now, else it is 412. */
  readonly expected?: number
}

export interface AdjustmentResult {
  /** The entries after the changes, in the order sent. */
  readonly items: readonly InventoryItem[]
}

export interface Availability {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** How many are on the shelf. */
  readonly quantity: number
  /** How many of them open orders reserve. */
  readonly reserved: number
  /** How many can still be ordered: quantity less reserved. Negative where the stock was set below what is reserved. */
  readonly available: number
}

/** What an adjustment was made for. */
export type Reason = 'received' | 'returned' | 'sold' | 'damaged' | 'lost' | 'counted' | 'corrected'

export interface HistoryEntry {
  /** Identifies the change; opaque. */
  readonly id: string
  /** The stock count before the change. */
  readonly before: number
  /** The stock count after it. */
  readonly after: number
  /** When it was made, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made it. */
  readonly keyId: string
  /** Name of that key; its identifier where the key is not known any more. */
  readonly keyName: string
  readonly reason?: Reason
  /** What it refers to, such as an order or a delivery note; without control characters. */
  readonly reference?: string
}

export interface RecentChange {
  /** The pet whose stock changed. */
  readonly petId: bigint
  /** Identifies the change; opaque. */
  readonly id: string
  /** The stock count before the change. */
  readonly before: number
  /** The stock count after it. */
  readonly after: number
  /** When it was made, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made it. */
  readonly keyId: string
  /** Name of that key; its identifier where the key is not known any more. */
  readonly keyName: string
  readonly reason?: Reason
  /** What it refers to, such as an order or a delivery note; without control characters. */
  readonly reference?: string
}

export interface ChangeEvent {
  /** The pet whose quantity changed. */
  readonly petId: bigint
  /** The stock count before the change. */
  readonly before: number
  /** The stock count after it. */
  readonly after: number
  readonly status: PetStatus
  /** When it was made, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made it. */
  readonly keyId: string
  readonly reason?: Reason
  /** What it refers to, such as an order or a delivery note; without control characters. */
  readonly reference?: string
}

export interface OrderEvent {
  /** What happened to the order. */
  readonly change: 'created' | 'changed' | 'completed' | 'cancelled' | 'expired'
  readonly order: Order
  /** When it was made, in UTC. */
  readonly at: string
  /** Public identifier of the API key that made it. */
  readonly keyId: string
}

export interface RemovedEvent {
  /** The pet whose entry is gone. */
  readonly petId: bigint
}

export interface Pet {
  /** Identifier of the pet. */
  readonly id: bigint
  /** What the pet is called. */
  readonly name: string
  /** Identifier of the category the pet belongs to. */
  readonly categoryId: bigint
  readonly status: PetStatus
}

export interface CatalogEntry {
  /** Identifier of the pet. */
  readonly petId: bigint
  /** What the pet is called. */
  readonly name: string
  /** Identifier of the category the pet belongs to. */
  readonly categoryId: bigint
}

export interface Order {
  /** Identifier of the order. */
  readonly id: bigint
  /** The pet that was ordered. */
  readonly petId: bigint
  /** How many were ordered. */
  readonly quantity: number
  /** When the order ships or shipped, in UTC; absent where it is not set. */
  readonly shipDate?: string
  /** Whether the order has been fulfilled. */
  readonly complete: boolean
  readonly state: OrderState
  /** When the order was made, in UTC. */
  readonly createdAt: string
  /** When a hold expires by itself, in UTC; absent where it is none. */
  readonly expiresAt?: string
}

/** open: it reserves stock. complete: what it reserved was taken out of the stock. cancelled, or expired where its hold was over: it reserves nothing any more. */
export type OrderState = 'open' | 'complete' | 'cancelled' | 'expired'

/** Other fields are ignored. */
export interface NewOrder {
  /** The pet that is ordered. */
  readonly petId: bigint
  /** How many; so many must be available. */
  readonly quantity: number
  /** When it ships: a date and time with its zone. */
  readonly shipDate?: string
  /** Makes it a hold, which expires by itself after so many seconds. */
  readonly holdSeconds?: number
}

/** Has exactly one of complete and shipDate. Other fields are ignored. */
export interface OrderUpdate {
  /** The order is fulfilled: takes it out of the stock and of what is reserved. */
  readonly complete?: boolean
  /** Another ship date, while the order is open. */
  readonly shipDate?: string
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
  readonly minute: LimitWindow
  readonly day: LimitWindow
}

export interface LimitWindow {
  /** How many requests the window allows. */
  readonly limit: number
  /** How many are left. */
  readonly remaining: number
  /** Unix timestamp at which the window ends. */
  readonly reset: number
}

export interface ErrorBody {
  /** Machine-readable error code. Codes are never renamed. */
  readonly code:
    | 'invalid_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'gone'
    | 'insufficient_stock'
    | 'order_closed'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'service_unavailable'
  /** Human-readable description: what was wrong, what was expected, what to do. */
  readonly message: string
  /** The HTTP status code. */
  readonly status: number
  /** Every change that failed, where a request has several. */
  readonly details?: readonly ErrorDetail[]
}

export interface ErrorDetail {
  /** Which of the changes it is, counted from 0. */
  readonly index: number
  /** The pet that the change names; absent where it names none. */
  readonly petId?: bigint
  /** What the change alone would have been refused with. */
  readonly code:
    | 'invalid_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'gone'
    | 'insufficient_stock'
    | 'order_closed'
    | 'precondition_failed'
    | 'payload_too_large'
    | 'idempotency_key_reused'
    | 'rate_limit_exceeded'
    | 'key_banned'
    | 'internal_error'
    | 'service_unavailable'
  /** Human-readable description. */
  readonly message: string
}

/** What each operation takes and gives. */
export interface Operations {
  /** List stock levels */
  listInventory: {
    readonly params: NoFields
    readonly query: NoFields
    readonly headers: NoFields
    readonly body: undefined
    readonly answer: readonly InventoryItem[]
  }
  /** Follow the changes of the stock */
  inventoryEvents: {
    readonly params: NoFields
    readonly query: { readonly lastEventId?: string }
    readonly headers: { readonly 'Last-Event-ID'?: string }
    readonly body: undefined
    readonly answer: {
      readonly ready: NoFields
      readonly change: ChangeEvent
      readonly order: OrderEvent
      readonly entry: InventoryItem
      readonly removed: RemovedEvent
      readonly relist: NoFields
    }
  }
  /** Get the stock level of one pet */
  getInventoryItem: {
    readonly params: { readonly petId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: InventoryItem
  }
  /** Set the stock quantity of one pet */
  updateInventory: {
    readonly params: { readonly petId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'If-Match'?: string; readonly 'Idempotency-Key'?: string }
    readonly body: InventoryUpdate
    readonly answer: InventoryItem
  }
  /** Change the stock of several pets at once */
  adjustInventory: {
    readonly params: NoFields
    readonly query: NoFields
    readonly headers: { readonly 'Idempotency-Key'?: string }
    readonly body: InventoryAdjustment
    readonly answer: AdjustmentResult
  }
  /** Get how many of one pet can be ordered */
  getAvailability: {
    readonly params: { readonly petId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: Availability
  }
  /** List the changes of one pet’s stock */
  listInventoryHistory: {
    readonly params: { readonly petId: bigint }
    readonly query: { readonly limit?: number; readonly cursor?: string }
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: readonly HistoryEntry[]
  }
  /** List the changes of all stock */
  listRecentChanges: {
    readonly params: NoFields
    readonly query: { readonly limit?: number; readonly cursor?: string }
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: readonly RecentChange[]
  }
  /** List pets */
  listPets: {
    readonly params: NoFields
    readonly query: {
      readonly status?: 'available' | 'pending' | 'sold'
      readonly limit?: number
      readonly cursor?: string
    }
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: readonly Pet[]
  }
  /** Get one pet (deprecated) */
  getPet: {
    readonly params: { readonly petId: bigint }
    readonly query: NoFields
    readonly headers: NoFields
    readonly body: undefined
    readonly answer: Pet
  }
  /** List names and categories */
  listCatalog: {
    readonly params: NoFields
    readonly query: { readonly limit?: number; readonly cursor?: string }
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: readonly CatalogEntry[]
  }
  /** List orders */
  listOrders: {
    readonly params: NoFields
    readonly query: {
      readonly state?: 'open' | 'complete' | 'cancelled' | 'expired'
      readonly petId?: bigint
      readonly limit?: number
      readonly cursor?: string
    }
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: readonly Order[]
  }
  /** Order a pet */
  createOrder: {
    readonly params: NoFields
    readonly query: NoFields
    readonly headers: { readonly 'Idempotency-Key'?: string }
    readonly body: NewOrder
    readonly answer: Order
  }
  /** Get one order */
  getOrder: {
    readonly params: { readonly orderId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: Order
  }
  /** Complete an order, or change its ship date */
  updateOrder: {
    readonly params: { readonly orderId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'Idempotency-Key'?: string }
    readonly body: OrderUpdate
    readonly answer: Order
  }
  /** Cancel an order */
  cancelOrder: {
    readonly params: { readonly orderId: bigint }
    readonly query: NoFields
    readonly headers: { readonly 'Idempotency-Key'?: string }
    readonly body: undefined
    readonly answer: undefined
  }
  /** Tell how the key stands */
  getLimits: {
    readonly params: NoFields
    readonly query: NoFields
    readonly headers: { readonly 'If-None-Match'?: string }
    readonly body: undefined
    readonly answer: KeyLimits
  }
}

/** Where each operation is, and the schema of its answer or of each of its events. */
export const OPERATIONS = {
  listInventory: { method: 'GET', path: '/inventory', answer: 'InventoryItem' },
  inventoryEvents: {
    method: 'GET',
    path: '/inventory/events',
    answer: {
      ready: null,
      change: 'ChangeEvent',
      order: 'OrderEvent',
      entry: 'InventoryItem',
      removed: 'RemovedEvent',
      relist: null,
    },
  },
  getInventoryItem: { method: 'GET', path: '/inventory/{petId}', answer: 'InventoryItem' },
  updateInventory: { method: 'PATCH', path: '/inventory/{petId}', answer: 'InventoryItem' },
  adjustInventory: { method: 'POST', path: '/inventory/adjustments', answer: 'AdjustmentResult' },
  getAvailability: { method: 'GET', path: '/inventory/{petId}/availability', answer: 'Availability' },
  listInventoryHistory: { method: 'GET', path: '/inventory/{petId}/history', answer: 'HistoryEntry' },
  listRecentChanges: { method: 'GET', path: '/inventory/history', answer: 'RecentChange' },
  listPets: { method: 'GET', path: '/pets', answer: 'Pet' },
  getPet: { method: 'GET', path: '/pets/{petId}', answer: 'Pet' },
  listCatalog: { method: 'GET', path: '/catalog', answer: 'CatalogEntry' },
  listOrders: { method: 'GET', path: '/store/orders', answer: 'Order' },
  createOrder: { method: 'POST', path: '/store/orders', answer: 'Order' },
  getOrder: { method: 'GET', path: '/store/orders/{orderId}', answer: 'Order' },
  updateOrder: { method: 'PATCH', path: '/store/orders/{orderId}', answer: 'Order' },
  cancelOrder: { method: 'DELETE', path: '/store/orders/{orderId}', answer: null },
  getLimits: { method: 'GET', path: '/limits', answer: 'KeyLimits' },
} as const satisfies Readonly<Record<keyof Operations, { method: string; path: string; answer: unknown }>>

/** The fields of each schema that are int64: `bigint` in the program, digits on the wire. */
export const INT64_FIELDS = {
  InventoryItem: ['petId'],
  InventoryUpdate: [],
  PetStatus: [],
  InventoryAdjustment: [],
  AdjustmentChange: ['petId'],
  AdjustmentResult: [],
  Availability: ['petId'],
  Reason: [],
  HistoryEntry: [],
  RecentChange: ['petId'],
  ChangeEvent: ['petId'],
  OrderEvent: [],
  RemovedEvent: ['petId'],
  Pet: ['id', 'categoryId'],
  CatalogEntry: ['petId', 'categoryId'],
  Order: ['id', 'petId'],
  OrderState: [],
  NewOrder: ['petId'],
  OrderUpdate: [],
  KeyLimits: [],
  LimitWindow: [],
  ErrorBody: [],
  ErrorDetail: ['petId'],
} as const

/** The fields of a schema that hold another one, or an array of it. */
export const NESTED_FIELDS: {
  readonly [Name in keyof typeof INT64_FIELDS]?: Readonly<Record<string, keyof typeof INT64_FIELDS>>
} = {
  InventoryAdjustment: { changes: 'AdjustmentChange' },
  AdjustmentResult: { items: 'InventoryItem' },
  OrderEvent: { order: 'Order' },
  KeyLimits: { minute: 'LimitWindow', day: 'LimitWindow' },
  ErrorBody: { details: 'ErrorDetail' },
}

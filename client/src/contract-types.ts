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
  /** When the order ships or shipped, in UTC. */
  readonly shipDate: string
  /** Whether the order has been fulfilled. */
  readonly complete: boolean
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
    readonly query: NoFields
    readonly headers: NoFields
    readonly body: undefined
    readonly answer: readonly Order[]
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
      entry: 'InventoryItem',
      removed: 'RemovedEvent',
      relist: null,
    },
  },
  getInventoryItem: { method: 'GET', path: '/inventory/{petId}', answer: 'InventoryItem' },
  updateInventory: { method: 'PATCH', path: '/inventory/{petId}', answer: 'InventoryItem' },
  adjustInventory: { method: 'POST', path: '/inventory/adjustments', answer: 'AdjustmentResult' },
  listInventoryHistory: { method: 'GET', path: '/inventory/{petId}/history', answer: 'HistoryEntry' },
  listRecentChanges: { method: 'GET', path: '/inventory/history', answer: 'RecentChange' },
  listPets: { method: 'GET', path: '/pets', answer: 'Pet' },
  getPet: { method: 'GET', path: '/pets/{petId}', answer: 'Pet' },
  listCatalog: { method: 'GET', path: '/catalog', answer: 'CatalogEntry' },
  listOrders: { method: 'GET', path: '/store/orders', answer: 'Order' },
  getLimits: { method: 'GET', path: '/limits', answer: 'KeyLimits' },
} as const satisfies Readonly<Record<keyof Operations, { method: string; path: string; answer: unknown }>>

/**
 * The fields of each schema that are int64, `bigint` in the program and digits on the wire, or that hold an object of
 * another schema with such fields, or an array of them.
 */
export const INT64_FIELDS = {
  InventoryItem: { petId: { type: 'int64', required: true } },
  InventoryUpdate: {},
  PetStatus: {},
  InventoryAdjustment: { changes: { type: 'AdjustmentChange', required: true } },
  AdjustmentChange: { petId: { type: 'int64', required: true } },
  AdjustmentResult: { items: { type: 'InventoryItem', required: true } },
  Reason: {},
  HistoryEntry: {},
  RecentChange: { petId: { type: 'int64', required: true } },
  ChangeEvent: { petId: { type: 'int64', required: true } },
  RemovedEvent: { petId: { type: 'int64', required: true } },
  Pet: { id: { type: 'int64', required: true }, categoryId: { type: 'int64', required: true } },
  CatalogEntry: { petId: { type: 'int64', required: true }, categoryId: { type: 'int64', required: true } },
  Order: { id: { type: 'int64', required: true }, petId: { type: 'int64', required: true } },
  KeyLimits: {},
  LimitWindow: {},
  ErrorBody: { details: { type: 'ErrorDetail', required: false } },
  ErrorDetail: { petId: { type: 'int64', required: false } },
} as const

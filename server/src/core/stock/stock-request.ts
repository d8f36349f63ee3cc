import type { Category, CategoryDraft, CategoryPatch } from '../catalog/category.ts'
import type { PetDraft, PetPatch, StockedPet } from '../catalog/pet.ts'
import type { Order, OrderDraft } from '../orders/order.ts'
import type { ErrorDetail } from '../values/errors.ts'
import type { Webhook, WebhookPatch } from '../webhooks/webhook.ts'
import type { EntryState, InventoryItem } from './inventory.ts'

/** Why stock changes; part of the contract. */
export const REASONS = ['received', 'returned', 'sold', 'damaged', 'lost', 'counted', 'corrected'] as const
export type Reason = (typeof REASONS)[number]

/** Of one adjustment. */
export const MAX_CHANGES = 1_000
export const MAX_REFERENCE_LENGTH = 200

/** Whom the log names for what no API key did. */
export const STORE_KEY_ID = 'petstore'

/** Who asked for a change, when, and what for: all of it goes into the history. */
export interface ChangeOrigin {
  readonly keyId: string
  readonly at: number
  readonly reason?: Reason | undefined
  readonly reference?: string | undefined
  /** Where it is to be made once, however often it is sent. */
  readonly idempotency?: Idempotency | undefined
}

/** What a request that may come again is known by. */
export interface Idempotency {
  /** As the caller chose it; another caller's is another one. */
  readonly key: string
  /** Tells one request from another under the same key. */
  readonly fingerprint: string
  /** What is remembered of an outcome, and answered with the next time. */
  readonly answer: (outcome: ChangeOutcome) => string
}

export interface QuantityChange extends ChangeOrigin {
  readonly petId: bigint
  readonly quantity: number
  /** Change it only if it is in one of these states; in any where nothing is given. Decided inside the commit. */
  readonly onlyIf?: readonly EntryState[] | undefined
}

/** Changes of different pets, of which all are made or none. */
export interface Adjustment extends ChangeOrigin {
  readonly changes: readonly AdjustmentChange[]
}

export type AdjustmentChange = {
  readonly petId: bigint
  /** The quantity that it must have before the change; any where nothing is given. */
  readonly expected?: number | undefined
} & ({ readonly delta: number } | { readonly quantity: number })

export interface OrderCreation extends ChangeOrigin {
  readonly draft: OrderDraft
}

export interface OrderUpdate extends ChangeOrigin {
  readonly orderId: bigint
  /** Looked up before, since it has to be locked first; absent where there was no such order. */
  readonly petId: bigint | undefined
  readonly update: 'complete' | 'cancel' | { readonly shipDate: number }
}

/** Ends the holds of these pets that are over, as every other request about their orders does. */
export interface HoldSweep extends ChangeOrigin {
  readonly holdsOf: readonly bigint[]
}

export type OrderRequest = OrderCreation | OrderUpdate | HoldSweep

export interface PetCreation extends ChangeOrigin {
  readonly newPet: PetDraft
}

export interface PetUpdate extends ChangeOrigin {
  readonly petId: bigint
  readonly petPatch: PetPatch
}

export interface PetRemoval extends ChangeOrigin {
  readonly removedPet: bigint
}

export interface CategoryCreation extends ChangeOrigin {
  readonly newCategory: CategoryDraft
}

export interface CategoryUpdate extends ChangeOrigin {
  readonly categoryId: bigint
  readonly categoryPatch: CategoryPatch
}

export interface CategoryRemoval extends ChangeOrigin {
  readonly removedCategory: bigint
}

export type PetRequest = PetCreation | PetUpdate | PetRemoval
/** They may concern any number of pets, so that each has a commit of its own. */
export type CategoryRequest = CategoryCreation | CategoryUpdate | CategoryRemoval
export type CatalogRequest = PetRequest | CategoryRequest

export type WebhookRequest = ChangeOrigin &
  (
    | { readonly newWebhook: Webhook }
    | {
        readonly webhookId: bigint
        /** The cursor is another place in the log to go on from. */
        readonly webhookChange:
          | WebhookPatch
          | { readonly newSecret: string }
          | { readonly cursor: string }
          | 'remove'
      }
  )

/** The entry after the change; or why it was not made: there is no such pet, or it is in another state. */
export type QuantityOutcome = InventoryItem | 'unknown_pet' | { readonly conflict: InventoryItem }

/** The entries after the changes, in their order; or every change that cannot be made. */
export type AdjustmentOutcome =
  | { readonly items: readonly InventoryItem[] }
  | { readonly failures: readonly ErrorDetail[] }

/** The order after it; or why nothing was changed: too little is there, it is closed, or there is no such pet or order. */
export type OrderOutcome =
  | { readonly order: Order }
  | { readonly shortage: Shortage }
  | { readonly closed: Order }
  | { readonly unknownOrder: bigint }
  | { readonly expired: number }
  | 'unknown_pet'

/** What it is from then on, or which one is gone; or why nothing was changed. */
export type CatalogOutcome =
  | { readonly pet: StockedPet }
  | { readonly category: Category }
  | { readonly removed: bigint }
  | 'unknown_pet'
  | { readonly unknownCategory: bigint }
  | { readonly taken: { readonly id: bigint } | { readonly categoryId: bigint } | TakenBarcode }
  | {
      readonly inUse: { readonly pet: bigint; readonly reserved: number } | { readonly category: bigint }
    }

interface TakenBarcode {
  readonly barcode: string
  /** The pet that has it. */
  readonly by: bigint
}

/** As it is from then on, or which one is gone; or why nothing was changed. */
export type WebhookOutcome =
  | { readonly webhook: Webhook }
  | { readonly removed: bigint }
  | { readonly unknownWebhook: bigint }
  /** As many as there may be, in the store or of one key. */
  | { readonly tooManyWebhooks: number; readonly of: 'store' | 'key' }

/** What an order would take, and what is there for it. */
export interface Shortage {
  readonly petId: bigint
  readonly wanted: number
  readonly available: number
}

export type ChangeOutcome =
  | QuantityOutcome
  | AdjustmentOutcome
  | OrderOutcome
  | CatalogOutcome
  | WebhookOutcome

/** What is asked of the stock in a commit. */
export type StockRequest = QuantityChange | Adjustment | OrderRequest | CatalogRequest | WebhookRequest

/** What came of it; of one with a key, what is answered to it now and again. */
export type StockOutcome = ChangeOutcome | KeyedAnswer | 'key_reused'

export interface KeyedAnswer {
  readonly answer: string
  /** It was made before, and nothing has changed now. */
  readonly isReplay: boolean
}

export function isAdjustment(request: StockRequest): request is Adjustment {
  return 'changes' in request
}

export function isOrderRequest(request: StockRequest): request is OrderRequest {
  return 'draft' in request || 'orderId' in request || 'holdsOf' in request
}

export function isPetRequest(request: StockRequest): request is PetRequest {
  return 'newPet' in request || 'petPatch' in request || 'removedPet' in request
}

export function isCategoryRequest(request: StockRequest): request is CategoryRequest {
  return 'newCategory' in request || 'categoryPatch' in request || 'removedCategory' in request
}

export function isWebhookRequest(request: StockRequest): request is WebhookRequest {
  return 'newWebhook' in request || 'webhookChange' in request
}

/** Whether the orders of its pets have to be known: of one that is removed, whether any is open. */
export function concernsOrders(request: StockRequest): boolean {
  return isOrderRequest(request) || 'removedPet' in request
}

/** How many changes it takes the room of in a commit. */
export function sizeOf(request: StockRequest): number {
  if (isAdjustment(request)) return request.changes.length
  if (isCategoryRequest(request)) return MAX_CHANGES
  return 'holdsOf' in request ? request.holdsOf.length : 1
}

export function forEachPet(request: StockRequest, visit: (petId: bigint) => void): void {
  if (isAdjustment(request)) for (const { petId } of request.changes) visit(petId)
  else if ('draft' in request) visit(request.draft.petId)
  else if ('holdsOf' in request) for (const petId of request.holdsOf) visit(petId)
  else if ('removedPet' in request) visit(request.removedPet)
  else if ('newPet' in request) {
    if (request.newPet.id !== undefined) visit(request.newPet.id)
  } else if ('petId' in request && request.petId !== undefined) visit(request.petId)
}

export function somePet(request: StockRequest, test: (petId: bigint) => boolean): boolean {
  let isFound = false
  forEachPet(request, (petId) => {
    isFound ||= test(petId)
  })
  return isFound
}

export function petIdsOf(requests: readonly StockRequest[]): bigint[] {
  const petIds: bigint[] = []
  for (const request of requests) forEachPet(request, (petId) => petIds.push(petId))
  return petIds
}

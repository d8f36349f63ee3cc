import type { Category, CategoryPatch, NewCategory } from '../catalog/category.ts'
import type { NewPet, PetPatch, PetUpsert, StockedPet } from '../catalog/pet.ts'
import type { FileOrder, NewOrder, NewOrderLine, Order, OrderPatch } from '../orders/order.ts'
import type { ErrorDetail } from '../values/errors.ts'
import type { TagCondition } from '../values/record-tag.ts'
import type { Webhook, WebhookPatch } from '../webhooks/webhook.ts'
import type { Adjustment, ReversalReason } from './adjustment.ts'
import type { ChangeOrigin } from './change-origin.ts'
import type { TooLate } from './facts.ts'
import type { EntryState, InventoryItem } from './inventory.ts'
import type { RecordedDocument } from './stock-draft.ts'

/** The maximum number of changes in one commit. Keeps commits short, because readers and later commands wait for them. */
export const MAX_CHANGES = 1_000

interface UrlCheck {
  /** Why deliveries to the url are not allowed; `undefined` if they are. If it is set, the command changes nothing. */
  readonly urlProblem?: string | undefined
}

/** The fields of each command, in addition to its type and origin. */
interface CommandFields {
  /**
   * Records an adjustment. Each pet may occur once. Either all of its changes are made or none; with `onConflict`, those that fail
   * because of the stock are left out.
   */
  adjust: {
    changes: readonly AdjustmentChange[]
    /** When it happened; now, if absent. */
    occurredAt?: number | undefined
    note?: string | undefined
    orderId?: bigint | undefined
    /** Refuses to take units that open orders reserve. */
    keepReserved?: boolean | undefined
    onConflict?: 'skip' | 'fail' | undefined
    /** A change fails unless the entry has the quantity and status of one of these. `undefined` allows any. */
    onlyIf?: readonly EntryState[] | undefined
  }
  /** Reverses the named units of an adjustment or, without `lines`, all that are left. */
  reverse: {
    adjustment: Adjustment
    reason: ReversalReason
    lines?: readonly { readonly petId: bigint; readonly quantity: number }[] | undefined
    occurredAt?: number | undefined
    note?: string | undefined
  }
  /**
   * Reserves all lines of the order or none. With `complete`, the units leave the stock at once: only available ones, unless
   * `evenIfReserved`.
   */
  create_order: {
    order: NewOrder
    complete?: boolean | undefined
    /** When the goods left; now, if absent. */
    occurredAt?: number | undefined
    evenIfReserved?: boolean | undefined
  }
  /**
   * Takes all lines out of the stock or none. With `onlyIfOpen`, an order that is already complete is refused as closed. With
   * `evenIfExpired`, an expired hold is completed if its units are still available.
   */
  complete_order: NamedOrder &
    TagCondition & {
      onlyIfOpen?: boolean | undefined
      evenIfExpired?: boolean | undefined
      occurredAt?: number | undefined
    }
  cancel_order: NamedOrder & TagCondition
  change_order: NamedOrder &
    TagCondition & {
      patch: OrderPatch
      /** Replaces the lines. */
      lines?: readonly NewOrderLine[] | undefined
      /** Restarts the hold from now; null makes the order firm. */
      holdSeconds?: number | null | undefined
    }
  /** Creates an order of a file, or changes the order that has its id. */
  import_order: { order: FileOrder }
  /** Releases those of the orders that are expired holds. */
  release_holds: { orderIds: readonly bigint[]; petIds: readonly bigint[] }
  create_pet: { pet: NewPet }
  update_pet: TagCondition & { petId: bigint; patch: PetPatch }
  /**
   * Creates or updates all of its pets or none. Each id and each barcode may occur once. Unless `canChangeStock`, the command
   * is refused if it changes the quantity of an existing pet or creates a pet with a quantity.
   */
  upsert_pets: { canChangeStock: boolean; pets: readonly PetUpsert[] }
  /** With `onlyIfEmpty`, the command is refused if the pet has a quantity. */
  remove_pet: TagCondition & { petId: bigint; onlyIfEmpty?: boolean | undefined }
  create_category: { category: NewCategory }
  /** A new threshold is applied to the pets of the category later: see core/catalog/threshold-changes.ts. */
  update_category: TagCondition & { categoryId: bigint; patch: CategoryPatch }
  /** Gives these pets the thresholds that apply to them now. */
  apply_thresholds: { petIds: readonly bigint[] }
  remove_category: TagCondition & { categoryId: bigint }
  create_webhook: { webhook: Webhook } & UrlCheck
  update_webhook: TagCondition & { webhookId: bigint; patch: WebhookPatch } & UrlCheck
  rotate_webhook_secret: { webhookId: bigint; secret: string }
  /** Sends the events after the cursor again. */
  replay_webhook: { webhookId: bigint; cursor: string }
  take_over_webhook: { webhookId: bigint }
  remove_webhook: TagCondition & { webhookId: bigint }
  /** Changes nothing. Its answer is that of an import, which has several commands. */
  remember_answer: unknown
}

export type AdjustmentChange = {
  /** `undefined` if no pet has the barcode. */
  readonly petId: bigint | undefined
  /** The barcode by which the caller has named the pet. */
  readonly barcode?: string | undefined
  /** The change is refused unless this is the current quantity. `undefined` allows any quantity. */
  readonly expected?: number | undefined
} & (
  | { readonly delta: number; readonly quantity?: undefined }
  | { readonly quantity: number; readonly delta?: undefined }
)

export interface NamedOrder {
  orderId: bigint
  /**
   * The pets of the order when it was read, which the commit locks before it reads the order again. If the order has other pets by
   * then, the commit is tried again with these.
   */
  petIds: readonly bigint[]
}

export type CommandType = keyof CommandFields

/** A request to change something. The store decides and commits it. */
export type Command = {
  [Type in CommandType]: ChangeOrigin & Readonly<{ type: Type } & CommandFields[Type]>
}[CommandType]

export type CommandOf<Type extends CommandType> = Extract<Command, { readonly type: Type }>

/** The possible outcomes of each command. Every outcome except `done` means that nothing was changed. */
interface OutcomeByCommand {
  /** `refused` names all changes that cannot be made; `skipped`, those that were left out. `items` are the entries afterwards. */
  adjust: AdjustmentDone<{ skipped: readonly ErrorDetail[] }> | Refused | TooLate
  reverse: AdjustmentDone | Refused | TooLate | OutcomeOfType<'already_reversed', { message: string }>
  /** `refused` names all lines that cannot be reserved or taken. */
  create_order: OrderDone | Refused | TooLate
  complete_order: OrderDone | Refused | TooLate | OrderClosed | UnknownOrder | RecordChanged
  cancel_order: OrderDone | OrderClosed | UnknownOrder | RecordChanged
  change_order: OrderDone | Refused | OrderClosed | UnknownOrder | RecordChanged
  import_order:
    | Done<{ change: 'added' | 'changed' | 'unchanged' }>
    | OutcomeOfType<'invalid_order', { reason: string }>
  release_holds: Done
  create_pet: PetDone | InvalidCategory | OutcomeOfType<'pet_exists', { petId: bigint }> | BarcodeTaken
  update_pet: PetDone | InvalidCategory | UnknownPet | BarcodeTaken | RecordChanged
  /** Either the pets after the changes, in the order of the command, or all pets that cannot be created or updated. */
  upsert_pets: Done<{ pets: readonly StockedPet[]; created: number }> | Refused
  remove_pet:
    | Done
    | UnknownPet
    | OutcomeOfType<'pet_reserved', { reserved: number }>
    | OutcomeOfType<'pet_has_stock'>
    | RecordChanged
  create_category: CategoryDone | OutcomeOfType<'category_exists', { categoryId: bigint }> | CategoryNameTaken
  update_category: CategoryDone | UnknownCategory | RecordChanged | CategoryNameTaken
  apply_thresholds: Done
  remove_category: Done | UnknownCategory | OutcomeOfType<'category_has_pets'> | RecordChanged
  /** `too_many_webhooks` if the store already has the maximum number of webhooks. */
  create_webhook: WebhookDone | InvalidUrl | OutcomeOfType<'too_many_webhooks'>
  update_webhook: WebhookDone | InvalidUrl | UnknownWebhook | RecordChanged
  rotate_webhook_secret: WebhookDone | UnknownWebhook
  replay_webhook: WebhookDone | UnknownWebhook
  take_over_webhook: WebhookDone | UnknownWebhook
  remove_webhook: Done | UnknownWebhook | RecordChanged
  remember_answer: Done
}

type OutcomeOfType<Type extends string, Fields = unknown> = Readonly<{ type: Type } & Fields>
type Done<Fields = unknown> = OutcomeOfType<'done', Fields>
type AdjustmentDone<Fields = unknown> = Done<
  { document: RecordedDocument; items: readonly InventoryItem[] } & Fields
>

/** The record has none of the tags in `onlyIfTags`. */
export type RecordChanged = OutcomeOfType<'record_changed'>
export type Refused = OutcomeOfType<'refused', { failures: readonly ErrorDetail[] }>
export type OrderDone = Done<{ order: Order }>
export type OrderClosed = OutcomeOfType<'order_closed', { order: Order }>
export type UnknownOrder = OutcomeOfType<'unknown_order'>
export type UnknownPet = OutcomeOfType<'unknown_pet'>
type PetDone = Done<{ pet: StockedPet }>
/** The category of the pet does not exist. Callers get `invalid_request`. */
export type InvalidCategory = OutcomeOfType<'invalid_category', { categoryId: bigint }>
/** `petId` is the pet that has the barcode. */
export type BarcodeTaken = OutcomeOfType<'barcode_taken', { barcode: string; petId: bigint }>
type CategoryDone = Done<{ category: Category }>
/** `owner` is the category that has the name. */
export type CategoryNameTaken = OutcomeOfType<'category_name_taken', { owner: Category }>
type UnknownCategory = OutcomeOfType<'unknown_category'>
export type WebhookDone = Done<{ webhook: Webhook }>
/** Deliveries to the url of the webhook are not allowed. Callers get `invalid_request`. */
export type InvalidUrl = OutcomeOfType<'invalid_url', { problem: string }>
export type UnknownWebhook = OutcomeOfType<'unknown_webhook'>

export type Outcome = OutcomeByCommand[CommandType]
export type OutcomeOf<Type extends CommandType> = OutcomeByCommand[Type]

/** Makes a command idempotent: the store remembers its answer and returns it when the command is sent again. */
export interface Idempotency<O> {
  /** Chosen by the caller. Different callers may choose the same key; their answers are kept apart. */
  readonly key: string
  /** Shows whether a command with the same key is the same command. */
  readonly fingerprint: string
  /**
   * The text to remember for an outcome. A method, because method parameters are bivariant: an `Idempotency` of one type of
   * outcome can then be used as `Idempotency<Outcome>`.
   */
  answer(outcome: O): string
}

export type SubmittedCommand = Command & { readonly idempotency?: Idempotency<Outcome> | undefined }

export type KeyedAnswer<O = Outcome> = { readonly type: 'decided'; readonly outcome: O } | EarlierAnswer

/** The idempotency key was used before. Nothing was changed. */
export type EarlierAnswer =
  /** A replay answers as before. */
  | { readonly type: 'replayed'; readonly answer: string }
  /** The key belongs to another command. */
  | { readonly type: 'key_reused' }

type ResultOf<C extends SubmittedCommand> = C extends unknown
  ? 'idempotency' extends keyof C
    ? OutcomeOf<C['type']> | KeyedAnswer<OutcomeOf<C['type']>>
    : OutcomeOf<C['type']>
  : never

export type Result = Outcome | KeyedAnswer

export type ResultsOf<Commands extends readonly SubmittedCommand[]> = {
  -readonly [Index in keyof Commands]: Commands[Index] extends SubmittedCommand
    ? ResultOf<Commands[Index]>
    : never
}

/** Gives the results their types: the store returns the result of each command at the index of the command. */
export function typedResults<const Commands extends readonly SubmittedCommand[]>(
  _commands: Commands,
  results: readonly Result[],
): ResultsOf<Commands> {
  return results as ResultsOf<Commands>
}

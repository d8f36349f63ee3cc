import type { Category, CategoryDraft, CategoryPatch } from '../catalog/category.ts'
import type { PetDraft, PetPatch, PetUpsert, StockedPet } from '../catalog/pet.ts'
import type { NewOrder, Order, OrderPatch } from '../orders/order.ts'
import type { ErrorDetail } from '../values/errors.ts'
import type { Webhook, WebhookPatch } from '../webhooks/webhook.ts'
import type { Reason } from './adjustment-fields.ts'
import type { EntryState, InventoryItem } from './inventory.ts'

/** The maximum number of changes in one adjustment, and of pets in one batch. */
export const MAX_CHANGES = 1_000

/** The key id that the log records for changes that no API key made. */
export const STORE_KEY_ID = 'petstore'

/** The key, the time and the reason of a change. The log records them. */
export interface ChangeOrigin {
  readonly keyId: string
  readonly at: number
  readonly reason?: Reason | undefined
  readonly reference?: string | undefined
}

interface CommandOfType<Type extends string> extends ChangeOrigin {
  readonly type: Type
}

export interface SetQuantity extends CommandOfType<'set_quantity'> {
  readonly petId: bigint
  readonly quantity: number
  /** The command changes nothing unless the entry is in one of these states. `undefined` allows any state. */
  readonly onlyIf?: readonly EntryState[] | undefined
}

/** Makes all of its changes or none. Each pet may occur once. */
export interface Adjust extends CommandOfType<'adjust'> {
  /** Refuses to take units that open orders reserve. */
  readonly keepReserved?: boolean | undefined
  readonly changes: readonly AdjustmentChange[]
}

export type AdjustmentChange = {
  readonly petId: bigint
  /** The change is refused unless this is the current quantity. `undefined` allows any quantity. */
  readonly expected?: number | undefined
} & (
  | { readonly delta: number; readonly quantity?: undefined }
  | { readonly quantity: number; readonly delta?: undefined }
)

export interface CreateOrder extends CommandOfType<'create_order'> {
  readonly draft: NewOrder
}

/** Creates all orders or none. */
export interface CreateOrders extends CommandOfType<'create_orders'> {
  readonly drafts: readonly NewOrder[]
}

interface OrderCommandOfType<Type extends string> extends CommandOfType<Type> {
  readonly orderId: bigint
  /**
   * The order's pet, which the caller looks up before the commit; `undefined` if the order does not exist. The commit locks
   * the pet, then reads the order.
   */
  readonly petId: bigint | undefined
}

export interface CompleteOrder extends OrderCommandOfType<'complete_order'> {
  /** If true, an order that is already complete is refused as closed. */
  readonly onlyIfOpen?: boolean | undefined
}

export interface CancelOrder extends OrderCommandOfType<'cancel_order'> {}

export interface ChangeOrder extends OrderCommandOfType<'change_order'> {
  readonly patch: OrderPatch
}

/** Releases the expired holds of these pets. Every other command that reads orders does so as well. */
export interface ReleaseHolds extends CommandOfType<'release_holds'> {
  readonly petIds: readonly bigint[]
}

export interface CreatePet extends CommandOfType<'create_pet'> {
  readonly draft: PetDraft
}

export interface UpdatePet extends CommandOfType<'update_pet'> {
  readonly petId: bigint
  readonly patch: PetPatch
}

/** Creates or updates all of its pets or none. Each id and each barcode may occur once. */
export interface UpsertPets extends CommandOfType<'upsert_pets'> {
  /** If false, the command is refused if it changes the quantity of an existing pet. */
  readonly canChangeStock: boolean
  readonly pets: readonly PetUpsert[]
}

export interface RemovePet extends CommandOfType<'remove_pet'> {
  readonly petId: bigint
}

export interface CreateCategory extends CommandOfType<'create_category'> {
  readonly draft: CategoryDraft
}

export interface UpdateCategory extends CommandOfType<'update_category'> {
  readonly categoryId: bigint
  readonly patch: CategoryPatch
}

export interface RemoveCategory extends CommandOfType<'remove_category'> {
  readonly categoryId: bigint
}

export interface CreateWebhook extends CommandOfType<'create_webhook'> {
  readonly webhook: Webhook
}

export interface UpdateWebhook extends CommandOfType<'update_webhook'> {
  readonly webhookId: bigint
  readonly patch: WebhookPatch
}

export interface RotateWebhookSecret extends CommandOfType<'rotate_webhook_secret'> {
  readonly webhookId: bigint
  readonly secret: string
}

/** Makes a webhook continue at another place in the log. */
export interface MoveWebhook extends CommandOfType<'move_webhook'> {
  readonly webhookId: bigint
  readonly cursor: string
  /**
   * When a relist became due; `undefined` if no relist is needed. The relist is sent before any event. It asks the
   * receiver to read the whole stock again.
   */
  readonly relistAt?: number | undefined
  /** The command changes nothing if the webhook has another revision. `undefined` allows any revision. */
  readonly onlyIfRevision?: number | undefined
}

export interface RemoveWebhook extends CommandOfType<'remove_webhook'> {
  readonly webhookId: bigint
}

/** A request to change something. The store decides and commits it. */
export type Command =
  | SetQuantity
  | Adjust
  | CreateOrder
  | CreateOrders
  | CompleteOrder
  | CancelOrder
  | ChangeOrder
  | ReleaseHolds
  | CreatePet
  | UpdatePet
  | UpsertPets
  | RemovePet
  | CreateCategory
  | UpdateCategory
  | RemoveCategory
  | CreateWebhook
  | UpdateWebhook
  | RotateWebhookSecret
  | MoveWebhook
  | RemoveWebhook

export type CommandType = Command['type']

/** The possible outcomes of each command. Every outcome except `done` means that nothing was changed. */
export interface OutcomeByType {
  set_quantity:
    | { readonly type: 'done'; readonly item: InventoryItem }
    | { readonly type: 'conflict'; readonly item: InventoryItem }
    | UnknownPet
  /** Either the items after the changes, in the order of the changes, or all changes that cannot be made. */
  adjust: { readonly type: 'done'; readonly items: readonly InventoryItem[] } | Refused
  create_order: OrderDone | InsufficientStock | UnknownPet
  /** Either the orders, in the order of their drafts, or all drafts that cannot be ordered. */
  create_orders: { readonly type: 'done'; readonly orders: readonly Order[] } | Refused
  complete_order: OrderDone | InsufficientStock | OrderClosed | UnknownOrder
  cancel_order: OrderDone | OrderClosed | UnknownOrder
  change_order: OrderDone | OrderClosed | UnknownOrder
  release_holds: { readonly type: 'done'; readonly expired: number }
  create_pet: PetDone | InvalidCategory | PetExists | BarcodeTaken
  update_pet: PetDone | InvalidCategory | UnknownPet | BarcodeTaken
  /** Either the pets after the changes, in the order of the command, or all pets that cannot be created or updated. */
  upsert_pets:
    | { readonly type: 'done'; readonly pets: readonly StockedPet[]; readonly created: number }
    | Refused
  remove_pet: RemovalDone | UnknownPet | { readonly type: 'pet_reserved'; readonly reserved: number }
  create_category: CategoryDone | { readonly type: 'category_exists'; readonly categoryId: bigint }
  update_category: CategoryDone | UnknownCategory
  remove_category: RemovalDone | UnknownCategory | { readonly type: 'category_has_pets' }
  create_webhook: WebhookDone | TooManyWebhooks
  update_webhook: WebhookDone | UnknownWebhook
  rotate_webhook_secret: WebhookDone | UnknownWebhook
  move_webhook: WebhookDone | UnknownWebhook | WebhookChanged
  remove_webhook: RemovalDone | UnknownWebhook
}

export interface Refused {
  readonly type: 'refused'
  readonly failures: readonly ErrorDetail[]
}

export interface OrderDone {
  readonly type: 'done'
  /** The order after the change. */
  readonly order: Order
}

export interface InsufficientStock {
  readonly type: 'insufficient_stock'
  readonly petId: bigint
  readonly wanted: number
  readonly available: number
}

export interface OrderClosed {
  readonly type: 'order_closed'
  readonly order: Order
}

export interface UnknownOrder {
  readonly type: 'unknown_order'
}

export interface UnknownPet {
  readonly type: 'unknown_pet'
}

interface PetDone {
  readonly type: 'done'
  readonly pet: StockedPet
}

/**
 * The category of the pet does not exist. Callers get `invalid_request`. The answer is not stored for the idempotency
 * key, so a retry with the same key is decided again.
 */
export interface InvalidCategory {
  readonly type: 'invalid_category'
  readonly categoryId: bigint
}

interface PetExists {
  readonly type: 'pet_exists'
  readonly petId: bigint
}

export interface BarcodeTaken {
  readonly type: 'barcode_taken'
  readonly barcode: string
  /** The pet that has the barcode. */
  readonly petId: bigint
}

interface CategoryDone {
  readonly type: 'done'
  readonly category: Category
}

interface UnknownCategory {
  readonly type: 'unknown_category'
}

export interface WebhookDone {
  readonly type: 'done'
  readonly webhook: Webhook
}

export interface UnknownWebhook {
  readonly type: 'unknown_webhook'
}

/**
 * The webhook was changed after the caller had read it. The answer is not stored for the idempotency key, so a retry
 * with the same key is decided again.
 */
export interface WebhookChanged {
  readonly type: 'webhook_changed'
}

/** The store, or the API key, already has the maximum number of webhooks. */
export interface TooManyWebhooks {
  readonly type: 'too_many_webhooks'
  readonly max: number
  readonly scope: 'store' | 'key'
}

interface RemovalDone {
  readonly type: 'done'
}

export type Outcome = OutcomeByType[CommandType]
export type OutcomeOf<C extends Command> = OutcomeByType[C['type']]

/** Makes a command idempotent: the store remembers its answer and returns it when the command is sent again. */
export interface Idempotency<O> {
  /** Chosen by the caller; keys of different callers never collide. */
  readonly key: string
  /** Shows whether a command with the same key is the same command. */
  readonly fingerprint: string
  /**
   * The text that the store remembers for an outcome. Declared as a method because method parameters are bivariant: an
   * `Idempotency<OutcomeOf<C>>` then fits `Idempotency<Outcome>`.
   */
  answer(outcome: O): string
}

/** A command as the store receives it. */
export type SubmittedCommand = Command & { readonly idempotency?: Idempotency<Outcome> | undefined }

/** The result of a command with an idempotency key. */
export type KeyedAnswer =
  /** A replay answers as before and changes nothing. */
  | { readonly type: 'answered'; readonly answer: string; readonly isReplay: boolean }
  /** The key belongs to another command. */
  | { readonly type: 'key_reused' }

/** The result that the store returns for a command. */
export type ResultOf<C extends SubmittedCommand> = C extends unknown
  ? 'idempotency' extends keyof C
    ? OutcomeOf<C> | KeyedAnswer
    : OutcomeOf<C>
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

/** The data that a commit may have to read in addition to the entries of its pets. */
export type Section = 'orders' | 'catalog' | 'webhooks'

interface CommandTraits<C extends Command> {
  /** Calls `visit` with each pet that the commit must lock. */
  forEachPet(command: C, visit: (petId: bigint) => void): void
  reads(command: C): readonly Section[]
  /** How many changes the command counts as. A commit has room for MAX_CHANGES. */
  size(command: C): number
}

const visitPet = ({ petId }: { readonly petId: bigint }, visit: (petId: bigint) => void) => visit(petId)
const visitNoPet = () => {}
const sizeOne = () => 1
const readsNothing = () => []
/** Fills a commit: a change of a category may affect any number of pets, so no other command may share its commit. */
const fullCommitSize = () => MAX_CHANGES

function visitPetOfOrder(
  { petId }: CompleteOrder | CancelOrder | ChangeOrder,
  visit: (petId: bigint) => void,
) {
  if (petId !== undefined) visit(petId)
}

const WEBHOOK_TRAITS: CommandTraits<Command> = {
  forEachPet: visitNoPet,
  reads: () => ['webhooks'],
  size: sizeOne,
}
const CATEGORY_TRAITS: CommandTraits<Command> = {
  forEachPet: visitNoPet,
  reads: () => ['catalog'],
  size: fullCommitSize,
}
const ORDER_TRAITS: CommandTraits<CompleteOrder | CancelOrder | ChangeOrder> = {
  forEachPet: visitPetOfOrder,
  reads: () => ['orders'],
  size: sizeOne,
}

const COMMANDS: { readonly [Type in CommandType]: CommandTraits<Extract<Command, { type: Type }>> } = {
  set_quantity: { forEachPet: visitPet, reads: readsNothing, size: sizeOne },
  adjust: {
    forEachPet: ({ changes }, visit) => {
      for (const { petId } of changes) visit(petId)
    },
    // Orders are read to find expired holds, which no longer reserve units.
    reads: ({ keepReserved }) => (keepReserved ? ['orders'] : []),
    size: ({ changes }) => changes.length,
  },
  create_order: {
    forEachPet: ({ draft }, visit) => visit(draft.petId),
    reads: () => ['orders'],
    size: sizeOne,
  },
  create_orders: {
    forEachPet: ({ drafts }, visit) => {
      for (const { petId } of drafts) visit(petId)
    },
    reads: () => ['orders'],
    size: ({ drafts }) => drafts.length,
  },
  complete_order: ORDER_TRAITS,
  cancel_order: ORDER_TRAITS,
  change_order: ORDER_TRAITS,
  release_holds: {
    forEachPet: ({ petIds }, visit) => {
      for (const petId of petIds) visit(petId)
    },
    reads: () => ['orders'],
    size: ({ petIds }) => petIds.length,
  },
  create_pet: {
    forEachPet: ({ draft }, visit) => {
      if (draft.id !== undefined) visit(draft.id)
    },
    reads: () => ['catalog'],
    size: sizeOne,
  },
  update_pet: { forEachPet: visitPet, reads: () => ['catalog'], size: sizeOne },
  upsert_pets: {
    forEachPet: ({ pets }, visit) => {
      for (const { id } of pets) if (id !== undefined) visit(id)
    },
    reads: () => ['catalog'],
    size: ({ pets }) => pets.length,
  },
  // Reads orders because an expired hold does not prevent the removal of its pet.
  remove_pet: { forEachPet: visitPet, reads: () => ['catalog', 'orders'], size: sizeOne },
  create_category: CATEGORY_TRAITS,
  update_category: CATEGORY_TRAITS,
  remove_category: CATEGORY_TRAITS,
  create_webhook: WEBHOOK_TRAITS,
  update_webhook: WEBHOOK_TRAITS,
  rotate_webhook_secret: WEBHOOK_TRAITS,
  move_webhook: WEBHOOK_TRAITS,
  remove_webhook: WEBHOOK_TRAITS,
}

function traitsOf(command: Command): CommandTraits<Command> {
  return COMMANDS[command.type]
}

/** Whether any of the commands reads this section. */
export function needsSection(commands: readonly Command[], section: Section): boolean {
  return commands.some((command) => traitsOf(command).reads(command).includes(section))
}

export function sizeOf(command: Command): number {
  return traitsOf(command).size(command)
}

export function forEachPet(command: Command, visit: (petId: bigint) => void): void {
  traitsOf(command).forEachPet(command, visit)
}

export function somePet(command: Command, test: (petId: bigint) => boolean): boolean {
  let isFound = false
  forEachPet(command, (petId) => {
    isFound ||= test(petId)
  })
  return isFound
}

export function petIdsOf(commands: readonly Command[]): bigint[] {
  const petIds: bigint[] = []
  for (const command of commands) forEachPet(command, (petId) => petIds.push(petId))
  return petIds
}

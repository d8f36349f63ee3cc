import type { CatalogDraft } from '../catalog/catalog-draft.ts'
import { importOrder } from '../orders/import-order.ts'
import { petIdsOfLines } from '../orders/order.ts'
import type { OrdersDraft } from '../orders/orders-draft.ts'
import type { WebhooksDraft } from '../webhooks/webhooks-draft.ts'
import { adjust } from './adjust.ts'
import {
  type Command,
  type CommandOf,
  type CommandType,
  MAX_CHANGES,
  type Outcome,
  type OutcomeOf,
} from './command.ts'
import { reverse } from './reverse.ts'
import type { StockDraft } from './stock-draft.ts'

/** The state that a commit is building. A section that its commands do not read is `undefined`. */
interface Drafts {
  readonly stock: StockDraft
  readonly orders: OrdersDraft | undefined
  readonly catalog: CatalogDraft | undefined
  readonly webhooks: WebhooksDraft | undefined
}

/** The data that a commit may have to read in addition to the entries of its pets. */
export type Section = 'orders' | 'catalog' | 'webhooks'

/** The parameters are bivariant, because these are methods: so the definition of one type is also one of `Command`. */
interface CommandDefinition<C extends Command, O extends Outcome> {
  /** The pets that the commit must lock. */
  pets(command: C): readonly bigint[]
  reads(command: C): readonly Section[]
  /** How many changes the command counts as. A commit has room for MAX_CHANGES. */
  size(command: C): number
  /** The existing orders that the commit must read. */
  orders?(command: C): readonly bigint[]
  /** How many orders the command creates. */
  newOrders?(command: C): number
  decide(drafts: Drafts, command: C): O
}

/** Shared, because every command asks. */
const NOTHING: readonly never[] = []
const sizeOne = () => 1
const noPets = () => NOTHING
const petIfKnown = (petId: bigint | undefined): readonly bigint[] => (petId === undefined ? NOTHING : [petId])
const petOf = ({ petId }: { readonly petId: bigint | undefined }) => petIfKnown(petId)
const readsOrders = (): readonly Section[] => ['orders']
const petIdsIn = ({ petIds }: { readonly petIds: readonly bigint[] }) => petIds
const orderIdOf = ({ orderId }: { readonly orderId: bigint }) => [orderId]
const readsCatalog = (): readonly Section[] => ['catalog']

const ON_ORDER = {
  pets: petIdsIn,
  reads: readsOrders,
  size: ({ petIds }: { readonly petIds: readonly bigint[] }) => Math.max(1, petIds.length),
  orders: orderIdOf,
}
/** Fills a commit, because it locks the whole catalogue: no other command may share its commit. */
const ON_CATEGORY = { pets: noPets, reads: readsCatalog, size: () => MAX_CHANGES }
const ON_WEBHOOK = { pets: noPets, reads: (): readonly Section[] => ['webhooks'], size: sizeOne }

/** What each command needs, and what it decides. */
const COMMANDS: { readonly [Type in CommandType]: CommandDefinition<CommandOf<Type>, OutcomeOf<Type>> } = {
  adjust: {
    pets: ({ changes }) => changes.flatMap(({ petId }) => petIfKnown(petId)),
    reads: () => NOTHING,
    size: ({ changes }) => changes.length,
    decide: ({ stock }, command) => adjust(stock, command),
  },
  reverse: {
    pets: ({ adjustment, lines = adjustment.lines }) => lines.map(({ petId }) => petId),
    reads: () => NOTHING,
    // Fills a commit: the facts that it depends on are read before the commit, so no other command may add to them.
    size: () => MAX_CHANGES,
    decide: ({ stock }, command) => reverse(stock, command),
  },
  create_order: {
    pets: ({ order }) => petIdsOfLines(order.lines),
    reads: readsOrders,
    size: ({ order }) => order.lines.length,
    newOrders: () => 1,
    decide: (drafts, command) => ordersOf(drafts).create(command),
  },
  complete_order: { ...ON_ORDER, decide: (drafts, command) => ordersOf(drafts).complete(command) },
  cancel_order: { ...ON_ORDER, decide: (drafts, command) => ordersOf(drafts).cancel(command) },
  change_order: {
    pets: ({ petIds, lines = [] }) => [...petIds, ...petIdsOfLines(lines)],
    reads: readsOrders,
    size: ({ petIds, lines = [] }) => Math.max(1, petIds.length + lines.length),
    orders: orderIdOf,
    decide: (drafts, command) => ordersOf(drafts).change(command),
  },
  import_order: {
    pets: ({ order }) => petIdsOfLines(order.lines),
    reads: readsOrders,
    size: ({ order }) => order.lines.length,
    orders: ({ order }) => [order.id],
    decide: (drafts, command) => importOrder(ordersOf(drafts), command),
  },
  release_holds: {
    pets: petIdsIn,
    reads: readsOrders,
    size: ({ petIds }) => Math.max(1, petIds.length),
    orders: ({ orderIds }) => orderIds,
    decide: (drafts, command) => ordersOf(drafts).releaseExpired(command),
  },
  create_pet: {
    pets: ({ pet }) => petIfKnown(pet.id),
    reads: readsCatalog,
    size: sizeOne,
    decide: (drafts, command) => catalogOf(drafts).createPet(command),
  },
  update_pet: {
    pets: petOf,
    reads: readsCatalog,
    size: sizeOne,
    decide: (drafts, command) => catalogOf(drafts).updatePet(command),
  },
  upsert_pets: {
    pets: ({ pets }) => pets.flatMap(({ id }) => petIfKnown(id)),
    reads: readsCatalog,
    size: ({ pets }) => pets.length,
    decide: (drafts, command) => catalogOf(drafts).upsertPets(command),
  },
  remove_pet: {
    pets: petOf,
    reads: readsCatalog,
    size: sizeOne,
    decide: (drafts, command) => catalogOf(drafts).removePet(command),
  },
  create_category: { ...ON_CATEGORY, decide: (drafts, command) => catalogOf(drafts).createCategory(command) },
  update_category: { ...ON_CATEGORY, decide: (drafts, command) => catalogOf(drafts).updateCategory(command) },
  apply_thresholds: {
    pets: petIdsIn,
    reads: readsCatalog,
    size: ({ petIds }) => petIds.length,
    decide: (drafts, command) => catalogOf(drafts).applyThresholds(command),
  },
  remove_category: { ...ON_CATEGORY, decide: (drafts, command) => catalogOf(drafts).removeCategory(command) },
  create_webhook: { ...ON_WEBHOOK, decide: (drafts, command) => webhooksOf(drafts).create(command) },
  update_webhook: { ...ON_WEBHOOK, decide: (drafts, command) => webhooksOf(drafts).update(command) },
  rotate_webhook_secret: {
    ...ON_WEBHOOK,
    decide: (drafts, command) => webhooksOf(drafts).rotateSecret(command),
  },
  replay_webhook: { ...ON_WEBHOOK, decide: (drafts, command) => webhooksOf(drafts).replay(command) },
  take_over_webhook: { ...ON_WEBHOOK, decide: (drafts, command) => webhooksOf(drafts).takeOver(command) },
  remove_webhook: { ...ON_WEBHOOK, decide: (drafts, command) => webhooksOf(drafts).remove(command) },
  remember_answer: { pets: noPets, reads: () => NOTHING, size: sizeOne, decide: () => ({ type: 'done' }) },
}

const ordersOf = ({ orders }: Drafts) => requireDraft(orders, 'orders')
const catalogOf = ({ catalog }: Drafts) => requireDraft(catalog, 'catalog')
const webhooksOf = ({ webhooks }: Drafts) => requireDraft(webhooks, 'webhooks')

/** Throws only if a store has a bug: every store must read the sections that the commands of a commit need. */
function requireDraft<Draft>(draft: Draft | undefined, section: Section): Draft {
  if (draft === undefined) throw new Error(`the commit did not read the ${section} that its commands need`)
  return draft
}

function definitionOf(command: Command): CommandDefinition<Command, Outcome> {
  return COMMANDS[command.type]
}

export function decideCommand(drafts: Drafts, command: Command): Outcome {
  return definitionOf(command).decide(drafts, command)
}

/** Whether any of the commands reads this section. */
export function needsSection(commands: readonly Command[], section: Section): boolean {
  return commands.some((command) => definitionOf(command).reads(command).includes(section))
}

/** The rows that a command locks, apart from its idempotency key. */
export type LockTarget = 'stock' | 'catalog' | 'webhooks'

export function lockTargetOf(command: Command): LockTarget {
  const sections = definitionOf(command).reads(command)
  if (sections.includes('catalog')) return 'catalog'
  return sections.includes('webhooks') ? 'webhooks' : 'stock'
}

export function changeCountOf(command: Command): number {
  return definitionOf(command).size(command)
}

export function petIdsOfCommand(command: Command): readonly bigint[] {
  return definitionOf(command).pets(command)
}

export function petIdsOf(commands: readonly Command[]): bigint[] {
  return commands.flatMap(petIdsOfCommand)
}

export function orderIdsOf(commands: readonly Command[]): bigint[] {
  return commands.flatMap((command) => definitionOf(command).orders?.(command) ?? [])
}

export function newOrderCountOf(commands: readonly Command[]): number {
  return commands.reduce((count, command) => count + (definitionOf(command).newOrders?.(command) ?? 0), 0)
}

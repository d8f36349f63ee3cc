import { type CatalogChanges, CatalogDraft, type LockedCatalog } from '../catalog/catalog-draft.ts'
import {
  type LockedOrders,
  MAX_EXPIRED_HOLDS,
  type OrderChanges,
  OrdersDraft,
} from '../orders/orders-draft.ts'
import { HOUR } from '../values/clock.ts'
import type { ErrorDetail } from '../values/errors.ts'
import { MAX_QUANTITY } from '../values/field.ts'
import { type LockedWebhooks, type WebhookChanges, WebhooksDraft } from '../webhooks/webhooks-draft.ts'
import type {
  AdjustmentChange,
  Command,
  CommandOf,
  CommandType,
  Idempotency,
  KeyedAnswer,
  Outcome,
  OutcomeOf,
  Result,
  Section,
  SubmittedCommand,
} from './command.ts'
import { availableText, entryNotFound, type LockedEntry } from './inventory.ts'
import { toFailure } from './refusal.ts'
import { availableOf, type LogRecord, StockDraft } from './stock-draft.ts'

export interface Decision {
  readonly results: Result[]
  /** Whether the commit reached `MAX_EXPIRED_HOLDS`. If so, it only releases holds, and the commands need another commit. */
  readonly isPostponed: boolean
  /** In the order in which they were decided. */
  readonly records: readonly LogRecord[]
  /** The new quantity of each pet whose quantity changed after it was created. */
  readonly quantities: ReadonlyMap<bigint, number>
  /** The reserved units of each pet for which they changed. */
  readonly reserved: ReadonlyMap<bigint, number>
  /** Whether the pet is low now, for each pet that crossed its threshold. */
  readonly low: ReadonlyMap<bigint, boolean>
  /** The changes of each section; `undefined` if the commit did not read the section. */
  readonly orders: OrderChanges | undefined
  readonly catalog: CatalogChanges | undefined
  readonly webhooks: WebhookChanges | undefined
  readonly answers: readonly RememberedAnswer[]
}

/** The part of a decision that an import writes, too. Only commands change webhooks and answers. */
export type ImportableDecision = Pick<
  Decision,
  'records' | 'quantities' | 'reserved' | 'low' | 'orders' | 'catalog'
>

/** The state that a commit has locked and read for its commands, in addition to the entries of its pets. */
interface LockedState {
  readonly answers?: Answers | undefined
  readonly orders?: LockedOrders | undefined
  readonly catalog?: LockedCatalog | undefined
  readonly webhooks?: LockedWebhooks | undefined
}

/** The state that a commit is building. */
interface Drafts {
  readonly stock: StockDraft
  readonly orders: OrdersDraft | undefined
  readonly catalog: CatalogDraft | undefined
  readonly webhooks: WebhooksDraft | undefined
}

/** Decides the commands of one commit in order. Each command sees the changes of the commands before it. */
export function decide(
  commands: readonly SubmittedCommand[],
  entries: ReadonlyMap<bigint, LockedEntry>,
  locked: LockedState = {},
): Decision {
  const stock = new StockDraft(entries)
  const webhooks = locked.webhooks === undefined ? undefined : new WebhooksDraft(locked.webhooks)
  const orders = locked.orders === undefined ? undefined : new OrdersDraft(stock, locked.orders)
  const catalog = locked.catalog === undefined ? undefined : new CatalogDraft(stock, locked.catalog)
  const drafts = { stock, orders, catalog, webhooks }
  const answers = new AnswersDraft(locked.answers)
  const isPostponed = locked.orders !== undefined && locked.orders.expiredHolds.length >= MAX_EXPIRED_HOLDS
  const decideOne = (command: Command): Outcome => {
    const decideCommand: Decide<CommandType> = DECISIONS[command.type]
    const outcome = decideCommand(drafts, command)
    stock.logThresholdCrossings(command)
    return outcome
  }
  const results = (isPostponed ? [] : commands).map((command): Result => {
    const { idempotency } = command
    return idempotency === undefined
      ? decideOne(command)
      : answers.decideOnce(command, idempotency, () => decideOne(command))
  })
  return {
    results,
    isPostponed,
    records: stock.records,
    quantities: stock.quantities,
    reserved: stock.reserved,
    low: stock.low,
    orders: orders?.changes,
    catalog: catalog?.changes,
    webhooks,
    answers: [...answers.newAnswers.values()],
  }
}

/**
 * A method type, because method parameters are bivariant: a function that decides one type of command can then be used as
 * `Decide<CommandType>`.
 */
type Decide<Type extends CommandType> = {
  decide(drafts: Drafts, command: CommandOf<Type>): OutcomeOf<Type>
}['decide']

const DECISIONS: { readonly [Type in CommandType]: Decide<Type> } = {
  set_quantity: ({ stock }, command) => setQuantity(stock, command),
  adjust: ({ stock }, command) => adjust(stock, command),
  create_order: (drafts, command) => ordersOf(drafts).create(command),
  create_orders: (drafts, command) => ordersOf(drafts).createAll(command),
  complete_order: (drafts, command) => ordersOf(drafts).complete(command),
  cancel_order: (drafts, command) => ordersOf(drafts).cancel(command),
  change_order: (drafts, command) => ordersOf(drafts).change(command),
  release_holds: (drafts) => ({ type: 'done', expired: ordersOf(drafts).changes.expired }),
  create_pet: (drafts, command) => catalogOf(drafts).createPet(command),
  update_pet: (drafts, command) => catalogOf(drafts).updatePet(command),
  upsert_pets: (drafts, command) => catalogOf(drafts).upsertPets(command),
  remove_pet: (drafts, command) => catalogOf(drafts).removePet(command),
  create_category: (drafts, command) => catalogOf(drafts).createCategory(command),
  update_category: (drafts, command) => catalogOf(drafts).updateCategory(command),
  apply_thresholds: (drafts, command) => catalogOf(drafts).applyThresholds(command),
  remove_category: (drafts, command) => catalogOf(drafts).removeCategory(command),
  create_webhook: (drafts, command) => webhooksOf(drafts).create(command),
  update_webhook: (drafts, command) => webhooksOf(drafts).update(command),
  rotate_webhook_secret: (drafts, command) => webhooksOf(drafts).rotateSecret(command),
  replay_webhook: (drafts, command) => webhooksOf(drafts).replay(command),
  take_over_webhook: (drafts, command) => webhooksOf(drafts).takeOver(command),
  remove_webhook: (drafts, command) => webhooksOf(drafts).remove(command),
}

const ordersOf = ({ orders }: Drafts) => requireDraft(orders, 'orders')
const catalogOf = ({ catalog }: Drafts) => requireDraft(catalog, 'catalog')
const webhooksOf = ({ webhooks }: Drafts) => requireDraft(webhooks, 'webhooks')

/** Throws only if a store has a bug: every store must read the sections that the commands of a commit need. */
function requireDraft<Draft>(draft: Draft | undefined, section: Section): Draft {
  if (draft === undefined) throw new Error(`the commit did not read the ${section} that its commands need`)
  return draft
}

function setQuantity(stock: StockDraft, command: CommandOf<'set_quantity'>): OutcomeOf<'set_quantity'> {
  const { petId, onlyIf } = command
  const entry = stock.findEntry(petId)
  if (entry === undefined) return { type: 'unknown_pet' }
  const { quantity, status } = entry
  const isAllowed =
    onlyIf === undefined || onlyIf.some((state) => state.quantity === quantity && state.status === status)
  return isAllowed
    ? { type: 'done', item: stock.setQuantity(petId, command.quantity, command) }
    : { type: 'conflict', item: { petId, quantity, status } }
}

/** Changes nothing if any of the changes fails. */
function adjust(stock: StockDraft, command: CommandOf<'adjust'>): OutcomeOf<'adjust'> {
  const failures: ErrorDetail[] = []
  for (const [index, change] of command.changes.entries()) {
    const { petId } = change
    const entry = stock.findEntry(petId)
    if (entry === undefined) {
      failures.push(toFailure(entryNotFound(petId), index, petId))
      continue
    }
    const failure =
      expectationFailure(change, entry.quantity) ??
      (command.keepReserved ? reservedFailure(change, entry) : undefined) ??
      quantityFailure(change, entry.quantity)
    if (failure !== undefined) failures.push({ index, petId, ...failure })
  }
  if (failures.length > 0) return { type: 'refused', failures }
  const items = command.changes.map((change) => {
    const { quantity } = stock.requireEntry(change.petId)
    return stock.setQuantity(change.petId, quantityAfter(change, quantity), command)
  })
  return { type: 'done', items }
}

function quantityAfter(change: AdjustmentChange, quantity: number): number {
  return change.delta === undefined ? change.quantity : quantity + change.delta
}

type Failure = Omit<ErrorDetail, 'index' | 'petId'>

function expectationFailure({ petId, expected }: AdjustmentChange, quantity: number): Failure | undefined {
  if (expected === undefined || expected === quantity) return undefined
  return {
    code: 'precondition_failed',
    message: `the quantity of petId ${petId} is ${quantity}, not ${expected} as expected; read it again before you retry`,
  }
}

function quantityFailure(change: AdjustmentChange, quantity: number): Failure | undefined {
  const { petId, delta } = change
  const newQuantity = quantityAfter(change, quantity)
  if (delta !== undefined && newQuantity < 0) {
    return {
      code: 'insufficient_stock',
      message: `the quantity of petId ${petId} is ${quantity}, so ${-delta} cannot be taken away`,
      available: quantity,
    }
  }
  if (delta !== undefined && newQuantity > MAX_QUANTITY) {
    return {
      code: 'invalid_request',
      message: `the quantity of petId ${petId} is ${quantity}, and with ${delta} more it would be above ${MAX_QUANTITY}`,
    }
  }
  return undefined
}

/** The failure if the change would take units that open orders reserve. A change that takes no units never fails. */
function reservedFailure(change: AdjustmentChange, entry: LockedEntry): Failure | undefined {
  const { quantity, reserved } = entry
  const taken = quantity - quantityAfter(change, quantity)
  const available = availableOf(entry)
  if (taken <= 0 || taken <= available) return undefined
  return {
    code: 'insufficient_stock',
    message: `${availableText(change.petId, available)}, because open orders reserve ${reserved} of ${quantity}; ${taken} cannot be taken away`,
    available,
  }
}

/** How long a request with an Idempotency-Key can be repeated. */
export const ANSWERS_KEPT_HOURS = 24
export const ANSWERS_KEPT_MS = ANSWERS_KEPT_HOURS * HOUR
/** A remembered refusal has this many failures, so that it is short even if the request had 1,000 lines. */
export const MAX_REMEMBERED_FAILURES = 3

/** An answer as the store keeps it. It is written in the commit that decided the command. */
export interface RememberedAnswer {
  readonly keyId: string
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly answer: string
  readonly at: number
}

/** An idempotency key, the API key that sent it, and when. */
export type SentIdempotencyKey = Pick<RememberedAnswer, 'keyId' | 'idempotencyKey' | 'at'>

/** Identifies an answer. Neither part contains a space, so the ids of different answers differ. */
export function answerId({ keyId, idempotencyKey }: Omit<SentIdempotencyKey, 'at'>): string {
  return `${keyId} ${idempotencyKey}`
}

export type Answers = ReadonlyMap<string, RememberedAnswer>

/** The answers that a commit adds, on top of the remembered answers that it has read. */
class AnswersDraft {
  readonly newAnswers = new Map<string, RememberedAnswer>()
  readonly #remembered: Answers | undefined

  constructor(remembered: Answers | undefined) {
    this.#remembered = remembered
  }

  /** Decides the command if its idempotency key is new. Otherwise, returns the remembered answer or `key_reused`. */
  decideOnce(
    { keyId, at }: SubmittedCommand,
    idempotency: Idempotency<Outcome>,
    decideCommand: () => Outcome,
  ): KeyedAnswer {
    const { key: idempotencyKey, fingerprint } = idempotency
    const id = answerId({ keyId, idempotencyKey })
    const earlier = this.newAnswers.get(id) ?? this.#remembered?.get(id)
    if (earlier !== undefined && at - earlier.at < ANSWERS_KEPT_MS) {
      return earlier.fingerprint === fingerprint
        ? { type: 'answered', answer: earlier.answer, isReplay: true }
        : { type: 'key_reused' }
    }
    const outcome = decideCommand()
    const answer = idempotency.answer(outcome, Number.POSITIVE_INFINITY)
    if (mustRemember(outcome)) {
      const isRefusal = outcome.type === 'refused'
      const remembered = isRefusal ? idempotency.answer(outcome, MAX_REMEMBERED_FAILURES) : answer
      this.newAnswers.set(id, { keyId, idempotencyKey, fingerprint, answer: remembered, at })
    }
    return { type: 'answered', answer, isReplay: false }
  }
}

/** The answer is not remembered if the command is invalid or forbidden, so a retry is decided again. */
function mustRemember(outcome: Outcome): boolean {
  switch (outcome.type) {
    case 'invalid_category':
    case 'pet_has_stock':
    case 'invalid_url':
      return false
    case 'refused':
      return outcome.failures.every(({ code }) => code !== 'invalid_request' && code !== 'forbidden')
    default:
      return true
  }
}

/** The distinct idempotency keys of the commands. They are sorted, so that two commits never deadlock over their keys. */
export function idempotencyKeysOf(commands: readonly SubmittedCommand[]): SentIdempotencyKey[] {
  const keys = new Map<string, SentIdempotencyKey>()
  for (const { keyId, at, idempotency } of commands) {
    if (idempotency === undefined) continue
    const key = { keyId, idempotencyKey: idempotency.key, at }
    keys.set(answerId(key), key)
  }
  return [...keys].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, key]) => key)
}

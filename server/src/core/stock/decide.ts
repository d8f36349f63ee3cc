import { type CatalogChanges, CatalogDraft, type LockedCatalog } from '../catalog/catalog-draft.ts'
import {
  type LockedOrders,
  MAX_EXPIRED_HOLDS,
  type OrderChanges,
  OrdersDraft,
} from '../orders/orders-draft.ts'
import { HOUR } from '../values/clock.ts'
import { type LockedWebhooks, type WebhookChanges, WebhooksDraft } from '../webhooks/webhooks-draft.ts'
import type { Command, Idempotency, KeyedAnswer, Outcome, Result, SubmittedCommand } from './command.ts'
import { decideCommand } from './command-table.ts'
import type { LockedEntry } from './inventory.ts'
import { type LogRecord, StockDraft } from './stock-draft.ts'

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

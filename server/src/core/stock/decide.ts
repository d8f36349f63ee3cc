import { type CatalogChanges, CatalogDraft, type LockedCatalog } from '../catalog/catalog-draft.ts'
import { type LockedOrders, type OrderChanges, OrdersDraft } from '../orders/orders-draft.ts'
import { DAY, HOUR } from '../values/clock.ts'
import { type LockedWebhooks, type WebhookChanges, WebhooksDraft } from '../webhooks/webhooks-draft.ts'
import {
  type Command,
  type EarlierAnswer,
  type Idempotency,
  type KeyedAnswer,
  MAX_CHANGES,
  type Outcome,
  type Result,
  type SubmittedCommand,
} from './command.ts'
import { decideCommand } from './command-table.ts'
import { type FactAnswers, KnownFacts, MAX_LATENESS_DAYS } from './facts.ts'
import type { LockedEntry } from './inventory.ts'
import { type EntryChange, type LogRecord, StockDraft } from './stock-draft.ts'

export interface Decision {
  readonly results: Result[]
  /** In the order in which they were decided. Their ids follow each other, from `firstLogId` of the locked state on. */
  readonly records: readonly LogRecord[]
  /** The entries that changed. */
  readonly entries: ReadonlyMap<bigint, EntryChange>
  /** The changes of each section; `undefined` if the commit did not read the section. */
  readonly orders: OrderChanges | undefined
  readonly catalog: CatalogChanges | undefined
  readonly webhooks: WebhookChanges | undefined
  readonly answers: readonly RememberedAnswer[]
}

/** The part of a decision that an import writes, too. Only commands change webhooks and answers. */
export type ImportableDecision = Pick<Decision, 'records' | 'entries' | 'orders' | 'catalog'>

/** The state that a commit has locked and read for its commands, in addition to the entries of its pets. */
interface LockedState {
  /** The id of the first log row that the commit writes. Enough ids follow it. */
  readonly firstLogId?: bigint | undefined
  readonly facts?: FactAnswers | undefined
  readonly answers?: Answers | undefined
  readonly orders?: LockedOrders | undefined
  readonly catalog?: LockedCatalog | undefined
  readonly webhooks?: LockedWebhooks | undefined
}

/** The most log rows that a commit may write: three for each change. */
export const MAX_LOG_ROWS = 3 * MAX_CHANGES

/**
 * Decides the commands of one commit in order. Each command sees the changes of the commands before it. Throws `FactsNeeded` if a
 * command depends on earlier facts that `locked` lacks, and `PetsNeeded` if an order has pets that the commit did not lock.
 */
export function decide(
  commands: readonly SubmittedCommand[],
  entries: ReadonlyMap<bigint, LockedEntry>,
  locked: LockedState = {},
): Decision {
  const stock = new StockDraft(entries, new KnownFacts(locked.facts), locked.firstLogId)
  const webhooks = locked.webhooks === undefined ? undefined : new WebhooksDraft(locked.webhooks)
  const orders = locked.orders === undefined ? undefined : new OrdersDraft(stock, locked.orders)
  const catalog = locked.catalog === undefined ? undefined : new CatalogDraft(stock, locked.catalog)
  const drafts = { stock, orders, catalog, webhooks }
  const answers = new AnswersDraft(locked.answers)
  const decideOne = (command: Command): Outcome => {
    const outcome = decideCommand(drafts, command)
    stock.logThresholdCrossings(command)
    return outcome
  }
  const results = commands.map((command): Result => {
    const { idempotency } = command
    return idempotency === undefined
      ? decideOne(command)
      : answers.decideOnce(command, idempotency, () => decideOne(command))
  })
  if (stock.records.length > MAX_LOG_ROWS) {
    throw new Error(
      `a commit wrote ${stock.records.length} log rows, more than the ${MAX_LOG_ROWS} ids that it has`,
    )
  }
  return {
    results,
    records: stock.records,
    entries: stock.changes,
    orders: orders?.changes,
    catalog: catalog?.changes,
    webhooks,
    answers: [...answers.newAnswers.values()],
  }
}

/** How long a request with an Idempotency-Key can be repeated. */
export const ANSWERS_KEPT_HOURS = 24
export const ANSWERS_KEPT_MS = ANSWERS_KEPT_HOURS * HOUR
/** The same for a request that says when it happened, so that work done offline can be sent late and still only once. */
export const LATE_ANSWERS_KEPT_DAYS = MAX_LATENESS_DAYS + 1

function answerKeptMs(command: Command): number {
  const isDated = 'occurredAt' in command && command.occurredAt !== undefined
  return isDated ? LATE_ANSWERS_KEPT_DAYS * DAY : ANSWERS_KEPT_MS
}

/** Stands for the answer of a key that is only locked, and is not remembered. */
export const NO_ANSWER = ''

/** An answer as the store keeps it. It is written in the commit that decided the command. */
export interface RememberedAnswer {
  readonly keyId: string
  readonly idempotencyKey: string
  readonly fingerprint: string
  readonly answer: string
  /** When the answer need not be remembered any more. */
  readonly forgetAt: number
}

/** An idempotency key, and the API key that sent it. */
export type SentIdempotencyKey = Pick<RememberedAnswer, 'keyId' | 'idempotencyKey'> & {
  /** When the key can be forgotten if nothing is remembered for it. */
  readonly forgetAt: number
}

/** Identifies an answer. Neither part contains a space, so the ids of different answers differ. */
export function answerId({ keyId, idempotencyKey }: Omit<SentIdempotencyKey, 'forgetAt'>): string {
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
    command: SubmittedCommand,
    idempotency: Idempotency<Outcome>,
    decideCommand: () => Outcome,
  ): KeyedAnswer {
    const { keyId, at } = command
    const { key: idempotencyKey, fingerprint } = idempotency
    const id = answerId({ keyId, idempotencyKey })
    const earlier = earlierAnswer(this.newAnswers.get(id) ?? this.#remembered?.get(id), { fingerprint, at })
    if (earlier !== undefined) return earlier
    const outcome = decideCommand()
    if (mustRemember(outcome)) {
      const answer = idempotency.answer(outcome)
      const forgetAt = at + answerKeptMs(command)
      this.newAnswers.set(id, { keyId, idempotencyKey, fingerprint, answer, forgetAt })
    }
    return { type: 'decided', outcome }
  }
}

/** The answer to a request whose idempotency key has a remembered answer; `undefined` if the request must be decided. */
export function earlierAnswer(
  remembered: RememberedAnswer | undefined,
  { fingerprint, at }: Pick<RememberedAnswer, 'fingerprint'> & { readonly at: number },
): EarlierAnswer | undefined {
  if (remembered === undefined || at >= remembered.forgetAt) return undefined
  return remembered.fingerprint === fingerprint
    ? { type: 'replayed', answer: remembered.answer }
    : { type: 'key_reused' }
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
    const key = { keyId, idempotencyKey: idempotency.key, forgetAt: at + ANSWERS_KEPT_MS }
    keys.set(answerId(key), key)
  }
  return [...keys].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, key]) => key)
}

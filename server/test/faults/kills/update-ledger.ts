/** The outcome of an update, as far as its sender knows. Without a response it may or may not have been made. */
export type Fate = 'acknowledged' | 'refused' | 'unsure'

export interface SentUpdate {
  readonly petId: bigint
  /** Unique, so that a quantity identifies its update. */
  readonly quantity: number
  readonly began: number
  readonly ended: number
  readonly fate: Fate
  /** The quantity that its If-Match named: it may only have been made on top of that. */
  readonly onlyAfter?: number
}

/** A row of a pet's history. */
export interface Link {
  readonly id: string
  readonly before: number
  readonly after: number
}

/** What the service shows of one pet. */
export interface Shown {
  /** The whole history, or its newest part back to `latestId`, oldest first. */
  readonly links: readonly Link[]
  /** The quantity in each response that has it, by its name. */
  readonly quantities: Readonly<Record<string, number>>
}

/** One pet's updates, and its history so far. */
interface Account {
  readonly sent: Map<number, SentUpdate>
  /** Acknowledged, and not yet found in the history. */
  readonly owed: Set<number>
  readonly unsure: Set<number>
  /** Missing after a crash, so they can never appear. */
  readonly gone: Set<number>
  readonly links: Link[]
}

const PATIENCE_MS = 60_000

/** Records every update of pets that start with quantity 0, and compares the store with it. */
export class UpdateLedger {
  readonly counts: Record<Fate, number> = { acknowledged: 0, refused: 0, unsure: 0 }
  readonly #accounts: ReadonlyMap<bigint, Account>
  #quantity = 0

  constructor(petIds: readonly bigint[]) {
    this.#accounts = new Map(
      petIds.map((petId) => [
        petId,
        { sent: new Map(), owed: new Set(), unsure: new Set(), gone: new Set(), links: [] },
      ]),
    )
  }

  nextQuantity(): number {
    return ++this.#quantity
  }

  /** Records the response to an update. An update of an unknown pet cannot appear anywhere. */
  note(update: SentUpdate): void {
    this.counts[update.fate]++
    const account = this.#accounts.get(update.petId)
    account?.sent.set(update.quantity, update)
    if (update.fate === 'acknowledged') account?.owed.add(update.quantity)
    if (update.fate === 'unsure') account?.unsure.add(update.quantity)
  }

  /** Resolves when this many more have been acknowledged. */
  async untilAcknowledged(more: number): Promise<void> {
    const enough = this.counts.acknowledged + more
    const deadline = performance.now() + PATIENCE_MS
    while (this.counts.acknowledged < enough) {
      if (performance.now() > deadline) throw new Error(`no ${more} updates within ${PATIENCE_MS / 1_000} s`)
      await Bun.sleep(1)
    }
  }

  /** The newest row that has been checked. */
  latestId(petId: bigint): string | undefined {
    return this.#accounts.get(petId)?.links.at(-1)?.id
  }

  /** The checked history, oldest first. */
  history(petId: bigint): readonly Link[] {
    return this.#accounts.get(petId)?.links ?? []
  }

  /** The violations in what the service shows of a pet. Nobody may update it meanwhile. */
  violations(petId: bigint, { links, quantities }: Shown): string[] {
    const account = this.#accounts.get(petId)
    if (account === undefined) return [`pet ${petId} is not known here`]
    const found: string[] = []
    const latest = account.links.at(-1)
    const start = latest === undefined ? 0 : links.findIndex(({ id }) => id === latest.id) + 1
    if (latest !== undefined && start === 0) {
      found.push(`its history has lost ${latest.before} → ${latest.after}, which was there before`)
    }
    const fresh = links.slice(start)
    for (const link of fresh) found.push(...linkViolations(account, link))
    found.push(...orderViolations(account, fresh))
    for (const quantity of account.owed) found.push(`${quantity} was acknowledged and is not in the history`)
    account.owed.clear()
    const last = account.links.at(-1)?.after ?? 0
    for (const [place, quantity] of Object.entries(quantities)) {
      if (quantity !== last) found.push(`${place} shows ${quantity}, and the history ends with ${last}`)
    }
    return found.map((text) => `pet ${petId}: ${text}`)
  }

  /** From here on, an unanswered update that is missing must never appear: nothing is left that could make it. */
  settle(): void {
    for (const { unsure, gone } of this.#accounts.values()) {
      for (const quantity of unsure) gone.add(quantity)
      unsure.clear()
    }
  }
}

/** Adds a row to the account. */
function linkViolations(account: Account, { id, before, after }: Link): string[] {
  const found: string[] = []
  const expected = account.links.at(-1)?.after ?? 0
  if (before !== expected) found.push(`${before} → ${after} follows on ${expected}`)
  const update = account.sent.get(after)
  if (update === undefined) found.push(`${after} was made and never sent`)
  else if (update.fate === 'refused') found.push(`${after} was refused and made`)
  else if (account.gone.has(after)) found.push(`${after} was gone after a crash and is back`)
  else if (update.fate === 'acknowledged' && !account.owed.has(after)) found.push(`${after} was made twice`)
  if (update?.onlyAfter !== undefined && update.onlyAfter !== before) {
    found.push(`${after} was to be made on ${update.onlyAfter} alone and was made on ${before}`)
  }
  account.owed.delete(after)
  account.unsure.delete(after)
  account.links.push({ id, before, after })
  return found
}

/** An update that was answered before another was sent comes before it. */
function orderViolations({ sent }: Account, fresh: readonly Link[]): string[] {
  const found: string[] = []
  let earliestEnd = Number.POSITIVE_INFINITY
  let earliest = 0
  for (const { after } of fresh.toReversed()) {
    const update = sent.get(after)
    if (update === undefined) continue
    if (update.began > earliestEnd) {
      found.push(`${after} stands before ${earliest}, which had been answered before ${after} was sent`)
    }
    if (update.fate === 'acknowledged' && update.ended < earliestEnd) {
      earliestEnd = update.ended
      earliest = after
    }
  }
  return found
}

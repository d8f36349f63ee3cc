import type { Connection, Session } from './connection.ts'

/** A store that is read has so many rows of the history to look at, and those that come while they are settled. */
const MOST_LATE = 100_000
/** Any number that nobody else takes. */
const SETTLE_LOCK = 0x736574746c65n

/**
 * Brings the stock up to its history: what many changes of a pet have come to is written once. Nobody waits for
 * it, and nothing that is acknowledged depends on it. One instance does it at a time.
 */
export class Settler {
  readonly #connection: Connection
  readonly #mostLate: number
  /** As far as we know; another instance may have come further. */
  #upTo = 0
  #isBusy = false

  constructor(connection: Connection, mostLate = MOST_LATE) {
    this.#connection = connection
    this.#mostLate = mostLate
  }

  /** To be told after each write. */
  noteEnd(position: number): void {
    if (this.#isBusy || position - this.#upTo < this.#mostLate) return
    this.#isBusy = true
    void this.#settle(position).finally(() => {
      this.#isBusy = false
    })
  }

  async #settle(position: number): Promise<void> {
    // Where it fails, or another instance is at it, not again with every write.
    this.#upTo = position - this.#mostLate / 2
    try {
      this.#upTo =
        (await this.#connection.longTransaction('write', (session) => settle(session, this.#mostLate))) ??
        this.#upTo
    } catch {
      // It was housekeeping; those who write and read tell if the database is in trouble.
    }
  }
}

/** Gives the place in the log up to which it has come; nothing where another instance is at it. */
async function settle(session: Session, mostLate: number): Promise<number | undefined> {
  const [turn] = await session<{ is_ours: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(${SETTLE_LOCK}) AS is_ours`
  if (turn?.is_ours !== true) return undefined
  const [span] = await session<{ up_to: bigint; position: bigint }[]>`
    SELECT up_to, position FROM settled, log_head`
  if (span === undefined) throw new Error('the database did not tell how far its stock is settled')
  if (span.position - span.up_to < mostLate) return Number(span.up_to)
  // Locked in the order of their ids, as an import does. What comes meanwhile is late still, and so counts.
  await session`
    WITH locked AS MATERIALIZED (
      SELECT settled_stock.pet_id, late_changes.after
      FROM settled_stock JOIN late_changes ON late_changes.pet_id = settled_stock.pet_id
      ORDER BY settled_stock.pet_id FOR NO KEY UPDATE OF settled_stock
    )
    UPDATE settled_stock SET quantity = locked.after FROM locked WHERE settled_stock.pet_id = locked.pet_id`
  await session`UPDATE settled SET up_to = ${span.position}`
  return Number(span.position)
}

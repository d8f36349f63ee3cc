import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { LimitStore } from '../core/limits/limit-store.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { ReportStore } from '../core/reports/report-store.ts'
import type { EventStore, HistoryStore, StockStore } from '../core/stock/stock-store.ts'
import type { ContentStore } from '../core/transfer/copy.ts'
import type { TransferStore } from '../core/transfer/transfer-store.ts'
import type { Clock } from '../core/values/clock.ts'
import type { DeliveryStore, WebhookStore } from '../core/webhooks/webhook-store.ts'

/**
 * All ports. Each method is atomic, and a change that it acknowledges is on disk. Methods throw
 * `ServiceError('service_unavailable')` if the database cannot answer.
 */
export interface Store
  extends StockStore,
    HistoryStore,
    EventStore,
    CatalogStore,
    OrderStore,
    ReportStore,
    KeyStore,
    LimitStore,
    WebhookStore,
    DeliveryStore,
    TransferStore,
    ContentStore {
  /**
   * The clock of PostgreSQL or, for a SQLite file, of this machine, but steady: see steady-clock.ts. All times in the store
   * come from this clock.
   */
  readonly clock: Clock

  /** Checks the whole database and describes each problem. */
  findDamage(): Promise<string[]>

  /** Describes each database setting that differs from the value that the service needs. */
  findWrongSettings(): Promise<string[]>

  /** Saves how the clock differs from the time since boot, for the next start. Throws while a jump of the clock is ignored. */
  checkClock(): Promise<void>

  /**
   * Removes data that orders have lost since the last call from places where the database still keeps it. Does nothing on
   * PostgreSQL, whose VACUUM does it.
   */
  finishErasures(): Promise<void>

  /** `undefined` without a folder for it, and on PostgreSQL, which archives its own log. */
  readonly backup: ContinuousBackup | undefined

  /** Resolves if the database answers and accepts changes. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Copies every commit to another disk. */
export interface ContinuousBackup {
  /** How old the newest commit may be that is lost with the database. */
  readonly ageMs: number
  /** Copies the commits since the last copy. Rejects while the folder of the backup fails. */
  copy(): Promise<void>
}

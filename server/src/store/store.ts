import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { LimitStore, UsageStore } from '../core/limits/limit-store.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { EventStore, HistoryStore, StockStore } from '../core/stock/stock-store.ts'
import type { ContentStore, TransferStore } from '../core/transfer/transfer-store.ts'
import type { Clock } from '../core/values/clock.ts'
import type { DeliveryStore, WebhookStore } from '../core/webhooks/webhook-store.ts'

/**
 * Everything the service keeps. Each verb is atomic on its own, and what it acknowledges is on disk.
 * A database that cannot answer throws `ServiceError('service_unavailable')`.
 */
export interface Store
  extends StockStore,
    HistoryStore,
    EventStore,
    CatalogStore,
    OrderStore,
    KeyStore,
    LimitStore,
    UsageStore,
    WebhookStore,
    DeliveryStore,
    TransferStore,
    ContentStore {
  /**
   * The time by the clock that everybody who uses the store shares: PostgreSQL's own, or that of the one process that
   * serves a SQLite file. Whatever is written to the store, or compared with what is in it, goes by this clock.
   */
  readonly clock: Clock

  /** Reads everything once and tells what is damaged: nothing, where all is well. */
  findDamage(): Promise<string[]>
  /** The latest time that a change was recorded with. */
  latestChangeAt(): Promise<number | undefined>

  /** Tells what is set otherwise than the service needs it: nothing, where all is well. */
  findWrongSettings(): Promise<string[]>

  /** Resolves when the database answers, and takes changes. */
  ping(): Promise<void>
  close(): Promise<void>
}

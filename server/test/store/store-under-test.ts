import type { Clock } from '../../src/core/values/clock.ts'
import type { SqlDatabase } from '../../src/store/sql.ts'
import type { Store } from '../../src/store/store.ts'

/** How a suite gets at an adapter of the storage port. */
export interface StoreUnderTest {
  /** A store that has a clock of its own goes by the one that is given. */
  open(clock?: Clock): Promise<Store>
  /** Another connection to the database of the store that is open. */
  connect(): Promise<SqlDatabase & { close(): Promise<void> | void }>
  /** Forgets everything, so that the next `open` finds an empty store. */
  discard(): Promise<void>
}

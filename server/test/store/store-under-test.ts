import type { Clock } from '../../src/core/values/clock.ts'
import type { SqlDatabase } from '../../src/store/sql.ts'
import type { Store } from '../../src/store/store.ts'

/** How a suite accesses an adapter of the store port. */
export interface StoreUnderTest {
  /** A store with a clock of its own uses the given one. */
  open(clock?: Clock): Promise<Store>
  /** Another connection to the database of the open store. */
  connect(): Promise<SqlDatabase & { close(): Promise<void> | void }>
  /** Discards everything, so that the next `open` finds an empty store. */
  discard(): Promise<void>
}

/** Without statistics, PostgreSQL reads the whole log for each pet when it looks for damage. */
export async function analyze(underTest: StoreUnderTest): Promise<void> {
  const database = await underTest.connect()
  await database.commit([{ text: 'ANALYZE', values: [] }])
  await database.close()
}

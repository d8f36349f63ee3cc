import type { Store } from '../../src/store/store.ts'

/** How a suite gets at an adapter of the storage port. */
export interface StoreUnderTest {
  open(): Promise<Store>
  /** Forgets everything, so that the next `open` finds an empty store. */
  discard(): Promise<void>
}

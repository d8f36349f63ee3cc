import type { Snapshot } from '../../src/core/transfer/transfer-store.ts'
import type { Store } from '../../src/store/store.ts'

type RowOf<Kind extends keyof Snapshot> =
  Snapshot[Kind] extends AsyncIterable<readonly (infer Row)[]> ? Row : never

/** All rows that an export of the store has. */
export function exportedRows<Kind extends keyof Snapshot>(store: Store, kind: Kind): Promise<RowOf<Kind>[]> {
  return store.readSnapshot(async (snapshot) => {
    const batches: AsyncIterable<readonly unknown[]> = snapshot[kind]
    return (await Array.fromAsync(batches)).flat() as RowOf<Kind>[]
  })
}

import { type ImportReport, type ImportRequest, importFile } from '../../src/core/transfer/import.ts'
import type { Store } from '../../src/store/store.ts'
import { groupCommit } from './apply-thresholds.ts'

/** Imports the text of a file as `petstore import` does. */
export function importText(
  store: Store,
  kind: ImportRequest['kind'],
  text: string,
  options: Partial<ImportRequest> = {},
): Promise<ImportReport> {
  return importFile(
    { store, commits: groupCommit(store), clock: store.clock },
    {
      kind,
      text,
      dryRun: false,
      canChangeStock: true,
      origin: { keyId: 'petstore-import', at: store.clock() },
      onStep: () => {},
      ...options,
    },
  )
}

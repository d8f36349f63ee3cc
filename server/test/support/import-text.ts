import {
  type ImportedFile,
  type ImportReport,
  type ImportRequest,
  importFiles,
} from '../../src/core/transfer/import.ts'
import type { Store } from '../../src/store/store.ts'
import { groupCommit } from './apply-thresholds.ts'

/** Imports the text of a file as `petstore import` does. */
export async function importText(
  store: Store,
  kind: ImportedFile['kind'],
  text: string,
  options: Partial<ImportRequest> = {},
): Promise<ImportReport> {
  const [report] = await importFiles(
    { store, commits: groupCommit(store), clock: store.clock },
    {
      files: [{ kind, text }],
      dryRun: false,
      canChangeStock: true,
      origin: { keyId: 'petstore-import', at: store.clock() },
      onStep: () => {},
      ...options,
    },
  )
  if (report === undefined) throw new Error('the import of a file must have a report')
  return report
}

import { expect, test } from 'bun:test'
import { runImport } from '../../src/cli/import-run.ts'
import { runInterruptible } from '../../src/cli/terminal.ts'
import type { AdjustmentChange } from '../../src/core/stock/command.ts'
import { STOCK_COUNT_ROW_KIND } from '../../src/core/transfer/adjustment.ts'
import type { StagedImport } from '../../src/core/transfer/import.ts'
import { ServiceError } from '../../src/core/values/errors.ts'
import { openShop } from './shop.ts'

test.each([
  ['before everything was written: nothing was changed', 1, 'counted', 'nothing was changed'],
  [
    'during the commit: the adjustment may have been made',
    2,
    'counted',
    'the adjustment may have been made: check GET /inventory/history before you run the command again',
  ],
  [
    'during the commit: the import may have been made',
    2,
    undefined,
    'the import may have been made: run the command again, which leaves imported rows unchanged',
  ],
] as const)('A database fails %s', async (_, written, reason, aftermath) => {
  const failure = new Error(`the database failed (it is gone); ${aftermath}`)
  await expect(importIntoFailingDatabase(written, reason)).rejects.toThrow(failure)
})

test('Ctrl-C during the commit does not claim that nothing was changed', async () => {
  const importing = runInterruptible('nothing was changed', () =>
    importIntoFailingDatabase(2, 'counted', () => process.emit('SIGINT', 'SIGINT')),
  )
  await expect(importing).rejects.toThrow('the adjustment may have been made')
})

async function importIntoFailingDatabase(
  written: number,
  reason: 'counted' | undefined,
  onApply?: () => void,
): Promise<void> {
  const shop = await openShop()
  const staged = await shop.store.stageAdjustment()
  const failing: StagedImport<AdjustmentChange> = {
    add: (rows) => staged.add(rows),
    finishStaging: (maxExamples) => staged.finishStaging(maxExamples),
    preview: (maxExamples) => staged.preview(maxExamples),
    discard: () => staged.discard(),
    apply: async ({ onProgress }) => {
      onProgress?.(written, 2)
      onApply?.()
      throw new ServiceError('service_unavailable', 'it cannot answer', { cause: new Error('it is gone') })
    },
  }
  async function* batches() {
    yield [1, 2].map((petId, index) => ({ line: index + 2, fields: [String(petId), '9'] }))
  }
  const file = {
    name: 'count.csv',
    signal: new AbortController().signal,
    rows: batches(),
    bytes: { chunks: (async function* () {})(), fractionRead: () => 1 },
  }
  const run = {
    rowKind: STOCK_COUNT_ROW_KIND,
    staged: failing,
    store: { clock: Date.now },
    reason,
    database: 'petstore.db',
  } as const
  try {
    await runImport(file, { show: 1, maxPause: 5 }, run)
  } finally {
    await shop.close()
  }
}

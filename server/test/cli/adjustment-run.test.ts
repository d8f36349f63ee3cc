import { expect, test } from 'bun:test'
import { runAdjustment } from '../../src/cli/adjustment-run.ts'
import { COUNT_ROWS } from '../../src/core/transfer/adjustment-rows.ts'
import type { StagedAdjustment } from '../../src/core/transfer/staged-adjustment.ts'
import { ServiceError } from '../../src/core/values/errors.ts'
import { openShop } from './shop.ts'

test.each([
  ['before everything was written, with nothing changed,', 1, 'nothing was changed'],
  [
    'during the commit, with an unknown outcome,',
    2,
    'it failed in the last moment, and the adjustment may have been made: see petstore history PETID before you give the file again',
  ],
])('A database connection lost %s is reported as such', async (_, written, aftermath) => {
  const shop = await openShop(false)
  const staged = await shop.store.stageAdjustment()
  const failing: StagedAdjustment = {
    add: (rows) => staged.add(rows),
    seal: (examples) => staged.seal(examples),
    preview: (examples) => staged.preview(examples),
    discard: () => staged.discard(),
    apply: async ({ onProgress }) => {
      onProgress?.(written, 2)
      throw new ServiceError('service_unavailable', 'it cannot answer', { cause: new Error('it is gone') })
    },
  }
  async function* batches() {
    yield [1, 2].map((petId, index) => ({ line: index + 2, fields: [String(petId), '9'] }))
  }
  const run = {
    ...{
      name: 'count.csv',
      signal: new AbortController().signal,
      source: { kind: 'count', batches: batches() },
    },
    bytes: { chunks: (async function* () {})(), fractionRead: () => 1 },
  }
  const purpose = {
    keyId: 'petstore-import',
    reason: 'counted',
    skipRefused: false,
    database: 'petstore.db',
    advice: 'Mend it',
    clock: Date.now,
    pause: undefined,
  } as const
  await expect(runAdjustment(run, { show: 1, maxPause: 5 }, COUNT_ROWS, failing, purpose)).rejects.toThrow(
    new Error(`the database failed (it is gone); ${aftermath}`),
  )
  await shop.close()
})

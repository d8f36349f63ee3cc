import { describe, expect, test } from 'bun:test'
import { pruneInBatches } from '../../src/cli/commands/history.ts'
import type { PruneLimit } from '../../src/core/stock/history.ts'

/** A log of times, oldest first. */
class Log {
  readonly batches: number[] = []
  times: number[]

  constructor(length: number) {
    this.times = Array.from({ length }, (_, index) => index)
  }

  async countPrunable(limit: PruneLimit) {
    const kept = 'keep' in limit ? limit.keep : this.times.filter((at) => at >= limit.before).length
    return { prunable: Math.max(0, this.times.length - kept), total: this.times.length }
  }

  async pruneHistory(limit: PruneLimit, batch: number): Promise<number> {
    const count = Math.min(batch, (await this.countPrunable(limit)).prunable)
    this.times = this.times.slice(count)
    this.batches.push(count)
    return count
  }
}

const run = (log: Log, limit: PruneLimit, signal = new AbortController().signal) => {
  const told: number[] = []
  return pruneInBatches(log, limit, { signal, onProgress: (removed) => told.push(removed) }).then(
    (removed) => ({ removed, told }),
  )
}

describe('history is removed in batches', () => {
  test.each([
    [{ before: 2_500 }, [1_000, 1_000, 500], [1_000, 2_000, 2_500]],
    [{ keep: 1_000 }, [1_000, 1_000, 1_000, 0], [1_000, 2_000, 3_000, 3_000]],
    [{ keep: 4_000 }, [0], [0]],
  ])('%j: only what the limit allows', async (limit, batches, told) => {
    const log = new Log(4_000)
    const outcome = await run(log, limit)
    expect([log.batches, outcome.told]).toEqual([batches, told])
    expect([outcome.removed, log.times.length]).toEqual([4_000 - log.times.length, 4_000 - outcome.removed])
    expect(await log.countPrunable(limit)).toMatchObject({ prunable: 0 })
  })

  test('with a pause after each batch, as long as the batch took', async () => {
    const log = new Log(3_000)
    let rested = 0
    let ended = performance.now()
    const slow = {
      countPrunable: (limit: PruneLimit) => log.countPrunable(limit),
      pruneHistory: async (limit: PruneLimit, batch: number) => {
        rested += performance.now() - ended
        await Bun.sleep(30)
        const count = await log.pruneHistory(limit, batch)
        ended = performance.now()
        return count
      },
    }
    await pruneInBatches(slow, { keep: 0 }, { signal: new AbortController().signal, onProgress: () => {} })
    expect(log.batches).toEqual([1_000, 1_000, 1_000, 0])
    expect(rested).toBeGreaterThanOrEqual(3 * 29)
  })

  test('and stops after the current batch when told to', async () => {
    const log = new Log(5_000)
    const controller = new AbortController()
    const removing = pruneInBatches(
      log,
      { keep: 0 },
      {
        signal: controller.signal,
        onProgress: (removed) => {
          if (removed === 2_000) controller.abort()
        },
      },
    )
    await expect(removing).rejects.toThrow()
    expect(log.batches).toEqual([1_000, 1_000])
  })
})

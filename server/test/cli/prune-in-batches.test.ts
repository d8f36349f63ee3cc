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
  const reported: number[] = []
  return pruneInBatches(log, limit, { signal, onProgress: (pruned) => reported.push(pruned) }).then(
    (pruned) => ({ pruned, reported }),
  )
}

describe('history is pruned in batches', () => {
  test.each([
    [{ before: 2_500 }, [1_000, 1_000, 500], [1_000, 2_000, 2_500]],
    [{ keep: 1_000 }, [1_000, 1_000, 1_000, 0], [1_000, 2_000, 3_000, 3_000]],
    [{ keep: 4_000 }, [0], [0]],
  ])('%j: only what the limit allows', async (limit, batches, reported) => {
    const log = new Log(4_000)
    const outcome = await run(log, limit)
    expect([log.batches, outcome.reported]).toEqual([batches, reported])
    expect([outcome.pruned, log.times.length]).toEqual([4_000 - log.times.length, 4_000 - outcome.pruned])
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

  test('and stops after the current batch when it is aborted', async () => {
    const log = new Log(5_000)
    const controller = new AbortController()
    const pruning = pruneInBatches(
      log,
      { keep: 0 },
      {
        signal: controller.signal,
        onProgress: (pruned) => {
          if (pruned === 2_000) controller.abort()
        },
      },
    )
    await expect(pruning).rejects.toThrow()
    expect(log.batches).toEqual([1_000, 1_000])
  })
})

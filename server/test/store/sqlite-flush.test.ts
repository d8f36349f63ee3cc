import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { Checkpointer, FlushQueue } from '../../src/store/sqlite/write-ahead-log.ts'
import { Reader } from '../../src/store/workers.ts'
import { addPets } from '../support/add-pets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { someTurns } from '../support/turns.ts'
import { until } from '../support/until.ts'
import { stockOf } from '../support/whole-store.ts'
import { change, pet } from './plain-rows.ts'

const PETS = 50
const MAX_LOG_BYTES = 200_000
const RESTARTS = 5
/** Offset of the restart counter in a write-ahead log. */
const RESTARTS_OFFSET = 12

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'petstore.db')
})

const ids = Array.from({ length: PETS }, (_, index) => BigInt(index))

const logSize = (databasePath = path) => statSync(`${databasePath}-wal`).size

function restartsOf(databasePath: string): number {
  return readFileSync(`${databasePath}-wal`).readUInt32BE(RESTARTS_OFFSET)
}

describe('a served SQLite file', () => {
  test('has a write-ahead log that restarts under constant writes', async () => {
    const store = openSqliteStore(path, { exclusive: true, maxLogBytes: MAX_LOG_BYTES })
    await addPets(
      store,
      ids.map((id) => pet(id, 0)),
    )
    const begun = restartsOf(path)
    let quantity = 0
    // Two callers, so that a write is always running or waiting. On a fast disk, writes never leave the event
    // loop, and the checkpoint's messages arrive only between its turns.
    const caller = async () => {
      while (restartsOf(path) < begun + RESTARTS) {
        await store.changeStock(ids.map((id) => change(id, ++quantity)))
        await someTurns()
      }
    }
    await Promise.all([caller(), caller()])
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    const file = new Database(path, { readonly: true })
    expect(file.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    file.close()
  })

  test('has a short write-ahead log, however large the changed rows are', async () => {
    const store = openSqliteStore(path, { exclusive: true, maxLogBytes: MAX_LOG_BYTES })
    await addPets(store, [pet(1n, 0)])
    const answer = 'x'.repeat(20_000)
    const commit = (key: string, size = 1) =>
      store.changeStock([
        { ...change(1n, 1), idempotency: { key, fingerprint: '', answer: () => answer.repeat(size) } },
      ])
    await commit('one large commit', 1_000)
    expect(logSize()).toBeGreaterThan(20_000_000)
    const begun = restartsOf(path)
    for (let written = 0; restartsOf(path) < begun + RESTARTS; written++) {
      await commit(`key ${written}`)
      await someTurns()
    }
    // The first commit after a restart shortens the file.
    await until(async () => {
      await commit('last')
      return logSize() <= 2 * MAX_LOG_BYTES
    })
    await store.close()
  })

  test('starts with an empty write-ahead log after a kill', async () => {
    const store = openSqliteStore(path, { exclusive: true })
    await addPets(
      store,
      ids.map((id) => pet(id, 0)),
    )
    await store.changeStock(ids.map((id) => change(id, 7)))
    const killed = join(folder, 'killed.db')
    for (const suffix of ['', '-wal']) copyFileSync(path + suffix, killed + suffix)
    await store.close()
    expect(logSize(killed)).toBeGreaterThan(0)
    const restarted = openSqliteStore(killed, { exclusive: true })
    expect(logSize(killed)).toBe(0)
    expect((await stockOf(restarted)).map(({ quantity }) => quantity)).toEqual(ids.map(() => 7))
    await restarted.close()
  })

  test('shows commits of another process together with its own', async () => {
    const store = openSqliteStore(path, { exclusive: true })
    await addPets(
      store,
      ids.map((id) => pet(id, 0)),
    )
    let cursor = await store.loadStock(() => {})
    const other = openSqliteStore(path)
    for (let quantity = 1; quantity <= 20; quantity++) {
      const own = store.changeStock([change(1n, quantity)])
      await other.changeStock([change(2n, quantity)])
      const seen = await store.stockChangesSince(cursor)
      if (seen === 'reload') throw new Error('there are few changes')
      expect(seen.updated.find(({ petId }) => petId === 2n)?.quantity).toBe(quantity)
      cursor = seen.cursor
      await own
    }
    await other.close()
    await store.close()
  })
})

test('a checkpointer whose worker cannot start lets writes continue and closes', async () => {
  let starts = 0
  const worker = new Reader(() => {
    starts++
    return new Worker('throw new Error("broken")', { eval: true })
  })
  const checkpointer = new Checkpointer(worker, { isLongerThan: (bytes) => bytes < 10_000 }, 8_192)
  checkpointer.startIfLong()
  await checkpointer.close()
  expect(starts).toBeGreaterThan(1)
  expect(checkpointer.pause).toBeUndefined()
})

describe('the flush queue', () => {
  /** A file whose flushes end when the test says so. */
  function heldFile() {
    const held: PromiseWithResolvers<void>[] = []
    const flush = () => {
      const flushing = Promise.withResolvers<void>()
      held.push(flushing)
      return flushing.promise
    }
    return { held, file: { flush, flushNow: () => {} } }
  }

  test('flushes once for all commits written during the previous flush', async () => {
    const { held, file } = heldFile()
    let flushed = 0
    const queue = new FlushQueue({ file, onFlushed: () => flushed++, onFailed: () => {} })
    queue.add(0n, false)
    const first = queue.untilFlushed()
    queue.add(1n, false)
    queue.add(2n, false)
    const rest = queue.untilFlushed()
    expect([held.length, queue.flushedUpTo]).toEqual([1, 0n])
    held[0]?.resolve()
    await first
    expect([held.length, queue.flushedUpTo, flushed]).toEqual([2, 1n, 1])
    held[1]?.resolve()
    await rest
    expect([held.length, queue.flushedUpTo, queue.untilFlushed()]).toEqual([2, undefined, undefined])
  })

  test('flushes on the event loop after one slow flush, but not after many', async () => {
    let now = 0
    let flushMs = 0.1
    let onLoop = 0
    const file = {
      flush: async () => {
        now += flushMs
      },
      flushNow: () => {
        now += flushMs
        onLoop++
      },
    }
    const clock = spyOn(performance, 'now').mockImplementation(() => now)
    try {
      const queue = new FlushQueue({ file, onFlushed: () => {}, onFailed: () => {} })
      /** Returns how many of the flushes ran on the event loop. */
      const flushTimes = async (count: number) => {
        onLoop = 0
        for (let index = 0; index < count; index++) {
          queue.add(0n, true)
          await queue.untilFlushed()
        }
        return onLoop
      }
      await flushTimes(20)
      flushMs = 50
      await flushTimes(1)
      flushMs = 0.1
      expect(await flushTimes(5)).toBe(5)
      flushMs = 4
      await flushTimes(20)
      expect(await flushTimes(5)).toBe(0)
    } finally {
      clock.mockRestore()
    }
  })

  test('fails permanently after a failed flush', async () => {
    const { held, file } = heldFile()
    const failures: unknown[] = []
    const queue = new FlushQueue({ file, onFlushed: () => {}, onFailed: (error) => failures.push(error) })
    queue.add(0n, false)
    const first = queue.untilFlushed()
    queue.add(1n, false)
    const second = queue.untilFlushed()
    held[0]?.reject(new Error('EIO'))
    expect(first).rejects.toThrow('may or may not have been made')
    expect(second).rejects.toThrow('may or may not have been made')
    await Promise.allSettled([first, second])
    expect([held.length, failures]).toEqual([1, [new Error('EIO')]])
    expect(() => queue.requireUsable()).toThrow('may or may not have been made')
  })
})

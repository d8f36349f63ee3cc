import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { FlushQueue } from '../../src/store/sqlite/write-ahead-log.ts'
import { someTurns } from '../support/turns.ts'
import { change, pet } from './plain-rows.ts'

const PETS = 50
const CHECKPOINT_AFTER = 500
const RESTARTS = 5
/** Offset of the restart counter in a write-ahead log. */
const RESTARTS_OFFSET = 12

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-flush-'))
  path = join(folder, 'petstore.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ids = Array.from({ length: PETS }, (_, index) => BigInt(index))

function restartsOf(databasePath: string): number {
  return readFileSync(`${databasePath}-wal`).readUInt32BE(RESTARTS_OFFSET)
}

describe('a served SQLite file', () => {
  test('takes writes and closes if its checkpoint worker cannot start', async () => {
    const RealWorker = globalThis.Worker
    let starts = 0
    globalThis.Worker = class extends RealWorker {
      constructor() {
        starts++
        super('data:text/javascript,throw new Error("broken")')
      }
    }
    try {
      const store = openSqliteStore(path, { exclusive: true, checkpointAfterChanges: 1 })
      await store.addPets([pet(1n, 0)])
      for (let quantity = 1; quantity <= 3; quantity++) await store.changeStock([change(1n, quantity)])
      await store.close()
    } finally {
      globalThis.Worker = RealWorker
    }
    expect(starts).toBeGreaterThan(1)
  })

  test('has a write-ahead log that restarts under constant writes', async () => {
    const store = openSqliteStore(path, { exclusive: true, checkpointAfterChanges: CHECKPOINT_AFTER })
    await store.addPets(ids.map((id) => pet(id, 0)))
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

  test('shows commits of another process together with its own', async () => {
    const store = openSqliteStore(path, { exclusive: true })
    await store.addPets(ids.map((id) => pet(id, 0)))
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

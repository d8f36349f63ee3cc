import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EventHub } from '../../src/core/stock/event-hub.ts'
import { until } from '../support/until.ts'
import { BusyLog, HeldLog, Reader, upTo } from './event-logs.ts'

const failed = (error: unknown) => {
  throw error
}
const turn = () => new Promise((resume) => setImmediate(resume))

describe('the event hub', () => {
  test('a reader that is several reads behind gets everything, although nothing changes meanwhile', async () => {
    const log = new BusyLog()
    log.version = () => 1
    log.happen(1_700)
    const hub = new EventHub(log, failed)
    const reader = new Reader()
    hub.join(reader, '0.a')
    await until(() => reader.taken.length === log.length)
    expect(reader.petIds).toEqual(upTo(1, 1_700))
    hub.leave(reader)
  })

  test('with any order of joins, leaves, writes and reads, a reader gets every event after its start once and in order', async () => {
    const slot = fc.nat({ max: 2 })
    const step = fc.oneof(
      fc.record({ act: fc.constant('join' as const), slot, back: fc.constantFrom(0, 0, 1, 3, 600) }),
      fc.record({ act: fc.constant('leave' as const), slot }),
      fc.record({ act: fc.constantFrom('pause' as const, 'go on' as const), slot }),
      fc.record({ act: fc.constant('write' as const), count: fc.constantFrom(1, 1, 2, 499, 500, 700) }),
      fc.record({ act: fc.constant('answer' as const), isFresh: fc.boolean() }),
      fc.record({ act: fc.constant('answer' as const), isFresh: fc.boolean() }),
    )
    const steps = fc.array(fc.tuple(step, fc.nat({ max: 3 })), { maxLength: 40, size: 'max' })
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const log = new HeldLog()
        const hub = new EventHub(log, failed)
        const readers = [new Reader(), new Reader(), new Reader()]
        const starts = new Map<Reader, number>()
        const expectInOrder = (reader: Reader) => {
          const start = starts.get(reader)
          expect(reader.petIds).toEqual(
            start === undefined ? [] : upTo(start + 1, start + reader.taken.length),
          )
        }
        const leave = (reader: Reader) => {
          expectInOrder(reader)
          hub.leave(reader)
          starts.delete(reader)
          reader.taken.length = 0
        }
        for (const [one, turns] of taken) {
          const reader = 'slot' in one ? readers[one.slot] : undefined
          if (one.act === 'write') {
            log.length += one.count
            hub.wake()
          } else if (one.act === 'answer') log.answer(one.isFresh)
          else if (reader === undefined) throw new Error('there is no such reader')
          else if (one.act === 'join') {
            leave(reader)
            const start = Math.max(0, log.length - one.back)
            starts.set(reader, start)
            hub.join(reader, `${start}.a`)
          } else if (one.act === 'leave') leave(reader)
          else {
            reader.isOpen = one.act === 'go on'
            hub.wake()
          }
          for (let count = 0; count < turns; count++) await turn()
          for (const each of readers) expectInOrder(each)
        }
        for (const reader of readers) {
          reader.isOpen = true
          hub.wake()
        }
        const isBehind = () => [...starts].some(([reader, start]) => start + reader.taken.length < log.length)
        while (log.isAsked || isBehind()) {
          log.answer(true)
          await turn()
        }
        for (const reader of readers) leave(reader)
      }),
      { numRuns: 500 },
    )
  })

  test('readers that have caught up share one read, even under constant writes', async () => {
    const log = new HeldLog()
    const hub = new EventHub(log, failed)
    const readers = Array.from({ length: 20 }, () => new Reader())
    const catchUp = async () => {
      while (log.isAsked || readers.some(({ petIds }) => petIds.at(-1) !== log.length)) {
        log.answer(true)
        await turn()
      }
    }
    log.length = readers.length
    for (const [index, reader] of readers.entries()) hub.join(reader, `${index}.a`)
    await catchUp()
    const takesBefore = readers.map(({ takes }) => takes)
    const readsBefore = log.reads
    for (let round = 0; round < 5; round++) {
      log.length++
      hub.wake()
      await until(() => log.isAsked)
      log.length++
      await catchUp()
    }
    const reads = log.reads - readsBefore
    expect(reads).toBeGreaterThanOrEqual(5)
    expect(readers.map(({ takes }, index) => takes - (takesBefore[index] ?? 0))).toEqual(
      Array(20).fill(reads),
    )
    for (const reader of readers) hub.leave(reader)
  })

  test('a reader whose events are no longer in the log gets a relist and continues from there', async () => {
    const log = new BusyLog(100)
    const hub = new EventHub(log, failed)
    const [follower, late] = [new Reader(), new Reader()]
    log.happen(500)
    hub.join(follower, '0.a')
    hub.join(late, '0.a')
    await until(() => follower.petIds.length > 0 && late.petIds.length > 0)
    log.happen(2)
    hub.wake()
    await until(() => follower.petIds.length >= 3 && late.petIds.length >= 3)
    expect(follower.petIds).toEqual([-1, 501, 502])
    expect(late.petIds).toEqual([-1, 501, 502])
    expect(follower.taken[0]?.cursor).toBe('500.a')
    hub.leave(follower)
    hub.leave(late)
  })

  test('a reader that is more than 10,000 events behind gets a relist', async () => {
    const log = new BusyLog()
    const hub = new EventHub(log, failed)
    const [behind, tooFarBehind] = [new Reader(), new Reader()]
    log.happen(10_001)
    hub.join(behind, '1.a')
    hub.join(tooFarBehind, '0.a')
    await until(() => behind.petIds.length === 10_000 && tooFarBehind.petIds.length > 0)
    expect(tooFarBehind.taken).toEqual([{ kind: 'relist', cursor: '10001.a' }])
    hub.leave(behind)
    hub.leave(tooFarBehind)
  })

  test('a text that is not a cursor is rejected as a starting point', async () => {
    const hub = new EventHub(new BusyLog(), failed)
    for (const text of ['', 'abc', '-1.0', ' 1.1', '1.1 ', '1.1.1.1.1', '9'.repeat(40)]) {
      await expect(hub.startingPoint(text)).rejects.toMatchObject({ code: 'invalid_request' })
    }
  })

  test('reads nothing while there are no readers', async () => {
    const [log, otherLog] = [new BusyLog(), new BusyLog()]
    const [hub, otherHub] = [new EventHub(log, failed), new EventHub(otherLog, failed)]
    const [reader, otherReader] = [new Reader(), new Reader()]
    hub.join(reader, '0.a')
    otherHub.join(otherReader, '0.a')
    await until(() => log.looks > 0)
    hub.leave(reader)
    const { looks } = log
    hub.wake()
    // A hub with a reader looks as often as this one would.
    const otherLooks = otherLog.looks
    await until(() => otherLog.looks >= otherLooks + 3)
    expect(log.looks).toBe(looks)
    otherHub.leave(otherReader)
  })
})

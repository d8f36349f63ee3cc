import { describe, expect, test } from 'bun:test'
import {
  type Command,
  type CommandOf,
  type OutcomeOf,
  type ResultsOf,
  type SubmittedCommand,
  typedResults,
} from '../../src/core/stock/command.ts'
import { changeCountOf, petIdsOf } from '../../src/core/stock/command-table.ts'
import { GroupCommit, type Requester } from '../../src/core/stock/group-commit.ts'
import { type CommitOptions, PetsLockedError } from '../../src/core/stock/stock-store.ts'
import { ServiceError } from '../../src/core/values/errors.ts'
import { countIn, change as countOf } from '../store/plain-rows.ts'
import { someTurns } from '../support/turns.ts'

type Adjust = CommandOf<'adjust'>

const change = (quantity: number, petId = 1n): Adjust => countOf(petId, quantity)
const outcome = ({ changes }: Adjust): OutcomeOf<'adjust'> => ({
  type: 'too_late',
  message: Bun.inspect(changes),
})

const adjustment = (...petIds: readonly bigint[]): Adjust => ({
  type: 'adjust',
  keyId: 'key',
  at: 0,
  reason: 'received',
  changes: petIds.map((petId) => ({ petId, delta: 1 })),
})

/** A store whose commits end when the test says so. */
function slowStore(
  defer: (work: () => void) => void = (work) => setImmediate(work),
  { slots = 1, lockWaits = 0 } = {},
) {
  const finished: number[] = []
  const batches: {
    changes: readonly Adjust[]
    /** All rows of the commit are locked. */
    lock: () => Promise<void>
    end: (error?: Error) => Promise<void>
    lockWait: 'brief' | 'full' | undefined
  }[] = []
  const changeStock = <const Commands extends readonly SubmittedCommand[]>(
    commands: Commands,
    { lockWait, onLocked = () => {} }: CommitOptions = {},
  ) => {
    // The tests look at adjustments alone.
    const changes = commands as readonly SubmittedCommand[] as readonly Adjust[]
    const { promise, resolve, reject } = Promise.withResolvers<ResultsOf<Commands>>()
    const lock = async () => {
      try {
        onLocked()
      } catch (error) {
        reject(error)
      }
      await someTurns()
    }
    const end = async (error?: Error) => {
      if (error === undefined) resolve(typedResults(commands, changes.map(outcome)))
      else reject(error)
      await someTurns()
    }
    batches.push({ changes, lock, end, lockWait })
    return promise
  }
  const group = new GroupCommit({
    store: { changeStock, concurrentCommits: slots, concurrentLockWaits: lockWaits },
    limits: { afterPendingChecks: defer },
    observers: [{ commitFinished: (commands) => finished.push(commands) }],
  })
  const send = (request: Command, requester?: Requester) => group.run(request, requester)
  const setOnce = (one: Adjust) =>
    group.runOnce(one, { key: `key ${countIn(one).petId}`, fingerprint: 'sent', answer: () => 'answer' })
  return { batches, finished, send, set: (one: Adjust) => send(one), setOnce }
}

const quantities = (changes: readonly Adjust[] | undefined) =>
  changes?.map((command) => countIn(command).quantity)

describe('group commit', () => {
  test('a command that is larger than a commit fails at once and does not block the next command', () => {
    const { batches, send, set } = slowStore()
    const petIds = Array.from({ length: 1_001 }, (_, index) => BigInt(index))
    expect(() => send(adjustment(...petIds))).toThrow(
      'the command adjust has 1001 changes, but a commit has room for 1000',
    )
    void set(change(1))
    expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1]])
  })

  test('a single update is committed at once, the next in the same turn with those that follow', async () => {
    const { batches, set } = slowStore()
    const answers = Promise.all([set(change(1)), set(change(2, 7n)), set(change(3))])
    expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1]])
    await batches[0]?.end()
    expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1], [2, 3]])
    await batches[1]?.end()
    expect(await answers).toEqual([outcome(change(1)), outcome(change(2, 7n)), outcome(change(3))])
  })

  test('updates that arrive during a commit go into the next one, and no response comes before its commit', async () => {
    const { batches, set } = slowStore()
    const answered: number[] = []
    const send = (quantity: number) => set(change(quantity)).then(() => answered.push(quantity))
    const all = [send(1)]
    await someTurns()
    all.push(send(2), send(3))
    await someTurns()
    expect(batches).toHaveLength(1)
    expect(answered).toEqual([])
    await batches[0]?.end()
    expect(answered).toEqual([1])
    expect(quantities(batches[1]?.changes)).toEqual([2, 3])
    await batches[1]?.end()
    await Promise.all(all)
    expect(answered).toEqual([1, 2, 3])
  })

  test('observers are notified of each commit that is on disk, and of no other', async () => {
    const { batches, finished, set } = slowStore()
    const first = set(change(1))
    const others = Promise.allSettled([set(change(2)), set(change(3))])
    expect(finished).toEqual([])
    await batches[0]?.end()
    await first
    expect(finished).toEqual([1])
    await batches[1]?.end(new ServiceError('service_unavailable', 'disk'))
    await others
    const last = set(change(4))
    await someTurns()
    await batches[2]?.end()
    await last
    expect(finished).toEqual([1, 1])
  })

  test('while updates arrive together, none is committed alone', async () => {
    const { batches, set } = slowStore()
    for (let turn = 0; turn < 3; turn++) {
      const answers = Promise.all([set(change(1)), set(change(2)), set(change(3))])
      for (let ended = 0; ended < 2; ended++) {
        await someTurns()
        await batches.at(-1)?.end()
      }
      await answers
    }
    expect(batches.map(({ changes }) => changes.length)).toEqual([1, 2, 3, 3])
  })

  test('under load, and right after it, the next turn is awaited as well', async () => {
    let work: (() => void)[] = []
    const endTurn = () => {
      const due = work
      work = []
      for (const run of due) run()
    }
    const { batches, set } = slowStore((run) => work.push(run))
    const send = (count: number) => Array.from({ length: count }, (_, index) => set(change(index)))
    const sizes = () => batches.map(({ changes }) => changes.length)
    const answers = send(9)
    await batches[0]?.end()
    expect(sizes()).toEqual([1])
    endTurn()
    answers.push(...send(3))
    expect(sizes()).toEqual([1])
    endTurn()
    expect(sizes()).toEqual([1, 11])

    await batches[1]?.end()
    answers.push(...send(2))
    endTurn()
    expect(sizes()).toEqual([1, 11])
    answers.push(...send(1))
    endTurn()
    expect(sizes()).toEqual([1, 11, 3])

    await batches[2]?.end()
    answers.push(...send(2))
    endTurn()
    expect(sizes()).toEqual([1, 11, 3, 2])
    await batches[3]?.end()
    expect(await Promise.all(answers)).toHaveLength(17)
  })

  describe('a requester that has left', () => {
    const waiting = () => ({ hasLeft: false, isBeingCommitted: true })
    const messageOf = (error: Error) => error.message
    const HAS_LEFT = 'the caller has left; nothing was changed'

    test('while its command was waiting for a commit: the command is not executed', async () => {
      const { batches, set, send } = slowStore()
      const first = set(change(1))
      const requester = waiting()
      const departed = send(change(2), requester).catch(messageOf)
      const second = set(change(3))
      requester.hasLeft = true
      await batches[0]?.end()
      expect(quantities(batches[1]?.changes)).toEqual([3])
      await batches[1]?.end()
      expect(await departed).toBe(HAS_LEFT)
      expect(requester.isBeingCommitted).toBe(false)
      await Promise.all([first, second])
    })

    test('while the commit was waiting for its locks: the other commands are committed without it', async () => {
      const { batches, set, send } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const first = set(change(1, 9n))
      const requester = waiting()
      const departed = send(change(2, 1n), requester).catch(messageOf)
      const second = set(change(3, 2n))
      await batches[0]?.end()
      requester.hasLeft = true
      await batches[1]?.lock()
      expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1], [2, 3], [3]])
      expect(await departed).toBe(HAS_LEFT)
      await batches[2]?.lock()
      await batches[2]?.end()
      await Promise.all([first, second])
    })

    test('while it was waiting for a lock of another process: nothing waits any longer', async () => {
      const { batches, set, send } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const requester = waiting()
      const first = set(change(1, 1n))
      await batches[0]?.end(new PetsLockedError(new Set([1n])))
      const departed = send(change(2, 2n), requester).catch(messageOf)
      await someTurns()
      await batches[2]?.end(new PetsLockedError(new Set([2n])))
      requester.hasLeft = true
      await batches[1]?.end()
      expect(batches).toHaveLength(3)
      expect(await departed).toBe(HAS_LEFT)
      await first
    })

    test('is not known before its command is decided; until then nothing was changed', async () => {
      const { batches, send } = slowStore()
      const requester = waiting()
      const sent = send(change(1), requester)
      expect(requester.isBeingCommitted).toBe(false)
      await batches[0]?.lock()
      expect(requester.isBeingCommitted).toBe(true)
      await batches[0]?.end()
      await sent
    })
  })

  test('a flood is split into commits of at most a thousand', async () => {
    const { batches, set } = slowStore()
    const all = Promise.all(Array.from({ length: 2_500 }, (_, index) => set(change(index))))
    for (let batch = 0; batch < 4; batch++) {
      await someTurns()
      await batches[batch]?.end()
    }
    await all
    expect(batches.map(({ changes }) => changes.length)).toEqual([1, 1_000, 1_000, 499])
  })

  test('adjustments share a commit as long as their changes fit', async () => {
    const { batches, send } = slowStore()
    const large = () => adjustment(...Array.from({ length: 400 }, (_, index) => BigInt(index)))
    const all = [send(change(1)), send(large()), send(large()), send(large()), send(change(2))]
    for (let batch = 0; batch < 3; batch++) {
      await someTurns()
      await batches[batch]?.end()
    }
    await Promise.all(all)
    expect(batches.map(({ changes }) => changes.map(changeCountOf))).toEqual([[1], [400, 400], [400, 1]])
  })

  describe('with several slots', () => {
    const slots = () => slowStore((work) => setImmediate(work), { slots: 2 })
    const pets = (changes: readonly Adjust[] | undefined) => changes?.map((command) => countIn(command).petId)

    test('commits of different pets run concurrently, at most one per slot', async () => {
      const { batches, set } = slots()
      const all = [set(change(1, 1n))]
      await someTurns()
      all.push(set(change(1, 2n)))
      await someTurns()
      all.push(set(change(1, 3n)))
      await someTurns()
      expect(batches.map(({ changes }) => pets(changes))).toEqual([[1n], [2n]])
      await batches[1]?.end()
      expect(batches.map(({ changes }) => pets(changes))).toEqual([[1n], [2n], [3n]])
      await batches[0]?.end()
      await batches[2]?.end()
      await Promise.all(all)
    })

    test('an update waits for the running commit of its pet; updates of other pets wait only for a slot', async () => {
      const { batches, set } = slots()
      const all = [set(change(1, 1n))]
      await someTurns()
      all.push(set(change(2, 1n)), set(change(3, 2n)), set(change(4, 1n)))
      await someTurns()
      expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1], [3]])
      await batches[0]?.end()
      expect(batches.map(({ changes }) => quantities(changes))).toEqual([[1], [3], [2, 4]])
      await batches[1]?.end()
      await batches[2]?.end()
      await Promise.all(all)
    })

    test('an adjustment waits for all of its pets, and requests for any of them wait behind it', async () => {
      const { batches, send } = slots()
      const sizes = () => batches.map(({ changes }) => changes.map(changeCountOf))
      const all = [send(change(1, 1n))]
      await someTurns()
      all.push(send(adjustment(1n, 2n)), send(change(2, 2n)), send(change(3, 3n)))
      await someTurns()
      expect(batches.map(({ changes }) => petIdsOf(changes))).toEqual([[1n], [3n]])
      await batches[1]?.end()
      expect(batches).toHaveLength(2)
      await batches[0]?.end()
      expect(batches.map(({ changes }) => petIdsOf(changes))).toEqual([[1n], [3n], [1n, 2n, 2n]])
      expect(sizes()[2]).toEqual([2, 1])
      await batches[2]?.end()
      await Promise.all(all)
    })

    test('requests for a locked pet wait without a slot, and all others continue', async () => {
      const { batches, set } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const first = set(change(1, 9n))
      await someTurns()
      const locked = set(change(1, 1n)).catch((error: Error) => error.message)
      const free = set(change(2, 2n))
      await batches[0]?.end()
      await batches[1]?.end(new PetsLockedError(new Set([1n])))
      expect(shown()).toEqual([
        ['brief', 9n],
        ['brief', 1n, 2n],
        ['brief', 2n],
      ])
      await batches[2]?.end()
      expect(await free).toEqual(outcome(change(2, 2n)))
      expect(shown().slice(3)).toEqual([['full', 1n]])
      const behind = [set(change(3, 1n)), set(change(4, 2n)), set(change(5, 3n))]
      await someTurns()
      expect(shown().slice(4)).toEqual([['brief', 2n, 3n]])
      await batches[4]?.end()
      await batches[3]?.end(new ServiceError('service_unavailable', 'pet 1 stays locked'))
      expect(await locked).toBe('pet 1 stays locked')
      expect(shown().slice(5)).toEqual([['brief', 1n]])
      await batches[5]?.end()
      await Promise.all([first, ...behind])
    })

    test('a request for a locked pet follows an earlier request for another of its pets', async () => {
      const { batches, send } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const answers = [send(change(1, 9n)), send(change(1, 1n)), send(adjustment(1n, 2n))]
      await batches[0]?.end()
      await batches[1]?.end(new PetsLockedError(new Set([2n])))
      expect(batches.slice(2).map(({ changes }) => petIdsOf(changes))).toEqual([[1n]])
      await batches[2]?.end()
      expect(batches.slice(3).map(({ changes }) => petIdsOf(changes))).toEqual([[1n, 2n]])
      await batches[3]?.end()
      await Promise.all(answers)
    })

    test('a request that is blocked at the second attempt stays before a later one for its pet', async () => {
      const { batches, send } = slowStore(undefined, { slots: 1, lockWaits: 2 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const answers = [send(change(1, 9n)), send(change(1, 1n)), send(adjustment(1n, 2n))]
      await batches[0]?.end()
      await batches[1]?.end(new PetsLockedError(new Set([2n])))
      await batches[2]?.end(new PetsLockedError(new Set([1n])))
      expect(shown().slice(1)).toEqual([
        ['brief', 1n, 1n, 2n],
        ['brief', 1n],
        ['full', 1n, 1n, 2n],
      ])
      await batches[3]?.end()
      await Promise.all(answers)
    })

    test('requests wait for their locks if the locked pet is named by none, but by an order of them', async () => {
      const { batches, send } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const answers = [send(change(1, 9n)), send(change(1, 1n)), send(change(2, 2n))]
      await batches[0]?.end()
      await batches[1]?.end(new PetsLockedError(new Set([3n])))
      expect(shown().slice(1)).toEqual([
        ['brief', 1n, 2n],
        ['full', 1n, 2n],
      ])
      await batches[2]?.end()
      await Promise.all(answers)
    })

    test('while the catalogue is locked, only requests that need it wait', async () => {
      const { batches, send } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const rename = {
        type: 'update_pet',
        petId: 2n,
        patch: { name: 'Rex' },
        keyId: 'key',
        at: 0,
      } as const
      const answers = [send(change(1, 9n)), send(change(1, 1n)), send(rename), send(adjustment(2n))]
      await batches[0]?.end()
      await batches[1]?.end()
      expect(shown().slice(1)).toEqual([
        ['brief', 1n],
        ['brief', 2n],
      ])
      await batches[2]?.end(new PetsLockedError(new Set()))
      expect(shown().slice(3)).toEqual([['full', 2n]])
      answers.push(send(change(2, 1n)))
      await someTurns()
      expect(shown().slice(4)).toEqual([['brief', 1n]])
      await batches[4]?.end()
      await batches[3]?.end()
      expect(shown().slice(5)).toEqual([['brief', 2n]])
      await batches[5]?.end()
      await Promise.all(answers)
    })

    test('while an idempotency key is locked, only requests with a key wait', async () => {
      const { batches, set, setOnce } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const answers: Promise<unknown>[] = [set(change(1, 9n)), setOnce(change(1, 1n)), set(change(1, 2n))]
      await batches[0]?.end()
      await batches[1]?.end(new PetsLockedError(new Set()))
      expect(shown().slice(1)).toEqual([
        ['brief', 1n, 2n],
        ['brief', 2n],
      ])
      await batches[2]?.end()
      expect(shown().slice(3)).toEqual([['full', 1n]])
      await batches[3]?.end()
      await Promise.all(answers)
    })

    test('no more commits wait for locks than the store allows; the others follow in turn', async () => {
      const { batches, set } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const shown = () => batches.map(({ changes, lockWait }) => [lockWait, ...petIdsOf(changes)])
      const answers = [set(change(1, 1n)), set(change(2, 2n))]
      await batches[0]?.end(new PetsLockedError(new Set([1n])))
      await batches[2]?.end(new PetsLockedError(new Set([2n])))
      expect(shown()).toEqual([
        ['brief', 1n],
        ['full', 1n],
        ['brief', 2n],
      ])
      await batches[1]?.end()
      expect(shown().slice(3)).toEqual([['full', 2n]])
      await batches[3]?.end()
      await Promise.all(answers)
    })

    test('the halves of a failed batch wait for locks, so that no update of a pet overtakes another', async () => {
      const { batches, set } = slowStore(undefined, { slots: 1, lockWaits: 1 })
      const answers = [set(change(0, 9n)), set(change(1, 1n)), set(change(2, 1n))]
      await batches[0]?.end()
      await batches[1]?.end(new Error('bad batch'))
      await batches[2]?.end()
      await batches[3]?.end()
      await Promise.all(answers)
      expect(batches.map(({ changes, lockWait }) => [lockWait, ...(quantities(changes) ?? [])])).toEqual([
        ['brief', 0],
        ['brief', 1, 2],
        ['full', 1],
        ['full', 2],
      ])
    })

    test('a pet whose commit failed is free again', async () => {
      const { batches, set } = slots()
      const first = set(change(1, 1n)).catch((error: Error) => error.message)
      await someTurns()
      const second = set(change(2, 1n))
      await batches[0]?.end(new Error('the disk is full'))
      await batches[1]?.end()
      expect(await first).toBe('the disk is full')
      expect(await second).toEqual(outcome(change(2, 1n)))
    })
  })
})

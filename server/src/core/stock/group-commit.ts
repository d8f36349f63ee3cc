import type { LimitKeeper } from '../limits/limit-store.ts'
import { SECOND } from '../values/clock.ts'
import { ServiceError } from '../values/errors.ts'
import {
  type Command,
  changeCountOf,
  type Idempotency,
  type KeyedAnswer,
  MAX_CHANGES,
  needsSection,
  type OutcomeOf,
  petIdsOfCommand,
  type Result,
  type SubmittedCommand,
} from './command.ts'
import { PetsLockedError, type StockStore } from './stock-store.ts'

/**
 * If at least this many commands are waiting, or were in the last commit, the next commit waits one more turn: callers that
 * were answered together send their next commands together.
 */
const MIN_COMMANDS_TO_GATHER = 8

/** Is notified of every commit once it is on disk. */
export interface CommitObserver {
  commitFinished(commands: number, durationMs: number): void
}

interface GroupCommitParts {
  /** GroupCommit never calls `changeStock` concurrently for the same pet. */
  readonly store: Pick<StockStore, 'changeStock' | 'concurrentCommits' | 'concurrentLockWaits'>
  /**
   * Scheduled commits start in `afterPendingChecks`, so that they include the commands of requests whose limit is still being
   * checked.
   */
  readonly limits: Pick<LimitKeeper, 'afterPendingChecks'>
  readonly observers: readonly CommitObserver[]
}

interface WaitingCommand {
  readonly command: SubmittedCommand
  settle(result: Result): void
  fail(error: unknown): void
}

/**
 * Puts commands that arrive together into one commit, in the order of their arrival. A command is answered once its commit
 * is on disk. While `concurrentCommits` commits are running, new commands wait. A command about a pet of an unfinished commit
 * waits for that commit, so the changes of a pet keep their order. If another process keeps a pet or the catalogue locked, only
 * the commands that need the lock wait for it.
 *
 * The first command of a turn of the event loop is committed at once, unless a commit is running or the last scheduled commit
 * had several commands. All other commits are scheduled for the end of the turn, and under load for the end of the next turn.
 * Measured in docs/decisions/2026-11-16-one-truth.md.
 */
export class GroupCommit {
  readonly #parts: GroupCommitParts
  #waiting: WaitingCommand[] = []
  /** The pets of pending commits, each with its number of commands. Empty if `#tracksPets` is false. */
  readonly #pendingPets = new Map<bigint, number>()
  /** False if there is only one commit at a time. */
  readonly #tracksPets: boolean
  readonly #lockWaits: LockWaits
  #freeSlots: number
  #isCommitScheduled = false
  #lastCommitSize = 0
  /** Whether at most one command was waiting when the last scheduled commit started. Other commits do not change it. */
  #wasLastCommitSmall = true
  /** Whether this turn has already committed a command at once. */
  #hasCommittedThisTurn = false

  constructor(parts: GroupCommitParts) {
    this.#parts = parts
    this.#freeSlots = parts.store.concurrentCommits
    this.#tracksPets = parts.store.concurrentCommits > 1 || parts.store.concurrentLockWaits > 0
    this.#lockWaits = new LockWaits(parts.store.concurrentLockWaits)
  }

  /** Resolves to the outcome once it is on disk. */
  run<C extends Command>(command: C): Promise<OutcomeOf<C['type']>> {
    return this.#submit(command)
  }

  /** Resolves to the new or the remembered answer, or to `key_reused`. */
  runOnce<C extends Command>(
    command: C,
    idempotency: Idempotency<OutcomeOf<C['type']>>,
  ): Promise<KeyedAnswer> {
    return this.#submit(command, idempotency)
  }

  #submit<R extends Result>(command: Command, idempotency?: Idempotency<never>): Promise<R> {
    if (changeCountOf(command) > MAX_CHANGES) {
      // Such a command would block the queue forever.
      throw new RangeError(
        `the command ${command.type} has ${changeCountOf(command)} changes, but a commit has room for ${MAX_CHANGES}`,
      )
    }
    const submitted = idempotency === undefined ? command : { ...command, idempotency }
    const result = new Promise<R>((resolve, fail) => {
      // R fits: the store returns the outcome of this command, or a keyed answer if the command has an idempotency key.
      const settle = resolve as (result: Result) => void
      this.#waiting.push({ command: submitted, settle, fail })
    })
    const { store, limits } = this.#parts
    const isIdle = this.#freeSlots === store.concurrentCommits
    if (this.#wasLastCommitSmall && !this.#hasCommittedThisTurn && !this.#isCommitScheduled && isIdle) {
      this.#hasCommittedThisTurn = true
      limits.afterPendingChecks(() => {
        this.#hasCommittedThisTurn = false
      })
      this.#startCommit()
    } else {
      this.#scheduleCommit()
    }
    return result
  }

  #scheduleCommit(): void {
    if (this.#isCommitScheduled || this.#freeSlots === 0 || this.#waiting.length === 0) return
    this.#isCommitScheduled = true
    const { limits } = this.#parts
    limits.afterPendingChecks(() => {
      if (Math.max(this.#waiting.length, this.#lastCommitSize) < MIN_COMMANDS_TO_GATHER) this.#commitWaiting()
      else limits.afterPendingChecks(() => this.#commitWaiting())
    })
  }

  #commitWaiting(): void {
    this.#isCommitScheduled = false
    this.#wasLastCommitSmall = this.#waiting.length <= 1
    this.#startCommit()
  }

  #startCommit(): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    this.#freeSlots--
    this.#lastCommitSize = batch.length
    this.#changePendingPets(batch, 1)
    void this.#commitUnlessBlocked(batch).finally(() => {
      this.#freeSlots++
      this.#changePendingPets(batch, -1)
      this.#scheduleCommit()
    })
    // Commands that did not fit into this commit may fit into another.
    this.#scheduleCommit()
  }

  /**
   * First commits the free commands, which no lock of another process blocks. Then the blocked commands wait for their locks,
   * without using a commit slot. They start last, because an earlier free command may change the same pet. Never rejects.
   */
  async #commitUnlessBlocked(batch: readonly WaitingCommand[]): Promise<void> {
    const heldLocks = new Set<Lock>()
    let split: SplitBatch = { free: batch, blocked: [] }
    while (split.free.length > 0) {
      const lockedPets = await this.#commit(split.free, 'brief')
      if (lockedPets === undefined) break
      for (const lock of findHeldLocks(split.free, lockedPets)) heldLocks.add(lock)
      split = splitByLocks(batch, heldLocks)
    }
    for (const group of split.blocked) void this.#commitAfterLocks(group)
  }

  /**
   * Commits a batch and answers its callers. Never rejects. With a brief lock wait, it may resolve to the pets that other
   * processes have locked. Then nothing is committed and no caller is answered yet. A ServiceError means that the commit may have
   * been made, so it is not retried. After any other error, each half of the batch is retried, and so on, until only the bad
   * command fails.
   */
  async #commit(
    batch: readonly WaitingCommand[],
    lockWait: 'brief' | 'full',
  ): Promise<ReadonlySet<bigint> | undefined> {
    const { store, observers } = this.#parts
    const startedAt = performance.now()
    let results: readonly Result[]
    try {
      results = await store.changeStock(
        batch.map(({ command }) => command),
        lockWait,
      )
    } catch (error) {
      if (error instanceof PetsLockedError && lockWait === 'brief') return error.petIds
      if (error instanceof ServiceError || batch.length === 1) {
        for (const { fail } of batch) fail(error)
        return undefined
      }
      // With a brief lock wait, a blocked command of the first half could be overtaken by one of the second half.
      const middle = Math.ceil(batch.length / 2)
      await this.#commit(batch.slice(0, middle), 'full')
      await this.#commit(batch.slice(middle), 'full')
      return undefined
    }
    const durationMs = performance.now() - startedAt
    for (const [index, { settle, fail }] of batch.entries()) {
      const result = results[index]
      if (result === undefined) fail(new Error('the store returned no result for a command'))
      else settle(result)
    }
    for (const observer of observers) observer.commitFinished(batch.length, durationMs)
    return undefined
  }

  async #commitAfterLocks(group: readonly WaitingCommand[]): Promise<void> {
    this.#changePendingPets(group, 1)
    try {
      await this.#lockWaits.run(() => this.#commit(group, 'full'))
    } catch (error) {
      for (const { fail } of group) fail(error)
    }
    this.#changePendingPets(group, -1)
    this.#scheduleCommit()
  }

  #changePendingPets(batch: readonly WaitingCommand[], difference: 1 | -1): void {
    if (!this.#tracksPets) return
    for (const petId of batch.flatMap(({ command }) => petIdsOfCommand(command))) {
      const count = (this.#pendingPets.get(petId) ?? 0) + difference
      if (count > 0) this.#pendingPets.set(petId, count)
      else this.#pendingPets.delete(petId)
    }
  }

  /** Takes as many waiting commands as fit, in order, except commands about pets of pending commits. */
  #takeBatch(): WaitingCommand[] {
    if (this.#pendingPets.size === 0) return this.#waiting.splice(0, countThatFit(this.#waiting))
    const taken: WaitingCommand[] = []
    const skipped: WaitingCommand[] = []
    const skippedPets = new Set<bigint>()
    const mustWait = (petId: bigint) => this.#pendingPets.has(petId) || skippedPets.has(petId)
    let room = MAX_CHANGES
    for (const waiting of this.#waiting) {
      const size = changeCountOf(waiting.command)
      const pets = petIdsOfCommand(waiting.command)
      if (size <= room && !pets.some(mustWait)) {
        room -= size
        taken.push(waiting)
      } else {
        for (const petId of pets) skippedPets.add(petId)
        skipped.push(waiting)
      }
    }
    this.#waiting = skipped
    return taken
  }
}

function countThatFit(waiting: readonly WaitingCommand[]): number {
  let room = MAX_CHANGES
  const index = waiting.findIndex(({ command }) => {
    room -= changeCountOf(command)
    return room < 0
  })
  return index === -1 ? waiting.length : index
}

/**
 * What a command needs to lock: a pet, by its id, or the rows of another kind. `unknown` stands for a lock that could not be
 * identified. Every command counts as needing it, so it blocks the whole batch.
 */
type Lock = bigint | 'catalog' | 'webhooks' | 'idempotency' | 'unknown'

function locksOf(command: SubmittedCommand): readonly Lock[] {
  const locks: Lock[] = [...petIdsOfCommand(command), 'unknown']
  if (needsSection([command], 'catalog')) locks.push('catalog')
  if (needsSection([command], 'webhooks')) locks.push('webhooks')
  if (command.idempotency !== undefined) locks.push('idempotency')
  return locks
}

/**
 * The locks that block the batch. If the store has found no locked pet, this is a guess: if it is wrong, the next attempt fails
 * as well, and the next kind of lock is tried.
 */
function findHeldLocks(batch: readonly WaitingCommand[], lockedPets: ReadonlySet<bigint>): Iterable<Lock> {
  if (lockedPets.size > 0) return lockedPets
  const isNeeded = (lock: Lock) => batch.some(({ command }) => locksOf(command).includes(lock))
  return [(['catalog', 'webhooks', 'idempotency'] as const).find(isNeeded) ?? 'unknown']
}

interface SplitBatch {
  readonly free: readonly WaitingCommand[]
  readonly blocked: readonly (readonly WaitingCommand[])[]
}

/**
 * Splits a batch into free commands and groups of blocked commands. A command that shares a pet or a held lock with an earlier
 * blocked command joins its group, so that their order is kept. No pet is in two groups.
 */
function splitByLocks(batch: readonly WaitingCommand[], heldLocks: ReadonlySet<Lock>): SplitBatch {
  const free: WaitingCommand[] = []
  let groups: { readonly locks: ReadonlySet<Lock>; readonly members: readonly WaitingCommand[] }[] = []
  for (const waiting of batch) {
    const neededLocks = locksOf(waiting.command).filter(
      (lock) => typeof lock === 'bigint' || heldLocks.has(lock),
    )
    const joinedGroups = groups.filter((group) => neededLocks.some((lock) => group.locks.has(lock)))
    if (joinedGroups.length === 0 && !neededLocks.some((lock) => heldLocks.has(lock))) {
      free.push(waiting)
      continue
    }
    const locks = new Set([...joinedGroups.flatMap((group) => [...group.locks]), ...neededLocks])
    const members = [...joinedGroups.flatMap((group) => group.members), waiting]
    groups = [...groups.filter((group) => !joinedGroups.includes(group)), { locks, members }]
  }
  return { free, blocked: groups.map(({ members }) => members) }
}

/** A commit fails if it waits in the queue of LockWaits for longer than this. */
const MAX_QUEUE_MS = 10 * SECOND

/** Limits how many commits wait for locks of other processes at once, so that other commits can get a database session. */
class LockWaits {
  #free: number
  readonly #queue: (() => void)[] = []

  constructor(max: number) {
    this.#free = max
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    if (this.#free > 0) this.#free--
    else await this.#waitForTurn()
    try {
      await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  /** Resolves when a commit that waited for locks has ended and this commit takes its place. */
  async #waitForTurn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push(resolve)
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(resolve), 1)
      reject(
        new ServiceError('service_unavailable', 'another process keeps the data locked; try again shortly'),
      )
    }, MAX_QUEUE_MS)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }
}

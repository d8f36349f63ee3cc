import type { LimitKeeper } from '../limits/limit-store.ts'
import { ServiceError } from '../values/errors.ts'
import {
  type Command,
  type Idempotency,
  type KeyedAnswer,
  MAX_CHANGES,
  type OutcomeOf,
  type Result,
  type SubmittedCommand,
} from './command.ts'
import { changeCountOf, type LockTarget, lockTargetOf, petIdsOfCommand } from './command-table.ts'
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

/** The request that a command comes from. */
export interface Requester {
  /** The request was refused, or its client has disconnected. Its command must not be executed any more. */
  readonly hasLeft: boolean
  /** Set while a commit may be making the change, so that it is unknown whether the change was made. */
  isBeingCommitted: boolean
}

interface WaitingCommand {
  readonly command: SubmittedCommand
  readonly requester: Requester | undefined
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
 * Measured in docs/decisions/postgres.md.
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
  run<C extends Command>(command: C, requester?: Requester): Promise<OutcomeOf<C['type']>> {
    return this.#submit(command, requester)
  }

  /** Resolves to the new or the remembered answer, or to `key_reused`. */
  runOnce<C extends Command>(
    command: C,
    idempotency: Idempotency<OutcomeOf<C['type']>>,
    requester?: Requester,
  ): Promise<KeyedAnswer> {
    return this.#submit(command, requester, idempotency)
  }

  #submit<R extends Result>(
    command: Command,
    requester: Requester | undefined,
    idempotency?: Idempotency<never>,
  ): Promise<R> {
    if (changeCountOf(command) > MAX_CHANGES) {
      // Such a command would block the queue forever.
      throw new RangeError(
        `the command ${command.type} has ${changeCountOf(command)} changes, but a commit has room for ${MAX_CHANGES}`,
      )
    }
    if (requester !== undefined) requester.isBeingCommitted = false
    const submitted = idempotency === undefined ? command : { ...command, idempotency }
    const result = new Promise<R>((resolve, fail) => {
      // R fits: the store returns the outcome of this command, or a keyed answer if the command has an idempotency key.
      const settle = resolve as (result: Result) => void
      this.#waiting.push({ command: submitted, requester, settle, fail })
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
   * First commits the commands that no lock of another process blocks. Then the blocked commands wait for their locks together,
   * without using a commit slot. They start last, because an earlier free command may change the same pet. Never rejects.
   */
  async #commitUnlessBlocked(batch: readonly WaitingCommand[]): Promise<void> {
    let free = batch
    while (free.length > 0) {
      const lockedPets = await this.#commit(free, 'brief')
      if (lockedPets === undefined) break
      free = withoutBlocked(free, lockedPets)
    }
    const committed = new Set(free)
    const blocked = batch.filter((waiting) => !committed.has(waiting))
    if (blocked.length > 0) void this.#commitAfterLocks(blocked)
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
    if (batch.length === 0) return undefined
    const { store, observers } = this.#parts
    const startedAt = performance.now()
    let results: readonly Result[]
    try {
      results = await store.changeStock(
        batch.map(({ command }) => command),
        { lockWait, onLocked: () => beginDecision(batch) },
      )
    } catch (error) {
      if (error instanceof RequesterLeft) return this.#commit(failDeparted(batch), lockWait)
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
    await this.#lockWaits.run(() => this.#commit(failDeparted(group), 'full'))
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

  /**
   * Takes as many waiting commands as fit, in order, except commands about pets of pending commits. All of them lock the same
   * kind of rows, so that a lock of another process delays only the commands that need it.
   */
  #takeBatch(): WaitingCommand[] {
    const taken: WaitingCommand[] = []
    const skipped: WaitingCommand[] = []
    const skippedPets = new Set<bigint>()
    const mustWait = (petId: bigint) => this.#pendingPets.has(petId) || skippedPets.has(petId)
    let target: LockTarget | undefined
    let room = MAX_CHANGES
    for (const waiting of failDeparted(this.#waiting)) {
      const { command } = waiting
      const size = changeCountOf(command)
      const hasSameTarget = target === undefined || target === lockTargetOf(command)
      if (hasSameTarget && size <= room && !petIdsOfCommand(command).some(mustWait)) {
        target = lockTargetOf(command)
        room -= size
        taken.push(waiting)
      } else {
        for (const petId of petIdsOfCommand(command)) skippedPets.add(petId)
        skipped.push(waiting)
      }
    }
    this.#waiting = skipped
    return taken
  }
}

/** A requester has left while the commit was waiting for its locks. */
class RequesterLeft extends Error {
  override readonly name = 'RequesterLeft'
}

/** From here on, the outcome of the commands is unknown until the store returns it. */
function beginDecision(batch: readonly WaitingCommand[]): void {
  if (batch.some(hasLeft)) throw new RequesterLeft()
  for (const { requester } of batch) if (requester !== undefined) requester.isBeingCommitted = true
}

function hasLeft({ requester }: WaitingCommand): boolean {
  return requester?.hasLeft === true
}

/** Returns the commands whose requesters still wait. */
function failDeparted(batch: readonly WaitingCommand[]): readonly WaitingCommand[] {
  if (!batch.some(hasLeft)) return batch
  return batch.filter((waiting) => {
    if (!hasLeft(waiting)) return true
    waiting.fail(new ServiceError('service_unavailable', 'the caller has left; nothing was changed'))
    return false
  })
}

/**
 * The commands that no lock of another process blocks. A command that shares a pet with an earlier blocked command is blocked as
 * well, so that their order is kept. If no pet is locked, an idempotency key may be, and otherwise every command is blocked.
 */
function withoutBlocked(
  batch: readonly WaitingCommand[],
  lockedPets: ReadonlySet<bigint>,
): readonly WaitingCommand[] {
  const isKeyLocked = lockedPets.size === 0
  const hasKey = ({ command }: WaitingCommand) => command.idempotency !== undefined
  if (isKeyLocked && !batch.some(hasKey)) return []
  const blockedPets = new Set(lockedPets)
  const free = batch.filter((waiting) => {
    const petIds = petIdsOfCommand(waiting.command)
    const isBlocked = (isKeyLocked && hasKey(waiting)) || petIds.some((petId) => blockedPets.has(petId))
    if (isBlocked) for (const petId of petIds) blockedPets.add(petId)
    return !isBlocked
  })
  // An order may have a locked pet that its command does not name.
  return free.length === batch.length ? [] : free
}

/** Limits how many commits wait for locks of other processes at once, so that other commits can get a database session. */
class LockWaits {
  #free: number
  readonly #queue: (() => void)[] = []

  constructor(max: number) {
    this.#free = max
  }

  async run(work: () => Promise<unknown>): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    try {
      await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { MINUTE, SECOND } from '../core/values/clock.ts'
import { type RowSource, type SqlDatabase, statement, upsertSql } from './sql.ts'
import type { Store } from './store.ts'

/** A clock that moves forward by more than this, compared with the time since boot, has jumped. */
const MAX_STEP_MS = MINUTE
/** A jump that lasts longer is followed. Time services find and correct a wrong clock sooner. */
const JUMP_IGNORED_MS = 60 * MINUTE
/** The time since boot is known only to the second. */
const MIN_SLEEP_MS = 10 * SECOND
const SAMPLE_EVERY_MS = SECOND

/** Clocks of the machine that nobody sets. Their zero does not matter. */
export interface MachineClocks {
  /** Milliseconds, without the time that the machine slept. */
  readonly monotonic: () => number
  /** Milliseconds since the machine was started, rounded to seconds. */
  readonly sinceBoot: () => number
}

const MACHINE: MachineClocks = { monotonic: () => performance.now(), sinceBoot: () => uptime() * SECOND }

/**
 * Follows another clock, which somebody may set. If that clock jumps forward, its time is ignored for an hour: otherwise answers
 * would be forgotten and holds would expire for good, although the clock may be set right a minute later. Until then, this clock
 * advances with the time since boot, which includes the time that the machine slept.
 *
 * A clock that is set back is followed at once, because holds and answers then only last longer.
 */
export class SteadyClock {
  readonly #machine: MachineClocks
  /** The time of this clock minus the monotonic time. */
  #offset: number
  /** The monotonic time at which the other clock jumped; `undefined` if its time is followed. */
  #jumpedAt: number | undefined
  #aheadMs = 0
  #sample: { readonly monotonic: number; readonly sinceBoot: number }
  /** The last time that was followed. A request asks for the time about six times, mostly in the same millisecond. */
  #followedTime = Number.NaN

  /** `time` is that of the other clock. `savedOffset` is an earlier `bootOffset` since the same start of the machine. */
  constructor(time: number, savedOffset?: number, machine = MACHINE) {
    this.#machine = machine
    this.#sample = { monotonic: machine.monotonic(), sinceBoot: machine.sinceBoot() }
    const startTime = savedOffset === undefined ? time : savedOffset + this.#sample.sinceBoot
    this.#offset = startTime - this.#sample.monotonic
    this.followTime(time)
  }

  readonly now = (): number => Math.floor(this.#machine.monotonic() + this.#offset)

  /** This clock minus the time since boot. */
  get bootOffset(): number {
    return this.now() - this.#machine.sinceBoot()
  }

  /** How far the other clock is ahead after a jump that is ignored; otherwise 0. */
  get ignoredJumpMs(): number {
    return this.#jumpedAt === undefined ? 0 : this.#aheadMs
  }

  /** Follows the other clock, given its time now. Returns that time, or the time of this clock if the other has jumped. */
  followTime(time: number): number {
    if (time === this.#followedTime) return time
    const now = this.#machine.monotonic()
    this.#follow(time - now, time - now, now)
    if (this.#jumpedAt !== undefined) return this.now()
    this.#followedTime = time
    return time
  }

  /** Follows the other clock. Its time minus the monotonic time is between `lowest` and `highest`. */
  followOffset(lowest: number, highest: number): void {
    this.#follow(lowest, highest, this.#machine.monotonic())
  }

  #follow(lowest: number, highest: number, now: number): void {
    if (lowest - this.#offset > MAX_STEP_MS) this.#addSleep(now)
    this.#aheadMs = lowest - this.#offset
    if (this.#aheadMs > MAX_STEP_MS) {
      this.#jumpedAt ??= now
      if (now - this.#jumpedAt < JUMP_IGNORED_MS) return
    }
    this.#jumpedAt = undefined
    this.#offset = Math.min(Math.max(this.#offset, lowest), highest)
    if (now - this.#sample.monotonic > SAMPLE_EVERY_MS) {
      this.#sample = { monotonic: now, sinceBoot: this.#machine.sinceBoot() }
    }
  }

  /** Whether the other clock may have shown this time just now without a jump. */
  isCredible(time: number): boolean {
    return time - this.now() <= MAX_STEP_MS
  }

  #addSleep(monotonic: number): void {
    const sinceBoot = this.#machine.sinceBoot()
    const sleptMs = sinceBoot - this.#sample.sinceBoot - (monotonic - this.#sample.monotonic)
    if (sleptMs < MIN_SLEEP_MS) return
    this.#offset += sleptMs
    this.#sample = { monotonic, sinceBoot }
  }
}

/** Identifies the current run of the machine; `undefined` on systems that do not name it. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Selects the offset that an earlier process saved, so that a restart does not follow a jump that is ignored. */
export const SAVED_OFFSET = 'SELECT offset_ms FROM clocks WHERE boot_id = $1'

export async function readSavedOffset(source: RowSource): Promise<number | undefined> {
  const id = bootId()
  if (id === undefined) return undefined
  const [row] = await source.rows<{ offset_ms: bigint }>(SAVED_OFFSET, id)
  return row === undefined ? undefined : Number(row.offset_ms)
}

/** Without a clock, which a test replaces, `checkClock` does nothing. `name` says whose clock is followed. */
export function clockMethods(
  database: SqlDatabase,
  clock: SteadyClock | undefined,
  name: string,
): Pick<Store, 'checkClock'> {
  let savedOffset = Number.NaN
  return {
    checkClock: async () => {
      if (clock === undefined) return
      const id = bootId()
      const offset = clock.bootOffset
      if (id !== undefined && !(Math.abs(offset - savedOffset) < MIN_SLEEP_MS)) {
        await database.commit([
          statement(upsertSql('clocks', ['boot_id', 'offset_ms'], 'boot_id'), id, offset),
        ])
        savedOffset = offset
      }
      if (clock.ignoredJumpMs === 0) return
      const seconds = Math.round(clock.ignoredJumpMs / SECOND)
      throw new Error(
        `the clock of ${name} was set forward by ${seconds} s; the service ignores this for an hour: if the clock is wrong, set it right before (NTP)`,
      )
    },
  }
}

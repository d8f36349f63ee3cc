import type { WritePause } from '../core/transfer/transfer-store.ts'
import type { AskingFlags } from './asking.ts'
import { grouped } from './output.ts'
import { duration, type Progress } from './progress.ts'

/** The service waits this long for another writer before it refuses a write. */
export const DEFAULT_MAX_PAUSE_SECONDS = 5
/**
 * The time under the lock divided by the time of the steps. The rest of it goes into checks of barcodes and thresholds
 * and into the commit. Measured: 1.3 for new pets, 1.6 for changed quantities.
 */
const LOCKED_PER_STEP_TIME = 1.5

export interface PauseFlags extends AskingFlags {
  readonly maxPause: number
}

type OnProgress = (done: number, total: number) => void

/** Thrown to give up a write that would block the service for longer than allowed. */
class PauseTooLong extends Error {
  override readonly name = 'PauseTooLong'
  readonly rows: number
  readonly seconds: number

  constructor(rows: number, seconds: number) {
    super(`writing ${rows} rows blocks other writers for about ${seconds} s`)
    this.rows = rows
    this.seconds = seconds
  }
}

/**
 * Estimates from the first step how long the whole write blocks the service, and keeps the service informed from then
 * on. Throws PauseTooLong after the first step if that is longer than `maxSeconds`.
 */
export function watchPause(
  pause: WritePause,
  maxSeconds: number,
  now: () => number = () => performance.now(),
): OnProgress {
  let began = now()
  let isFirst = true
  return (done, total) => {
    if (done === 0) {
      began = now()
      return
    }
    const elapsed = (now() - began) / 1_000
    const seconds = (elapsed / done) * total * LOCKED_PER_STEP_TIME
    if (isFirst && done < total && seconds > maxSeconds && pause.isServed())
      throw new PauseTooLong(total, seconds)
    isFirst = false
    pause.announce(Math.max(0, seconds - elapsed))
  }
}

/**
 * Runs `apply`. If it would block a running service for longer than the flags allow, it is rolled back after its first
 * step and runs again once the user has agreed.
 */
export async function applyWithinPause<Result>(
  pause: WritePause | undefined,
  flags: PauseFlags,
  progress: Progress,
  apply: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const show: OnProgress = (done, total) => progress.show('writing', done, done / total)
  if (pause === undefined) return apply(show)
  const attempt = (maxSeconds: number) => {
    const watch = watchPause(pause, maxSeconds)
    return apply((done, total) => {
      watch(done, total)
      show(done, total)
    })
  }
  try {
    return await attempt(flags.yes === true ? Number.POSITIVE_INFINITY : flags.maxPause)
  } catch (error) {
    if (!(error instanceof PauseTooLong)) throw error
    progress.end()
    agreeTo(error)
    return await attempt(Number.POSITIVE_INFINITY)
  } finally {
    pause.withdraw()
  }
}

function agreeTo({ rows, seconds }: PauseTooLong): void {
  const effect = `writing ${grouped(rows)} rows keeps the running service from writing for about ${duration(seconds)}`
  if (!process.stdin.isTTY) {
    throw new Error(
      `${effect}; nothing was changed. Accept that with --yes or a longer --max-pause, stop the service first, or split the file`,
    )
  }
  console.error(`petstore: ${effect}; it answers reads, and refuses writes that have waited for 5 s`)
  if (!confirm('Write now?')) throw new Error('nothing was changed')
}

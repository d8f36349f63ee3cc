import type { WritePause } from '../core/transfer/transfer-store.ts'
import type { ConfirmFlags } from './arguments.ts'
import type { Progress } from './progress.ts'
import { formatDuration, formatNumber, requireConfirmation } from './terminal.ts'

/** A running service refuses a write that has waited for this long, so a longer pause needs a confirmation. */
export const DEFAULT_MAX_PAUSE_SECONDS = 5
/**
 * After the rows are written, the lock is also held for checks and the commit. Measured: 1.2 to 1.5 times the time of the write
 * for new pets, 1.6 times for changed quantities.
 */
const LOCK_TIME_PER_WRITE_TIME = 1.4

export interface PauseFlags extends ConfirmFlags {
  readonly maxPause: number
}

type OnProgress = (done: number, total: number) => void

/** Thrown to roll back a write whose long pause the user has not accepted. */
class PauseTooLong extends Error {
  override readonly name = 'PauseTooLong'
}

/**
 * Returns a callback for the progress of a write. After each step, it estimates how long the whole write blocks the service, and
 * announces the remaining time to the service. If the estimate after the first step is too long, it calls `onLongPause` with a
 * message. If `onLongPause` throws, nothing is written.
 */
export function watchPause(
  writePause: WritePause,
  maxSeconds: number,
  onLongPause: (message: string) => void,
  now: () => number = () => performance.now(),
): OnProgress {
  let startedAt = now()
  let isFirstStep = true
  return (done, total) => {
    if (done === 0) {
      startedAt = now()
      return
    }
    const elapsedSeconds = (now() - startedAt) / 1_000
    const pauseSeconds = (elapsedSeconds / done) * total * LOCK_TIME_PER_WRITE_TIME
    const isTooLong = done < total && pauseSeconds > maxSeconds
    if (isFirstStep && isTooLong && writePause.isServiceRunning()) {
      onLongPause(
        `writing ${formatNumber(total)} rows keeps the running service from writing for about ${formatDuration(pauseSeconds)}`,
      )
    }
    isFirstStep = false
    writePause.announce(Math.max(0, pauseSeconds - elapsedSeconds))
  }
}

/** Runs `apply`. If it would block a service for too long, rolls back its first step and asks before running `apply` again. */
export async function applyWithPauseLimit<Result>(
  writePause: WritePause | undefined,
  { yes, maxPause }: PauseFlags,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
  apply: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const show: OnProgress = (done, total) => progress.show('writing', done, done / total)
  if (writePause === undefined) return apply(show)
  const attempt = (onLongPause: (message: string) => void) => {
    const watch = watchPause(writePause, maxPause, onLongPause)
    return apply((done, total) => {
      watch(done, total)
      show(done, total)
    })
  }
  const printWarning = (message: string) => {
    progress.end()
    console.error(`petstore: ${message}`)
  }
  try {
    return await attempt((message) => {
      if (yes !== true) throw new PauseTooLong(message)
      printWarning(message)
    })
  } catch (error) {
    if (!(error instanceof PauseTooLong)) throw error
    if (!process.stdin.isTTY) {
      throw new Error(
        `${error.message}; nothing was changed. Accept the pause with --yes or a longer --max-pause, stop the service first, or split the file`,
      )
    }
    printWarning(error.message)
    await requireConfirmation({}, 'Write now?', signal)
    return await attempt(() => {})
  } finally {
    writePause.withdraw()
  }
}

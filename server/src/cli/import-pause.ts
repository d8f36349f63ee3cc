import type { WritePause } from '../core/transfer/transfer-store.ts'
import type { ConfirmFlags } from './arguments.ts'
import { confirmUnlessAborted, duration, grouped, type Progress } from './terminal.ts'

/** The service waits this long for another writer before it refuses a write. */
export const DEFAULT_MAX_PAUSE_SECONDS = 5
/**
 * The lock is held for longer than the rows take to write, because of the checks and the commit. Measured: 1.2 to 1.5 for
 * new pets, 1.6 for changed quantities.
 */
const LOCK_TIME_PER_WRITE_TIME = 1.4

export interface PauseFlags extends ConfirmFlags {
  readonly maxPause: number
}

type OnProgress = (done: number, total: number) => void

/** How long a write would keep a running service from writing. */
interface LongPause {
  readonly rows: number
  readonly seconds: number
}

/** Thrown to roll back a write that the user has to agree to first. */
class PauseTooLong extends Error {
  override readonly name = 'PauseTooLong'
  readonly pause: LongPause

  constructor(pause: LongPause) {
    super(effectOf(pause))
    this.pause = pause
  }
}

/**
 * After each step, estimates how long the whole write blocks the service, and announces the remaining time to the
 * service. If the estimate exceeds `maxSeconds`, calls `onLongPause` after the first step; if `onLongPause` throws,
 * nothing is written.
 */
export function watchPause(
  writePause: WritePause,
  maxSeconds: number,
  onLongPause: (pause: LongPause) => void,
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
    const seconds = (elapsed / done) * total * LOCK_TIME_PER_WRITE_TIME
    if (isFirst && done < total && seconds > maxSeconds && writePause.isServiceRunning()) {
      onLongPause({ rows: total, seconds })
    }
    isFirst = false
    writePause.announce(Math.max(0, seconds - elapsed))
  }
}

/**
 * Runs `apply`. If it would block a running service for longer than the flags allow, it is rolled back after its first
 * step and runs again once the user has agreed.
 */
export async function applyWithinPause<Result>(
  writePause: WritePause | undefined,
  { yes, maxPause }: PauseFlags,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
  apply: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const show: OnProgress = (done, total) => progress.show('writing', done, done / total)
  if (writePause === undefined) return apply(show)
  const attempt = (onLongPause: (pause: LongPause) => void) => {
    const watch = watchPause(writePause, maxPause, onLongPause)
    return apply((done, total) => {
      watch(done, total)
      show(done, total)
    })
  }
  const printEffect = (pause: LongPause) => {
    progress.end()
    console.error(`petstore: ${effectOf(pause)}`)
  }
  try {
    return await attempt((pause) => {
      if (yes !== true) throw new PauseTooLong(pause)
      printEffect(pause)
    })
  } catch (error) {
    if (!(error instanceof PauseTooLong)) throw error
    if (!process.stdin.isTTY) {
      throw new Error(
        `${error.message}; nothing was changed. Accept that with --yes or a longer --max-pause, stop the service first, or split the file`,
      )
    }
    printEffect(error.pause)
    if (!(await confirmUnlessAborted('Write now?', signal))) throw new Error('nothing was changed')
    return await attempt(() => {})
  } finally {
    writePause.withdraw()
  }
}

function effectOf({ rows, seconds }: LongPause): string {
  return `writing ${grouped(rows)} rows keeps the running service from writing for about ${duration(seconds)}`
}

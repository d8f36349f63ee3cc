import type { AdjustmentChange, Reason } from '../core/stock/command.ts'
import type { RowReader } from '../core/transfer/exchange-rows.ts'
import type { StagedAdjustment } from '../core/transfer/staged-adjustment.ts'
import { stageRows } from '../core/transfer/staged-import.ts'
import type { WritePause } from '../core/transfer/transfer-store.ts'
import type { Clock } from '../core/values/clock.ts'
import { type FileFlags, type FileRun, withStaged } from './file-run.ts'
import { applyWithinPause } from './import-pause.ts'
import { adjustmentDryRunReport, refusedLines, summary, together } from './import-report.ts'
import { counted, grouped, type Progress } from './terminal.ts'

/** What an adjustment out of a file is made for, by which command, and how. */
interface Purpose {
  readonly keyId: string
  readonly reason: Reason
  readonly reference?: string | undefined
  readonly skipRefused: boolean
  readonly clock: Clock
  readonly pause: WritePause | undefined
  /** Where it is made, for the message. */
  readonly database: string
  /** What to do with bad lines. */
  readonly advice: string
}

/** Makes one adjustment of a whole file, or shows what it would come to. */
export async function runAdjustment<Name extends string>(
  { name, bytes, source, signal }: FileRun<Name>,
  flags: Pick<FileFlags, 'dryRun' | 'show' | 'yes' | 'maxPause'>,
  kind: RowReader<AdjustmentChange>,
  staged: StagedAdjustment,
  { advice, database, clock, pause, ...purpose }: Purpose,
): Promise<void> {
  const began = performance.now()
  const { dryRun, show } = flags
  const { reason, reference, skipRefused } = purpose
  let mayBeMade = false
  const work = async (progress: Progress) => {
    const { rows, refused: bad } = await stageRows(source.batches, kind, staged, {
      examples: show,
      signal,
      onProgress: (read) => progress.show('reading', read, bytes.fractionRead()),
    })
    if (rows === 0) throw new Error(`${name} has no line with a pet; nothing was changed`)
    progress.show('comparing', rows)
    const isTrial = dryRun === true || (bad.count > 0 && !skipRefused)
    const decided = isTrial
      ? await staged.preview(show)
      : await applyWithinPause(pause, flags, { progress, signal }, (onProgress) =>
          staged.apply({
            ...purpose,
            at: clock(),
            examples: show,
            signal,
            onProgress: (done, total) => {
              mayBeMade = done === total
              onProgress(done, total)
            },
          }),
        )
    progress.end()
    const refused = together(bad, decided.refused, show)
    if (dryRun === true) console.log(adjustmentDryRunReport(name, decided, refused))
    else for (const line of refusedLines(refused)) console.error(line)
    if (refused.count > 0 && !skipRefused) {
      throw new Error(
        `${name} has ${counted(refused.count, 'bad line')}; nothing was changed. ${advice}; petstore export shows what is in stock`,
      )
    }
    if (dryRun === true) return
    const what = reference === undefined ? reason : `${reason}, ${reference}`
    const done = `${counted(decided.changed.count, 'pet')} changed, ${grouped(decided.unchanged)} left alone`
    const seconds = (performance.now() - began) / 1_000
    console.log(`${name} (${what}): ${summary(done, rows, refused.count, seconds)} in ${database}`)
  }
  await withStaged(staged, work, () =>
    mayBeMade
      ? 'it failed in the last moment, and the adjustment may have been made: see petstore history PETID before you give the file again'
      : 'nothing was changed',
  )
}

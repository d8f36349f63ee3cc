import { useReadable } from '../data/observable.ts'
import type { LeftOut } from '../data/stock/adjustment-batch.ts'
import { type BulkProgress, retryable } from '../data/stock/bulk-changes.ts'
import { undoAndTell } from '../quantity/save-and-tell.ts'
import { useSession } from '../session/session-context.ts'
import { href } from '../ui/navigation.ts'

const MAX_LISTED = 50

/** How far a change of several rows is, and what came of it. */
export function BulkResult({ progress }: { readonly progress: BulkProgress }) {
  return progress.phase === 'done' ? <Summary progress={progress} /> : <Running progress={progress} />
}

function Running({ progress }: { readonly progress: BulkProgress }) {
  const { bulk } = useSession()
  const { total, changed, unchanged, leftOut, phase } = progress
  const done = changed + unchanged + leftOut.length
  return (
    <div className="bulk-bar__running">
      <strong className="number">
        {phase === 'stopping' ? 'Stopping' : 'Changing'} {inWords(done)} of {inWords(total)}
      </strong>
      <div
        className="progress bulk-bar__progress"
        role="progressbar"
        aria-label="Rows done"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
      >
        <div className="progress__bar" style={{ width: `${total === 0 ? 100 : (100 * done) / total}%` }} />
      </div>
      <button type="button" className="button" disabled={phase === 'stopping'} onClick={() => bulk.stop()}>
        Stop
      </button>
    </div>
  )
}

function Summary({ progress }: { readonly progress: BulkProgress }) {
  const session = useSession()
  const { bulk, table } = session
  const { step, leftOut } = progress
  const end = () => {
    bulk.clear()
    table.set({ ...table.get(), selected: new Set() })
  }
  // Undo takes back the last change, which may be another one by now.
  const canUndo = useReadable(session.undo).at(-1) === step && step !== undefined
  return (
    <div className="bulk-bar__summary">
      <div className="bulk-bar__form">
        <strong role="status">{summaryOf(progress)}</strong>
        {retryable(progress).length > 0 && (
          <button type="button" className="button" onClick={() => void bulk.retry()}>
            Try those again
          </button>
        )}
        {canUndo && (
          <button type="button" className="button" onClick={() => void undoAndTell(session)}>
            Undo
          </button>
        )}
        <button type="button" className="button button--primary" onClick={end}>
          Done
        </button>
      </div>
      {leftOut.length > 0 && <LeftOutList leftOut={leftOut} />}
    </div>
  )
}

function LeftOutList({ leftOut }: { readonly leftOut: readonly LeftOut[] }) {
  const { stock } = useSession()
  const rest = leftOut.length - MAX_LISTED
  return (
    <ul className="bulk-bar__left-out">
      {leftOut.slice(0, MAX_LISTED).map(({ petId, reason, unsettled }) => (
        <li key={String(petId)}>
          <strong>{stock.find(petId)?.name ?? `Pet ${petId}`}</strong> {reason}
          {unsettled !== undefined && (
            <>
              {' '}
              <a href={href({ view: 'pet', petId })}>Look at its history</a>
            </>
          )}
        </li>
      ))}
      {rest > 0 && <li className="muted">and {inWords(rest)} more</li>}
    </ul>
  )
}

/** Every pet is in exactly one of the counts. */
function summaryOf({ action, changed, unchanged, leftOut }: BulkProgress): string {
  const countOf = (why: LeftOut['why']) => leftOut.filter((one) => one.why === why).length
  const parts: [number, string][] = [
    [unchanged, 'had that quantity already'],
    [countOf('conflict'), 'left alone, since somebody else changed them'],
    [countOf('gone'), 'not in the store any more'],
    [countOf('refused'), 'refused'],
    [countOf('failed'), 'failed'],
    [countOf('stopped'), 'stopped'],
  ]
  const rest = parts.filter(([count]) => count > 0).map(([count, what]) => `${inWords(count)} ${what}`)
  return [`${inWords(changed)} ${action.kind === 'undo' ? 'changed back' : 'changed'}`, ...rest].join(' · ')
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}

import type { ImportProgress, ImportRun } from './import-run.ts'
import { LineTable } from './line-table.tsx'

interface Props {
  readonly run: ImportRun
  readonly progress: ImportProgress
}

/** How an import goes, and what came of it. */
export function ImportResult({ run, progress }: Props) {
  const { fileName, phase, done, total, added, changed, failed, stoppedBy } = progress
  const isDone = phase === 'done'
  const made = `${added.toLocaleString('en')} added, ${changed.toLocaleString('en')} changed`
  const missed = failed.length === 0 ? '' : `, ${failed.length.toLocaleString('en')} failed`
  return (
    <section className="card import__preview" aria-labelledby="import-result-title">
      <h2 id="import-result-title">{isDone ? `${fileName} is imported` : `Importing ${fileName}`}</h2>
      {!isDone && (
        <>
          <div
            className="progress"
            role="progressbar"
            aria-label="Requests"
            aria-valuemin={0}
            aria-valuemax={total}
            aria-valuenow={done}
          >
            <div className="progress__bar" style={{ width: `${(100 * done) / Math.max(1, total)}%` }} />
          </div>
          <p className="number muted">
            {done.toLocaleString('en')} of {total.toLocaleString('en')} requests
          </p>
        </>
      )}
      <p role="status">{isDone || missed !== '' ? `${made}${missed}.` : ''}</p>
      {isDone && stoppedBy !== undefined && (
        <p className="notice notice--caution">
          It ended before its end: {stoppedBy}. What is in stays in. Import the same file again to bring in
          the rest.
        </p>
      )}
      {!isDone && (
        <button
          type="button"
          className="button import__stop"
          disabled={phase === 'stopping'}
          onClick={() => run.stop()}
        >
          {phase === 'stopping' ? 'Stopping' : 'Stop'}
        </button>
      )}
      {failed.length > 0 && (
        <LineTable
          name="Failed"
          lines={failed.map(({ line, name, reason }) => ({ line, name, what: reason }))}
        />
      )}
    </section>
  )
}

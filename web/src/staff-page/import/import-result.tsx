import type { ImportProgress, ImportRun } from './import-run.ts'
import { LineTable } from './line-table.tsx'

interface Props {
  readonly run: ImportRun
  readonly progress: ImportProgress
}

/** The progress of an import, and its result. */
export function ImportResult({ run, progress }: Props) {
  const { phase, total, added, changed, failed, stoppedBy } = progress
  const isDone = phase === 'done'
  const done = added + changed + failed.length
  const saved = `${added.toLocaleString('en')} added, ${changed.toLocaleString('en')} changed`
  const failures = failed.length === 0 ? '' : `, ${failed.length.toLocaleString('en')} failed`
  return (
    <section className="card import__preview" aria-labelledby="import-result-title">
      <h2 id="import-result-title">{titleOf(progress)}</h2>
      {!isDone && (
        <>
          <div
            className="progress"
            role="progressbar"
            aria-label="Pets"
            aria-valuemin={0}
            aria-valuemax={total}
            aria-valuenow={done}
          >
            <div className="progress__bar" style={{ width: `${(100 * done) / Math.max(1, total)}%` }} />
          </div>
          <p className="number muted">
            {done.toLocaleString('en')} of {total.toLocaleString('en')} {total === 1 ? 'pet' : 'pets'}
          </p>
        </>
      )}
      <p role="status">{isDone || failures !== '' ? `${saved}${failures}.` : ''}</p>
      {isDone && stoppedBy !== undefined && (
        <p className="notice notice--caution">
          The import stopped early: {stoppedBy.replace(/\.$/, '')}. Saved pets stay saved. Import the same
          file again to import the rest.
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
          lines={failed.map(({ line, name, reason }) => ({ line, name, text: reason }))}
        />
      )}
    </section>
  )
}

function titleOf({ fileName, phase, stoppedBy }: ImportProgress): string {
  if (phase !== 'done') return `Importing ${fileName}`
  return stoppedBy === undefined ? `${fileName} is imported` : `Import of ${fileName} stopped`
}

import { Fragment, useEffect, useRef, useState } from 'react'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useLostFocus } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { importOf } from './import-of.ts'
import { ImportPreview } from './import-preview.tsx'
import { ImportResult } from './import-result.tsx'
import { PET_COLUMNS } from './pet-file.ts'
import { type Prepared, prepareImport } from './prepare-import.ts'
import './import.css'

/** Imports pets from a file, after a preview that shows every line. */
export function ImportView() {
  const session = useSession()
  const run = importOf(session)
  const progress = useReadable(run)
  const { phase } = useStock()
  const mayChangeStock = useMayChange('stock')
  const mayImport = useMayChange('pets')
  const [prepared, setPrepared] = useState<Prepared>()
  const [state, setState] = useState<'idle' | 'reading' | { readonly failure: string }>('idle')

  const read = async (chosen: File) => {
    setState('reading')
    setPrepared(undefined)
    run.clear()
    try {
      setPrepared(await prepareImport(session, chosen, mayChangeStock))
      setState('idle')
    } catch (error) {
      setState({ failure: failureWords(error) })
    }
  }
  const section = useRef<HTMLElement>(null)
  useLostFocus(section, progress?.phase)
  const isDone = progress?.phase === 'done'
  useEffect(() => {
    if (isDone) setPrepared(undefined)
  }, [isDone])

  return (
    <section ref={section} className="view import" aria-label="Import" tabIndex={-1}>
      <a className="import__back" href={href({ view: 'pets' })}>
        <span aria-hidden="true">← </span>Pets
      </a>
      <h1>Import pets from a file</h1>
      {!mayImport && (
        <p className="notice notice--caution">This key may not change pets. Sign in with a key that may.</p>
      )}
      {mayImport && !run.isRunning() && (
        <div className="card import__choose">
          <div className="field">
            <label className="field__label" htmlFor="import-file">
              CSV file
            </label>
            <input
              id="import-file"
              className="import__file"
              type="file"
              accept=".csv,.txt,text/csv"
              disabled={state === 'reading' || phase !== 'ready'}
              aria-describedby="import-hint"
              // The browser reports a file that is chosen again only if the field was cleared.
              onClick={({ currentTarget }) => {
                currentTarget.value = ''
              }}
              onChange={({ currentTarget: { files } }) => {
                const [chosen] = files ?? []
                if (chosen !== undefined) void read(chosen)
              }}
            />
            <p id="import-hint" className="field__hint">
              As Excel saves it, with commas or semicolons. The first line has the columns{' '}
              <code className="import__columns">
                {PET_COLUMNS.split(',').map((column, index) => (
                  <Fragment key={column}>
                    {index > 0 && ','}
                    <wbr />
                    {column}
                  </Fragment>
                ))}
              </code>
              ; the last two are optional. You see all changes before anything is saved.
            </p>
          </div>
          <p role="status">{state === 'reading' && 'Comparing the file with the store …'}</p>
          {typeof state === 'object' && (
            <p className="notice notice--negative" role="alert">
              {state.failure}
            </p>
          )}
        </div>
      )}
      {progress !== undefined && <ImportResult run={run} progress={progress} />}
      {prepared !== undefined && progress === undefined && (
        <ImportPreview
          prepared={prepared}
          onStart={() => void run.start(prepared.plan, prepared.file.name)}
        />
      )}
    </section>
  )
}

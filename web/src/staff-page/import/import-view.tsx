import { useEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { saveCsv } from '../data/save-csv.ts'
import { takeSearchRows } from '../data/stock/stock-search.ts'
import type { Session } from '../session/session.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { useAttempt } from '../ui/use-attempt.ts'
import { concernsFile, type KnownPet, type PreparedImport, planImport } from './import-plan.ts'
import { ImportPreview, ImportResult } from './import-preview.tsx'
import { importOf } from './import-run.ts'
import { readPetFile, TEMPLATE } from './pet-file.ts'
import './import.css'

export function ImportView() {
  const session = useSession()
  const run = importOf(session)
  const progress = useReadable(run)
  const { phase } = useStock()
  const mayChangeStock = useMayChange('stock')
  const mayImport = useMayChange('pets')
  const [prepared, setPrepared] = useState<PreparedImport>()
  const { failure, isBusy, attempt } = useAttempt()

  const read = async (chosen: File) => {
    setPrepared(undefined)
    run.clear()
    setPrepared(await prepareImport(session, chosen, mayChangeStock))
  }
  const section = useRef<HTMLElement>(null)
  useLostFocus(section, progress?.phase)
  const isDone = progress?.phase === 'done'
  useEffect(() => {
    if (isDone) setPrepared(undefined)
  }, [isDone])

  return (
    <section ref={section} className="view import" aria-label="Import" tabIndex={-1}>
      <a className="back-link" href={href({ view: 'pets' })}>
        <span aria-hidden="true">← </span>Pets
      </a>
      <h1>Import pets from a file</h1>
      {!mayImport && (
        <p className="notice notice--caution">This key may not change pets. Sign in with a key that may.</p>
      )}
      {mayImport && !run.isRunning() && (
        <div className="card card__body stack import__choose">
          <Field label="CSV file" hint={HINT}>
            {(control) => (
              <input
                {...control}
                className="import__file"
                type="file"
                accept=".csv,.txt,text/csv"
                disabled={isBusy || phase !== 'ready'}
                // The browser reports a file that is chosen again only if the field was cleared.
                onClick={({ currentTarget }) => {
                  currentTarget.value = ''
                }}
                onChange={({ currentTarget: { files } }) => {
                  const [chosen] = files ?? []
                  if (chosen !== undefined) void attempt(() => read(chosen))
                }}
              />
            )}
          </Field>
          <span>
            <Button onClick={() => saveCsv('pets-template.csv', TEMPLATE)}>Download a template</Button>
          </span>
          <p role="status">{isBusy && 'Comparing the file with the store …'}</p>
          {failure !== undefined && (
            <p className="notice notice--negative" role="alert">
              {failure}
            </p>
          )}
        </div>
      )}
      <ImportResult run={run} />
      {prepared !== undefined && progress === undefined && (
        <ImportPreview
          prepared={prepared}
          onStart={() => void run.start(prepared.plan, prepared.file.name)}
        />
      )}
    </section>
  )
}

const PETS_PER_PAGE = 1_000
const HINT =
  'As Excel saves it, with commas or semicolons. The first line names the columns: name, category (or categoryId), status and quantity; petId, barcode and lowStockAt are optional. A line without a petId adds a pet. You see all changes before anything is saved.'

async function prepareImport(
  session: Session,
  chosen: File,
  mayChangeStock: boolean,
): Promise<PreparedImport> {
  const file = readPetFile(chosen.name, new Uint8Array(await chosen.arrayBuffer()))
  const { client, stock, categories, saving } = session
  await categories.reload()
  const concerns = concernsFile(file)
  const pets = new Map<bigint, KnownPet>()
  let cursor: string | undefined
  do {
    const page = await client.inventory.search({ limit: PETS_PER_PAGE, cursor, signal: saving.signal })
    const found = page.items.filter((row) => concerns(row))
    // Events keep the pets that the page holds current; the page of a large store has to hold these as well.
    takeSearchRows(
      stock,
      found.filter(({ petId }) => stock.find(petId) === undefined),
    )
    for (const row of found) pets.set(row.petId, { ...row, lowStockAt: row.ownLowStockAt })
    cursor = page.next
  } while (cursor !== undefined)
  const known = { pets, categories: categories.get().byId.values(), mayChangeStock }
  return { file, plan: planImport(file, known), limits: await client.limits.get() }
}

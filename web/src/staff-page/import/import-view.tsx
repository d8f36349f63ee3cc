import { type ErrorDetail, type ImportResult, isPetstoreError, type PetstoreClient } from '@petstore/client'
import { useRef, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { saveCsv } from '../data/save-csv.ts'
import { showToast } from '../data/toasts.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { SelectField } from '../ui/select-field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'
import { petsWords } from '../ui/words.ts'
import './import.css'

interface PetFile {
  readonly name: string
  readonly text: string
  /** Whether the file was read as Windows-1252, because it is not UTF-8. */
  readonly isLatin: boolean
}

/** What the import of a file would do or has done, or the lines that it refuses. */
type Outcome =
  | { readonly type: 'possible' | 'done'; readonly result: ImportResult }
  | { readonly type: 'refused'; readonly lines: readonly ErrorDetail[] }

type ImportOptions = Parameters<PetstoreClient['imports']['file']>[1] & object
type Locale = NonNullable<ImportOptions['locale']>

const TEMPLATE = 'name,category,status,quantity,barcode,lowStockAt\nGoldfish (example),Fish,available,12,,3\n'
const HINT =
  'As Excel saves it, with commas, semicolons or tabs. The first line names the columns: petId, name, category, status, quantity, barcode and lowStockAt. A line without a petId changes the pet with its barcode, or else adds a pet. You see how many pets change before anything is saved.'
const NUMBER_OPTIONS: readonly { readonly value: Locale | ''; readonly label: string }[] = [
  { value: '', label: 'Plain digits, such as 1200' },
  { value: 'en', label: 'English, such as 1,200' },
  { value: 'de', label: 'German, such as 1.200' },
]

export function ImportView() {
  const { client } = useSession()
  const mayImport = useMayChange('pets')
  const [file, setFile] = useState<PetFile>()
  const [columns, setColumns] = useState('')
  const [locale, setLocale] = useState<Locale | ''>('')
  const [outcome, setOutcome] = useState<Outcome>()
  const { failure, isBusy, attempt } = useAttempt()
  const section = useRef<HTMLElement>(null)
  useLostFocus(section, outcome?.type)

  const send = (chosen: PetFile, dryRun: boolean) =>
    attempt(async () => {
      setOutcome(undefined)
      const form = { map: columns.trim() || undefined, locale: locale || undefined }
      setOutcome(await importPets(client, chosen, { ...form, dryRun }))
    })
  const choose = async (chosen: File) => {
    const read = await readFile(chosen)
    setFile(read)
    await send(read, true)
  }
  /** The outcome belongs to the file as it was read before. */
  const changeForm = (change: () => void) => {
    setOutcome(undefined)
    change()
  }

  return (
    <section ref={section} className="view import" aria-label="Import" tabIndex={-1}>
      <a className="back-link" href={href({ view: 'pets' })}>
        <span aria-hidden="true">← </span>Pets
      </a>
      <h1>Import pets from a file</h1>
      {!mayImport && (
        <p className="notice notice--caution">This key may not change pets. Sign in with a key that may.</p>
      )}
      {mayImport && (
        <div className="card card__body stack">
          <Field label="CSV file" hint={HINT}>
            {(control) => (
              <input
                {...control}
                className="import__file"
                type="file"
                accept=".csv,.txt,text/csv"
                disabled={isBusy}
                // The browser reports a file that is chosen again only if the field was cleared.
                onClick={({ currentTarget }) => {
                  currentTarget.value = ''
                }}
                onChange={({ currentTarget: { files } }) => {
                  const [chosen] = files ?? []
                  if (chosen !== undefined) void choose(chosen)
                }}
              />
            )}
          </Field>
          <TextField
            label="Columns with other names"
            hint="Such as Article:name, Stock:quantity. Common English and German names are known."
            value={columns}
            onChange={(text) => changeForm(() => setColumns(text))}
          />
          <SelectField
            label="Numbers"
            options={NUMBER_OPTIONS}
            value={locale}
            onChange={(value) => changeForm(() => setLocale(value))}
          />
          <div className="cluster">
            {file !== undefined && (
              <Button isBusy={isBusy} onClick={() => void send(file, true)}>
                Check {file.name}
              </Button>
            )}
            <Button onClick={() => saveCsv('pets-template.csv', TEMPLATE)}>Download a template</Button>
          </div>
          <p role="status">{isBusy && `Reading ${file?.name ?? 'the file'} …`}</p>
          {failure !== undefined && (
            <p className="notice notice--negative" role="alert">
              {failure}
            </p>
          )}
        </div>
      )}
      {file !== undefined && outcome !== undefined && (
        <OutcomeCard file={file} outcome={outcome} onStart={() => void send(file, false)} />
      )}
    </section>
  )
}

/** Older spreadsheets write Windows-1252. */
async function readFile(chosen: File): Promise<PetFile> {
  const bytes = await chosen.arrayBuffer()
  const { name } = chosen
  try {
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), isLatin: false }
  } catch {
    return { name, text: new TextDecoder('windows-1252').decode(bytes), isLatin: true }
  }
}

/** An import of many pets takes minutes. */
const IMPORT_TIMEOUT_MS = 30 * 60_000

async function importPets(
  client: PetstoreClient,
  file: PetFile,
  options: Pick<ImportOptions, 'map' | 'locale' | 'dryRun'>,
): Promise<Outcome> {
  const warn = (event: BeforeUnloadEvent) => event.preventDefault()
  if (options.dryRun !== true) addEventListener('beforeunload', warn)
  try {
    const limits = { timeout: IMPORT_TIMEOUT_MS, totalTimeout: IMPORT_TIMEOUT_MS }
    const result = await client.imports.file(file.text, { ...options, ...limits })
    if (result.dryRun) return { type: 'possible', result }
    // It is shown on any view, because the person may have left this one.
    showToast({ name: 'import', text: `${file.name} is imported. ${doneWords(result)}` })
    return { type: 'done', result }
  } catch (error) {
    const details = isPetstoreError(error) ? error.details : []
    if (details.length > 0) return { type: 'refused', lines: details }
    throw new Error(failureWords(error, { forbidden: 'This key may not import pets.' }))
  } finally {
    removeEventListener('beforeunload', warn)
  }
}

interface OutcomeProps {
  readonly file: PetFile
  readonly outcome: Outcome
  readonly onStart: () => void
}

function OutcomeCard({ file, outcome, onStart }: OutcomeProps) {
  return (
    <section className="card card__body stack import__outcome" aria-labelledby="import-title">
      <h2 id="import-title">{outcome.type === 'done' ? `${file.name} is imported` : file.name}</h2>
      {file.isLatin && outcome.type === 'possible' && (
        <p className="notice notice--caution">
          The file is not UTF-8 and was read as Windows-1252, as older Excel saves it. Look at names with
          accents and umlauts before you continue.
        </p>
      )}
      {outcome.type === 'refused' ? (
        <RefusedLines lines={outcome.lines} />
      ) : (
        <ImportCounts outcome={outcome} onStart={onStart} />
      )}
    </section>
  )
}

function ImportCounts({
  outcome: { type, result },
  onStart,
}: {
  readonly outcome: Exclude<Outcome, { readonly type: 'refused' }>
  readonly onStart: () => void
}) {
  const { added, changed, unchanged, ignoredColumns } = result
  return (
    <>
      {ignoredColumns.length > 0 && (
        <p className="notice">Columns that are not imported: {ignoredColumns.join(', ')}.</p>
      )}
      <p role="status">
        {type === 'done'
          ? doneWords(result)
          : `${numberWords(added)} to add, ${numberWords(changed)} to change, ${numberWords(unchanged)} already as in the file.`}
      </p>
      {type === 'possible' && added + changed > 0 && (
        <span>
          <Button tone="primary" onClick={onStart}>
            Import {petsWords(added + changed)}
          </Button>
        </span>
      )}
    </>
  )
}

function doneWords({ added, changed }: ImportResult): string {
  return `${numberWords(added)} added, ${numberWords(changed)} changed.`
}

function numberWords(count: number): string {
  return count.toLocaleString('en')
}

const SHOWN_LINES = 100

function RefusedLines({ lines }: { readonly lines: readonly ErrorDetail[] }) {
  return (
    <>
      <p className="notice notice--negative" role="alert">
        Nothing was imported, because of{' '}
        {lines.length === 1 ? 'a line' : `${numberWords(lines.length)} lines`}. Correct the file and choose it
        again.
      </p>
      <table className="table line-table" aria-label="Refused lines">
        <thead>
          <tr>
            <th scope="col" className="table__number">
              Line
            </th>
            <th scope="col">Problem</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, SHOWN_LINES).map(({ line, message }) => (
            <tr key={`${line} ${message}`}>
              <td className="table__number">{numberWords(line ?? 1)}</td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > SHOWN_LINES && <p className="muted">The first {SHOWN_LINES} lines are shown.</p>}
    </>
  )
}

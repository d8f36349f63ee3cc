import { useState } from 'preact/compat'
import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { isImplausible } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { ProgressBar } from '../ui/progress-bar.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { petsWords } from '../ui/words.ts'
import { costWords, type ImportPlan, type PetLine, type PreparedImport } from './import-plan.ts'
import type { ImportProgress, ImportRun } from './import-run.ts'

type Kind = PetLine['type'] | 'refused'

/** Refused lines need work, so they are shown before all others. */
const FIRST_SHOWN: readonly Kind[] = ['refused', 'added', 'changed']
const MAX_LARGE_NAMED = 5

export function ImportPreview(props: { readonly prepared: PreparedImport; readonly onStart: () => void }) {
  const { file, plan, limits } = props.prepared
  const categories = useReadable(useSession().categories)
  const [chosen, setChosen] = useState<Kind>()
  const linesOf = (type: PetLine['type']) => plan.lines.filter((line) => line.type === type)
  const count = {
    added: linesOf('added').length,
    changed: linesOf('changed').length,
    refused: plan.refused.length,
  }
  const options = [
    { value: 'added' as const, label: `To add ${count.added.toLocaleString('en')}` },
    { value: 'changed' as const, label: `To change ${count.changed.toLocaleString('en')}` },
    { value: 'refused' as const, label: `Refused ${count.refused.toLocaleString('en')}` },
  ]
  const kind = chosen ?? FIRST_SHOWN.find((each) => count[each] > 0) ?? 'added'
  const shown =
    kind === 'refused'
      ? plan.refused.map(({ line, reason }) => ({ line, name: '', text: reason }))
      : linesOf(kind).map((line) => ({ ...line, text: lineWords(line, categories) }))
  const repeated = plan.lines.filter(({ sameNameAs }) => sameNameAs !== undefined).length
  const cost = `${costWords(plan, limits)}${count.refused > 0 ? ' Refused lines are left out.' : ''}`
  const start = async () => {
    const text = [largeWords(plan), categoryWords(plan), cost].filter((words) => words !== '')
    const question = { title: `${actionWords(count)}?`, text, yes: 'Yes, import', no: 'Not yet' }
    if (await ask(question)) props.onStart()
  }
  return (
    <section className="card card__body stack import__preview" aria-labelledby="import-preview-title">
      <h2 id="import-preview-title">Changes from {file.name}</h2>
      {file.isLatin && (
        <p className="notice notice--caution">
          The file is not UTF-8 and was read as Windows-1252, as older Excel saves it. Look at names with
          accents and umlauts before you continue.
        </p>
      )}
      {file.hasGuards && (
        <p className="notice">
          An apostrophe before =, +, - or @ protects a cell from spreadsheets. It is not imported.
        </p>
      )}
      {repeated > 0 && (
        <p className="notice notice--caution">
          {petsWords(repeated)} without a petId: a pet of the same name exists. The import adds another pet.
          To change the existing pet, fill in its petId.
        </p>
      )}
      <p role="status">
        {sumWords(count, plan.unchanged)} {categoryWords(plan)}
      </p>
      <SegmentedControl label="Lines" options={options} value={kind} onChange={setChosen} />
      <LineTable key={kind} name={kind} lines={shown} />
      {plan.lines.length > 0 && (
        <>
          <p>{cost}</p>
          <span>
            <Button tone="primary" onClick={() => void start()}>
              Import…
            </Button>
          </span>
        </>
      )}
    </section>
  )
}

/** Names the quantities that may be mistakes, such as a barcode in the wrong column. */
function largeWords({ lines }: ImportPlan): string {
  const large = lines.flatMap(({ name, pet, quantity: counted }) => {
    const quantity = counted?.quantity ?? pet.quantity ?? 0
    return isImplausible(counted?.expected ?? 0, quantity) ? [`${name} ${quantity.toLocaleString('en')}`] : []
  })
  if (large.length === 0) return ''
  const rest = large.length - MAX_LARGE_NAMED
  const more = rest > 0 ? ` and ${rest.toLocaleString('en')} more` : ''
  return `Are these quantities right? ${large.slice(0, MAX_LARGE_NAMED).join(', ')}${more}.`
}

function sumWords(count: Readonly<Record<Kind, number>>, unchanged: number): string {
  const numbers = `${count.added.toLocaleString('en')} to add, ${count.changed.toLocaleString('en')} to change, ${count.refused.toLocaleString('en')} refused`
  return `${numbers}, ${unchanged.toLocaleString('en')} already ${unchanged === 1 ? 'as it is' : 'as they are'} in the file.`
}

function categoryWords({ categories }: ImportPlan): string {
  if (categories.length === 0) return ''
  const [noun, verb] = categories.length === 1 ? ['Category', 'is'] : ['Categories', 'are']
  return `${noun} ${categories.map(({ name }) => `“${name}”`).join(', ')} ${verb} new and will be added.`
}

/** Such as `Add 1 pet and change 12`. */
function actionWords({ added, changed }: Readonly<Record<Kind, number>>): string {
  if (added === 0) return `Change ${petsWords(changed)}`
  return `Add ${petsWords(added)}${changed === 0 ? '' : ` and change ${changed.toLocaleString('en')}`}`
}

/** All fields of a new pet, or the fields of a pet that would change. */
export function lineWords(line: PetLine, categories: CategoryList): string {
  const { pet, quantity, newCategory, sameNameAs } = line
  const category = newCategory ?? categoryName(categories, pet.categoryId)
  const number = (value = 0) => value.toLocaleString('en')
  const parts =
    line.type === 'added'
      ? [
          pet.id === undefined ? 'new id' : `id ${pet.id}`,
          category,
          pet.status,
          `${number(pet.quantity)} in stock`,
          pet.barcode && `barcode ${pet.barcode}`,
          pet.lowStockAt != null && `warn at ${number(pet.lowStockAt)}`,
          pet.metadata != null && 'with metadata',
          sameNameAs !== undefined && `pet ${sameNameAs} has the same name`,
        ]
      : [
          pet.name && `name to ${pet.name}`,
          category && `category to ${category}`,
          pet.status && `status to ${pet.status}`,
          pet.barcode && `barcode to ${pet.barcode}`,
          pet.barcode === null && 'no barcode',
          pet.lowStockAt != null && `warn at ${number(pet.lowStockAt)}`,
          pet.lowStockAt === null && 'no warning of its own',
          pet.metadata != null && 'other metadata',
          pet.metadata === null && 'no metadata',
          quantity && `quantity from ${number(quantity.expected)} to ${number(quantity.quantity)}`,
        ]
  return parts.filter(Boolean).join(', ')
}

export function ImportResult({ run }: { readonly run: ImportRun }) {
  const progress = useReadable(run)
  if (progress === undefined) return null
  const { phase, total, added, changed, failed, stoppedBy } = progress
  const isDone = phase === 'done'
  const done = added + changed + failed.length
  const saved = `${added.toLocaleString('en')} added, ${changed.toLocaleString('en')} changed`
  const failures = failed.length === 0 ? '' : `, ${failed.length.toLocaleString('en')} failed`
  return (
    <section className="card card__body stack import__preview" aria-labelledby="import-result-title">
      <h2 id="import-result-title">{titleOf(progress)}</h2>
      {!isDone && (
        <>
          <ProgressBar label="Pets" done={done} total={total} />
          <p className="number muted">
            {done.toLocaleString('en')} of {petsWords(total)}
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
        <span>
          <Button isDisabled={phase === 'stopping'} onClick={() => run.stop()}>
            {phase === 'stopping' ? 'Stopping' : 'Stop'}
          </Button>
        </span>
      )}
      {failed.length > 0 && (
        <LineTable name="Failed" lines={failed.map((line) => ({ ...line, text: line.reason }))} />
      )}
    </section>
  )
}

function titleOf({ fileName, phase, stoppedBy }: ImportProgress): string {
  if (phase !== 'done') return `Importing ${fileName}`
  return stoppedBy === undefined ? `${fileName} is imported` : `Import of ${fileName} stopped`
}

const LINES_PER_PAGE = 100

interface LineTableProps {
  readonly name: string
  readonly lines: readonly { readonly line: number; readonly name: string; readonly text: string }[]
}

/** Lines of a file, each with a text about it. Shows 100, and more on request. */
function LineTable({ name, lines }: LineTableProps) {
  const [shown, setShown] = useState(LINES_PER_PAGE)
  if (lines.length === 0) return <p className="muted">None.</p>
  return (
    <>
      <table className="table line-table" aria-label={name}>
        <thead>
          <tr>
            <th scope="col" className="table__number">
              Line
            </th>
            <th scope="col">Pet</th>
            <th scope="col">Details</th>
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, shown).map(({ line, name: pet, text }) => (
            <tr key={`${line} ${text}`}>
              <td className="table__number">{line.toLocaleString('en')}</td>
              <td>{pet}</td>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > shown && (
        <Button onClick={() => setShown(shown + LINES_PER_PAGE)}>
          Show more of {lines.length.toLocaleString('en')}
        </Button>
      )}
    </>
  )
}

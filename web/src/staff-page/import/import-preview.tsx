import { useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import { useSession } from '../session/session-context.ts'
import { useLostFocus } from '../ui/hooks.ts'
import { petsWords } from '../ui/words.ts'
import { costOf, costWords } from './import-cost.ts'
import { LineTable, type ShownLine } from './line-table.tsx'
import { addedWords, changedWords } from './line-words.ts'
import type { Prepared } from './prepare-import.ts'

interface Props {
  readonly prepared: Prepared
  readonly onStart: () => void
}

const KINDS = { added: 'To add', changed: 'To change', refused: 'Refused' } as const
type Kind = keyof typeof KINDS

/** Shows what the import would change, and asks before it starts. */
export function ImportPreview({ prepared: { file, plan, limits }, onStart }: Props) {
  const categories = useReadable(useSession().categories)
  const { added, changed, refused, unchanged } = plan
  const count = { added: added.length, changed: changed.length, refused: refused.length }
  const kinds = Object.keys(KINDS) as readonly Kind[]
  const [chosen, setChosen] = useState<Kind>()
  const [isAsking, setAsking] = useState(false)
  const safe = useRef<HTMLButtonElement>(null)
  useLostFocus(safe, isAsking)
  const kind = chosen ?? kinds.find((candidate) => count[candidate] > 0) ?? 'added'
  const lines: Readonly<Record<Kind, () => readonly ShownLine[]>> = {
    added: () => added.map(({ line, pet }) => ({ line, name: pet.name, text: addedWords(pet, categories) })),
    changed: () =>
      changed.map((change) => ({
        line: change.line,
        name: change.name,
        text: changedWords(change, categories),
      })),
    refused: () => refused.map(({ line, reason }) => ({ line, name: '', text: reason })),
  }
  const work = count.added + count.changed
  const cost = costOf(plan, limits)
  return (
    <section className="card import__preview" aria-labelledby="import-preview-title">
      <h2 id="import-preview-title">Changes from {file.name}</h2>
      {file.isLatin && (
        <p className="notice notice--caution">
          The file is not UTF-8 and was read as Windows-1252, as older Excel saves it. Look at names with
          accents and umlauts before you continue.
        </p>
      )}
      <p role="status">
        {sumWords(count, unchanged)}
        {plan.categories.length > 0 &&
          ` ${plan.categories.length === 1 ? 'Category' : 'Categories'} ${plan.categories.join(', ')} ${plan.categories.length === 1 ? 'is' : 'are'} new and will be added.`}
      </p>
      <fieldset className="segmented import__kinds">
        <legend className="visually-hidden">Lines</legend>
        {kinds.map((option) => (
          <button
            key={option}
            type="button"
            className="segmented__option"
            aria-pressed={kind === option}
            onClick={() => setChosen(option)}
          >
            {KINDS[option]} {count[option].toLocaleString('en')}
          </button>
        ))}
      </fieldset>
      <LineTable key={kind} name={KINDS[kind]} lines={lines[kind]()} />
      {work > 0 && (
        <div className="import__ask">
          <p>
            {costWords(cost)}
            {count.refused > 0 && ' Refused lines are left out.'}
          </p>
          {isAsking ? (
            <div className="import__question" role="alert">
              <strong>{doWords(count)}?</strong>
              <button type="button" className="button button--primary" onClick={onStart}>
                Yes, import
              </button>
              <button ref={safe} type="button" className="button" onClick={() => setAsking(false)}>
                Not yet
              </button>
            </div>
          ) : (
            <button
              ref={safe}
              type="button"
              className="button button--primary"
              onClick={() => setAsking(true)}
            >
              Import…
            </button>
          )}
        </div>
      )}
    </section>
  )
}

function sumWords(count: Readonly<Record<Kind, number>>, unchanged: number): string {
  const numbers = `${count.added.toLocaleString('en')} to add, ${count.changed.toLocaleString('en')} to change, ${count.refused.toLocaleString('en')} refused`
  return `${numbers}, ${unchanged.toLocaleString('en')} already ${unchanged === 1 ? 'as it is' : 'as they are'} in the file.`
}

/** Such as `Add 1 pet and change 12`. */
function doWords({ added, changed }: Readonly<Record<Kind, number>>): string {
  if (added === 0) return `Change ${petsWords(changed)}`
  return `Add ${petsWords(added)}${changed === 0 ? '' : ` and change ${changed.toLocaleString('en')}`}`
}

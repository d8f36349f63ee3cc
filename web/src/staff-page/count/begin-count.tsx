import { type FormEvent, useState } from 'preact/compat'
import { byName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/hooks.ts'
import { petsWords } from '../ui/words.ts'
import type { CountDraft } from './count-draft.ts'
import { MAX_COUNTED, type ScopePets, useScopePets } from './use-scope-pets.ts'

const SEARCH_AFTER_MS = 250

/** Chooses which pets to count. */
export function BeginCount({ count }: { readonly count: CountDraft }) {
  const { hasNames, isComplete } = useStock()
  const categories = byName(useReadable(useSession().categories))
  const [chosen, setChosen] = useState('')
  const [query, setQuery] = useState('')
  const [isBlind, setBlind] = useState(false)
  const category = categories.find(({ id }) => String(id) === chosen)
  const scope = { category: category && { id: category.id, name: category.name }, query: query.trim() }
  const settled = useDebounced(scope.query, SEARCH_AFTER_MS)
  const searched = isComplete ? scope.query : settled
  const pets = useScopePets({ ...scope, query: searched })
  const canBegin = pets.type === 'ready' && pets.rows.length > 0 && searched === scope.query
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (canBegin) count.begin(scope, isBlind)
  }
  return (
    <>
      <h1>Count</h1>
      <form className="card card__body stack count__begin" onSubmit={onSubmit} aria-label="Begin a count">
        <Field label="Category">
          {(control) => (
            <select
              {...control}
              className="select"
              value={chosen}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            >
              <option value="">All categories</option>
              {categories.map(({ id, name }) => (
                <option key={String(id)} value={String(id)}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          label="Only pets with this in their name or id"
          placeholder="All pets"
          value={query}
          onChange={setQuery}
        />
        <label className="choice">
          <input
            type="checkbox"
            className="checkbox"
            checked={isBlind}
            onChange={({ currentTarget }) => setBlind(currentTarget.checked)}
          />
          Hide the expected stock until the review
        </label>
        <div className="cluster">
          <Button type="submit" tone="primary" isDisabled={!canBegin}>
            Begin
          </Button>
          <span className="muted number" role="status">
            {hasNames ? scopeStatus(pets) : 'The names are still loading'}
          </span>
        </div>
        <p className="muted small">
          This browser keeps your count until you apply it, also without a connection. Until then the stock
          does not change.
        </p>
      </form>
    </>
  )
}

function scopeStatus(pets: ScopePets): string {
  switch (pets.type) {
    case 'loading':
      return 'Searching…'
    case 'ready':
      return petsWords(pets.rows.length)
    case 'too many':
      return `More than ${MAX_COUNTED.toLocaleString('en')} pets. Choose a category or a part of the name.`
    case 'failed':
      return `The pets could not be loaded. ${pets.failure}`
  }
}

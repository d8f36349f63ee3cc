import { type FormEvent, useEffect, useMemo, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readAll } from '../data/stock/stock-search.ts'
import { categoryOptions } from '../pet-form/category-choice.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/hooks.ts'
import { SelectField } from '../ui/select-field.tsx'
import { petsWords } from '../ui/words.ts'
import type { CountDraft } from './count-draft.ts'
import { isIn, type Scope } from './scope.ts'

const SEARCH_AFTER_MS = 250

export function BeginCount({ count }: { readonly count: CountDraft }) {
  const { hasNames, isComplete } = useStock()
  const categories = useReadable(useSession().categories)
  const [chosen, setChosen] = useState('')
  const [query, setQuery] = useState('')
  const [isBlind, setBlind] = useState(false)
  const category = chosen === '' ? undefined : categories.byId.get(BigInt(chosen))
  const scope = { category, query: query.trim() }
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
        <SelectField
          label="Category"
          options={[{ value: '', label: 'All categories' }, ...categoryOptions(categories)]}
          value={chosen}
          onChange={setChosen}
        />
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

type ScopePets =
  | { readonly type: 'loading' }
  | { readonly type: 'ready'; readonly rows: readonly StockRow[] }
  | { readonly type: 'too many' }
  | { readonly type: 'failed'; readonly failure: string; readonly retry: () => void }

/** Nobody counts more pets at once, and all of them are loaded. */
export const MAX_COUNTED = 5_000

type Loaded =
  | Exclude<ScopePets, { type: 'ready' }>
  | { readonly type: 'loaded'; readonly petIds: readonly bigint[] }

const LOADING = { type: 'loading' } as const

/** The pets of a scope. In a large store the service searches for them. */
export function useScopePets(scope: Scope | undefined): ScopePets {
  const { feed, stock } = useSession()
  const { rows, structure, hasNames, isComplete } = useStock()
  const categoryId = scope?.category?.id
  const query = scope?.query
  const [loaded, setLoaded] = useState<Loaded>(LOADING)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    setLoaded(LOADING)
    if (!hasNames || isComplete || query === undefined) return
    if (query === '' && categoryId === undefined) return setLoaded({ type: 'too many' })
    const ending = new AbortController()
    readAll(feed.read, { q: query || undefined, categoryId }, MAX_COUNTED, ending.signal).then(
      (petIds) => setLoaded(petIds === undefined ? { type: 'too many' } : { type: 'loaded', petIds }),
      (error: unknown) => {
        if (ending.signal.aborted) return
        const retry = () => setAttempt((count) => count + 1)
        setLoaded({ type: 'failed', failure: failureWords(error), retry })
      },
    )
    return () => ending.abort()
  }, [feed, hasNames, isComplete, categoryId, query, attempt])
  return useMemo((): ScopePets => {
    if (scope === undefined || !hasNames) return LOADING
    if (isComplete) return { type: 'ready', rows: rows.filter(isIn(scope)) }
    if (loaded.type !== 'loaded') return loaded
    return { type: 'ready', rows: loaded.petIds.flatMap((petId) => stock.find(petId) ?? []) }
    // Quantities are read when they are shown: the scope does not depend on them.
  }, [categoryId, query, hasNames, isComplete, loaded, structure])
}

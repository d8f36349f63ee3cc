import { type FormEvent, useId, useMemo, useState } from 'react'
import { categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { petsWords } from '../ui/words.ts'
import type { CountDesk } from './count-desk.ts'
import { isIn, type Scope } from './scope.ts'

type Kind = Scope['kind']

const KINDS: Readonly<Record<Kind, string>> = {
  all: 'All pets',
  category: 'A category',
  search: 'A search',
}

/** Choose what to count. */
export function BeginCount({ desk }: { readonly desk: CountDesk }) {
  const { rows, structure, hasNames } = useStock()
  const [kind, setKind] = useState<Kind>('all')
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState<string>()
  const categories = useCategories(rows, structure)
  const id = useId()
  const category = categories.find(({ categoryId }) => String(categoryId) === chosen) ?? categories[0]
  const scope = scopeOf(kind, category, query)
  const pets = useMemo(
    () => (scope === undefined ? 0 : rows.filter(isIn(scope)).length),
    [kind, category?.categoryId, query, structure],
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (scope !== undefined && pets > 0) desk.begin(scope)
  }
  return (
    <>
      <h1>Count</h1>
      <form className="card count__begin" onSubmit={onSubmit} aria-label="Begin a count">
        <fieldset className="count__kinds">
          <legend className="field__label">What do you count?</legend>
          {(Object.keys(KINDS) as Kind[]).map((each) => (
            <label key={each} className="count__kind">
              <input
                type="radio"
                name={`${id}-kind`}
                checked={kind === each}
                onChange={() => setKind(each)}
              />
              {KINDS[each]}
            </label>
          ))}
        </fieldset>
        {kind === 'category' && (
          <div className="field">
            <label className="field__label" htmlFor={`${id}-category`}>
              Category
            </label>
            <select
              id={`${id}-category`}
              className="select"
              value={category === undefined ? '' : String(category.categoryId)}
              onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            >
              {categories.map(({ categoryId, name }) => (
                <option key={String(categoryId)} value={String(categoryId)}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
        {kind === 'search' && (
          <div className="field">
            <label className="field__label" htmlFor={`${id}-query`}>
              Pets with this in their name or id
            </label>
            <input
              id={`${id}-query`}
              className="input"
              type="search"
              autoComplete="off"
              value={query}
              onChange={({ currentTarget }) => setQuery(currentTarget.value)}
            />
          </div>
        )}
        <div className="count__go">
          <button type="submit" className="button button--primary" disabled={!hasNames || pets === 0}>
            Begin
          </button>
          <span className="muted number" role="status">
            {hasNames ? petsWords(pets) : 'The names are still loading'}
          </span>
        </div>
        <p className="field__hint">
          What you count is kept in this browser until you apply it, also without a connection. Nothing
          changes in the stock before that.
        </p>
      </form>
    </>
  )
}

interface NamedCategory {
  readonly categoryId: bigint
  readonly name: string
}

/** Those that have pets, by name; by their ids as long as the names have not come. */
function useCategories(rows: readonly StockRow[], structure: number): readonly NamedCategory[] {
  const categories = useReadable(useSession().categories)
  return useMemo(() => {
    const ids = new Set(rows.flatMap(({ categoryId }) => categoryId ?? []))
    return Array.from(ids, (categoryId) => ({
      categoryId,
      name: categoryName(categories, categoryId) || `Category ${categoryId}`,
    })).sort((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }))
  }, [categories, structure])
}

function scopeOf(kind: Kind, category: NamedCategory | undefined, query: string): Scope | undefined {
  if (kind === 'all') return { kind }
  if (kind === 'category') return category === undefined ? undefined : { kind, ...category }
  return query.trim() === '' ? undefined : { kind, query: query.trim() }
}

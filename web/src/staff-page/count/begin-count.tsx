import { type FormEvent, useId, useMemo, useState } from 'react'
import { categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextField } from '../ui/field.tsx'
import { petsWords } from '../ui/receive-words.ts'
import type { CountDraft } from './count-draft.ts'
import { isIn, type Scope } from './scope.ts'

type Kind = Scope['kind']

const KINDS: readonly { readonly kind: Kind; readonly label: string }[] = [
  { kind: 'all', label: 'All pets' },
  { kind: 'category', label: 'A category' },
  { kind: 'search', label: 'A search' },
]

/** Chooses which pets to count. */
export function BeginCount({ count }: { readonly count: CountDraft }) {
  const { rows, structure, hasNames } = useStock()
  const [kind, setKind] = useState<Kind>('all')
  const [query, setQuery] = useState('')
  const [chosen, setChosen] = useState<string>()
  const [isBlind, setBlind] = useState(false)
  const categories = useUsedCategories(rows, structure)
  const name = useId()
  const category = categories.find(({ categoryId }) => String(categoryId) === chosen) ?? categories[0]
  const scope = scopeOf(kind, category, query)
  const pets = useMemo(
    () => (scope === undefined ? 0 : rows.filter(isIn(scope)).length),
    [kind, category?.categoryId, query, structure],
  )
  const canBegin = hasNames && pets > 0
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (scope !== undefined && canBegin) count.begin(scope, isBlind)
  }
  return (
    <>
      <h1>Count</h1>
      <form className="card card__body stack count__begin" onSubmit={onSubmit} aria-label="Begin a count">
        <fieldset className="cluster">
          <legend className="field__label">What do you count?</legend>
          {KINDS.map((option) => (
            <label key={option.kind} className="count__choice">
              <input
                type="radio"
                name={name}
                checked={kind === option.kind}
                onChange={() => setKind(option.kind)}
              />
              {option.label}
            </label>
          ))}
        </fieldset>
        {kind === 'category' && (
          <Field label="Category">
            {(control) => (
              <select
                {...control}
                className="select"
                value={category === undefined ? '' : String(category.categoryId)}
                onChange={({ currentTarget }) => setChosen(currentTarget.value)}
              >
                {categories.map((option) => (
                  <option key={String(option.categoryId)} value={String(option.categoryId)}>
                    {option.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {kind === 'search' && (
          <TextField label="Pets with this in their name or id" value={query} onChange={setQuery} />
        )}
        <label className="count__choice">
          <input
            type="checkbox"
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
            {hasNames ? petsWords(pets) : 'The names are still loading'}
          </span>
        </div>
        <p className="field__hint">
          This browser keeps your count until you apply it, also without a connection. Until then the stock
          does not change.
        </p>
      </form>
    </>
  )
}

interface NamedCategory {
  readonly categoryId: bigint
  readonly name: string
}

/** The categories that have pets, by name. */
function useUsedCategories(rows: readonly StockRow[], structure: number): readonly NamedCategory[] {
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

import type { Category } from '@petstore/client'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { catalogFailure } from '../data/catalog/catalog-failure.ts'
import { byName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { TextField } from '../ui/field.tsx'
import '../pet-form/pets.css'

/** The categories: what they are called, and when their pets are low. */
export function CategoriesDialog({ onClose }: { readonly onClose: () => void }) {
  const { categories } = useSession()
  const list = useReadable(categories)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="categories-title" onClose={onClose}>
      <div className="dialog__body">
        <h2 id="categories-title">Categories</h2>
        <p className="muted">
          “Low at” counts for every pet of the category that has none of its own. Empty: never.
        </p>
        <ul className="categories" aria-label="Categories">
          {byName(list).map((category) => (
            <li key={String(category.id)}>
              <CategoryForm category={category} />
            </li>
          ))}
          <li key={list.byId.size}>
            <CategoryForm />
          </li>
        </ul>
        <form method="dialog" className="dialog__actions">
          <button type="submit" className="button">
            Done
          </button>
        </form>
      </div>
    </dialog>
  )
}

/** One category, or without one the place where another is added. */
function CategoryForm({ category }: { readonly category?: Category }) {
  const { client, categories } = useSession()
  const [name, setName] = useState(category?.name ?? '')
  const [low, setLow] = useState(thresholdText(category))
  const [failure, setFailure] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  const [isWorking, setWorking] = useState(false)
  const isChanged = name.trim() !== (category?.name ?? '') || low.trim() !== thresholdText(category)
  const lowStockAt = readQuantity(low)
  const problem = name.trim() === '' ? 'Enter a name.' : undefined
  const lowProblem =
    low.trim() !== '' && lowStockAt === undefined ? 'A whole number of 0 or more, or nothing.' : undefined

  const work = async (act: () => Promise<void>) => {
    setWorking(true)
    setFailure(undefined)
    try {
      await act()
    } catch (error) {
      setFailure(catalogFailure(error, 'category'))
    }
    setWorking(false)
    setAsking(false)
  }
  const save = async () => {
    if (category === undefined) {
      const threshold = lowStockAt === undefined ? {} : { lowStockAt }
      categories.take(await client.categories.create({ name: name.trim(), ...threshold }))
      return
    }
    const update = {
      ...(name.trim() === category.name ? {} : { name: name.trim() }),
      ...(low.trim() === thresholdText(category) ? {} : { lowStockAt: lowStockAt ?? null }),
    }
    categories.take(await client.categories.update(category.id, update))
  }
  const remove = async ({ id }: Category) => {
    await client.categories.remove(id)
    categories.drop(id)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (problem ?? lowProblem) setFailure(problem ?? lowProblem)
    else if (!isWorking) void work(save)
  }
  const what = category?.name ?? 'new category'
  return (
    <form className="category-form" onSubmit={onSubmit} aria-label={what} noValidate>
      <TextField label={category === undefined ? 'New category' : 'Name'} value={name} onChange={setName} />
      <TextField label="Low at" value={low} isNumber onChange={setLow} />
      <span className="category-form__actions">
        {isChanged && (
          <button type="submit" className="button button--primary button--small" disabled={isWorking}>
            {category === undefined ? 'Add' : 'Save'}
          </button>
        )}
        {category !== undefined && !isChanged && !isAsking && (
          <button
            type="button"
            className="button button--quiet button--small"
            aria-label={`Remove ${what}…`}
            onClick={() => setAsking(true)}
          >
            Remove…
          </button>
        )}
        {category !== undefined && isAsking && (
          <>
            <button
              type="button"
              className="button button--danger button--small"
              disabled={isWorking}
              onClick={() => void work(() => remove(category))}
            >
              Yes, remove
            </button>
            <button type="button" className="button button--small" onClick={() => setAsking(false)}>
              Keep
            </button>
          </>
        )}
      </span>
      <p className="field__error category-form__failure" role="alert">
        {failure}
      </p>
    </form>
  )
}

function thresholdText(category: Category | undefined): string {
  return category?.lowStockAt === undefined ? '' : String(category.lowStockAt)
}

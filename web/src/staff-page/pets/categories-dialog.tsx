import type { Category } from '@petstore/client'
import { type FormEvent, useState } from 'preact/compat'
import { byName } from '../data/catalog/category-list.ts'
import { catalogFailure } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'

export function CategoriesDialog({ onClose }: { readonly onClose: () => void }) {
  const list = useReadable(useSession().categories)
  return (
    <Dialog title="Categories" closeLabel="Done" onClose={onClose}>
      <p className="muted">
        “Warn me at” applies to every pet of the category that has no number of its own. Empty: never.
      </p>
      <ul className="stack" aria-label="Categories">
        {byName(list).map((category) => (
          <li key={String(category.id)}>
            <CategoryForm category={category} />
          </li>
        ))}
        <li key={list.byId.size}>
          <CategoryForm />
        </li>
      </ul>
    </Dialog>
  )
}

/** Edits a category; without one, adds a category. */
function CategoryForm({ category }: { readonly category?: Category }) {
  const { client, categories } = useSession()
  const [name, setName] = useState(category?.name ?? '')
  const [threshold, setThreshold] = useState(thresholdText(category))
  const { failure, setFailure, isBusy, attempt } = useAttempt(categoryFailure)
  const isChanged = name.trim() !== (category?.name ?? '') || threshold.trim() !== thresholdText(category)
  const lowStockAt = readQuantity(threshold)

  const save = async () => {
    const saved =
      category === undefined
        ? await client.categories.create({ name: name.trim(), lowStockAt })
        : await client.categories.update(category.id, {
            name: name.trim() === category.name ? undefined : name.trim(),
            lowStockAt: threshold.trim() === thresholdText(category) ? undefined : (lowStockAt ?? null),
          })
    categories.take(saved)
  }
  const remove = async ({ id, name: removed }: Category) => {
    const text = ['This cannot be undone.']
    if (!(await ask({ title: `Remove ${removed}?`, text, yes: 'Yes, remove', no: 'Keep' }))) return
    await attempt(async () => {
      await client.categories.remove(id)
      categories.drop(id)
    })
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') setFailure('Enter a name.')
    else if (threshold.trim() !== '' && lowStockAt === undefined) {
      setFailure('Enter a whole number of 0 or more, or nothing.')
    } else void attempt(save)
  }
  const label = category?.name ?? 'new category'
  return (
    <form className="category-form" onSubmit={onSubmit} aria-label={label} noValidate>
      <TextField label={category === undefined ? 'New category' : 'Name'} value={name} onChange={setName} />
      <TextField label="Warn me at" value={threshold} isNumber onChange={setThreshold} />
      <span className="category-form__actions cluster">
        {isChanged && (
          <Button type="submit" tone="primary" size="small" isBusy={isBusy}>
            {category === undefined ? 'Add' : 'Save'}
          </Button>
        )}
        {category !== undefined && !isChanged && (
          <Button
            tone="quiet"
            size="small"
            isBusy={isBusy}
            aria-label={`Remove ${label}…`}
            onClick={() => void remove(category)}
          >
            Remove…
          </Button>
        )}
      </span>
      <p className="negative small category-form__failure" role="alert">
        {failure}
      </p>
    </form>
  )
}

function categoryFailure(error: unknown): string {
  return catalogFailure(error, 'category')
}

function thresholdText(category: Category | undefined): string {
  return category?.lowStockAt === undefined ? '' : String(category.lowStockAt)
}

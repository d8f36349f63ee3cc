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

/** Edits the names and the thresholds of all categories. */
export function CategoriesDialog({ onClose }: { readonly onClose: () => void }) {
  const list = useReadable(useSession().categories)
  return (
    <Dialog title="Categories" onClose={onClose}>
      {(close) => (
        <>
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
          <div className="dialog__actions">
            <Button onClick={close}>Done</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

/** Edits a category; without one, adds a category. */
function CategoryForm({ category }: { readonly category?: Category }) {
  const { client, categories } = useSession()
  const [name, setName] = useState(category?.name ?? '')
  const [threshold, setThreshold] = useState(thresholdText(category))
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isChanged = name.trim() !== (category?.name ?? '') || threshold.trim() !== thresholdText(category)
  const lowStockAt = readQuantity(threshold)

  const attempt = async (request: () => Promise<void>) => {
    setBusy(true)
    setFailure(undefined)
    await request().catch((error: unknown) => setFailure(catalogFailure(error, 'category')))
    setBusy(false)
  }
  const save = async () => {
    if (category === undefined) {
      const added = { name: name.trim(), ...(lowStockAt === undefined ? {} : { lowStockAt }) }
      categories.take(await client.categories.create(added))
      return
    }
    const update = {
      ...(name.trim() === category.name ? {} : { name: name.trim() }),
      ...(threshold.trim() === thresholdText(category) ? {} : { lowStockAt: lowStockAt ?? null }),
    }
    categories.take(await client.categories.update(category.id, update))
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
    } else if (!isBusy) void attempt(save)
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
      <p className="field__error category-form__failure" role="alert">
        {failure}
      </p>
    </form>
  )
}

function thresholdText(category: Category | undefined): string {
  return category?.lowStockAt === undefined ? '' : String(category.lowStockAt)
}

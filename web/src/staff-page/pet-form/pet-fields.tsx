import { byName, categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { STATUSES } from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'
import { Field, TextField } from '../ui/field.tsx'
import { FIELD_LABELS, type PetDraft, type PetProblems } from './pet-draft.ts'

interface Props {
  readonly draft: PetDraft
  readonly problems: PetProblems
  readonly isNew: boolean
  readonly onChange: (changes: Partial<PetDraft>) => void
}

export function PetFields({ draft, problems, isNew, onChange }: Props) {
  const categories = useReadable(useSession().categories)
  const chosen = draft.categoryId === '' ? undefined : BigInt(draft.categoryId)
  const threshold = chosen === undefined ? undefined : categories.byId.get(chosen)?.lowStockAt
  const text = (field: 'name' | 'barcode' | 'lowStockAt' | 'quantity', hint?: string) => (
    <TextField
      label={FIELD_LABELS[field]}
      value={draft[field]}
      problem={problems[field]}
      hint={hint}
      isNumber={field === 'lowStockAt' || field === 'quantity'}
      onChange={(value) => onChange({ [field]: value })}
    />
  )
  return (
    <>
      {text('name')}
      <div className="pet-fields">
        <Field label={FIELD_LABELS.categoryId} problem={problems.categoryId}>
          {(control) => (
            <select
              {...control}
              className="select"
              value={draft.categoryId}
              onChange={({ currentTarget }) => onChange({ categoryId: currentTarget.value })}
            >
              {chosen === undefined && <option value="">Choose one</option>}
              {chosen !== undefined && !categories.byId.has(chosen) && (
                <option value={draft.categoryId}>{categoryName(categories, chosen)}</option>
              )}
              {byName(categories).map((category) => (
                <option key={String(category.id)} value={String(category.id)}>
                  {category.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={FIELD_LABELS.status}>
          {(control) => (
            <select
              {...control}
              className="select"
              value={draft.status}
              onChange={({ currentTarget: { value } }) =>
                onChange({ status: STATUSES.find((status) => status === value) ?? draft.status })
              }
            >
              {STATUSES.map((status) => (
                <option key={status}>{status}</option>
              ))}
            </select>
          )}
        </Field>
        {text('barcode', 'Click here and scan it, or leave it empty.')}
        {text('lowStockAt', thresholdHint(threshold))}
        {isNew && text('quantity')}
      </div>
    </>
  )
}

function thresholdHint(ofCategory: number | undefined): string {
  return ofCategory === undefined
    ? 'Warns when this many or fewer are left. Empty: never.'
    : `Warns when this many or fewer are left. Empty: at ${ofCategory.toLocaleString('en')}, like its category.`
}

import { useId } from 'react'
import { byName, categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { STATUSES } from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'
import { TextField } from '../ui/field.tsx'
import { FIELD_WORDS, type PetDraft, type PetProblems } from './pet-draft.ts'

interface Props {
  readonly draft: PetDraft
  readonly problems: PetProblems
  readonly isNew: boolean
  readonly onChange: (changes: Partial<PetDraft>) => void
}

/** What is to be said of a pet. */
export function PetFields({ draft, problems, isNew, onChange }: Props) {
  const categories = useReadable(useSession().categories)
  const id = useId()
  const chosen = draft.categoryId === '' ? undefined : BigInt(draft.categoryId)
  const threshold = chosen === undefined ? undefined : categories.byId.get(chosen)?.lowStockAt
  return (
    <>
      <TextField
        label={FIELD_WORDS.name}
        value={draft.name}
        problem={problems.name}
        onChange={(name) => onChange({ name })}
      />
      <div className="pet-fields">
        <div className="field">
          <label className="field__label" htmlFor={`${id}-category`}>
            {FIELD_WORDS.categoryId}
          </label>
          <select
            id={`${id}-category`}
            className="select"
            value={draft.categoryId}
            aria-invalid={problems.categoryId !== undefined}
            aria-describedby={`${id}-category-problem`}
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
          <p
            id={`${id}-category-problem`}
            className="field__error"
            hidden={problems.categoryId === undefined}
          >
            {problems.categoryId}
          </p>
        </div>
        <div className="field">
          <label className="field__label" htmlFor={`${id}-status`}>
            {FIELD_WORDS.status}
          </label>
          <select
            id={`${id}-status`}
            className="select"
            value={draft.status}
            onChange={({ currentTarget }) =>
              onChange({ status: STATUSES.find((one) => one === currentTarget.value) ?? draft.status })
            }
          >
            {STATUSES.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        </div>
        <TextField
          label={FIELD_WORDS.barcode}
          value={draft.barcode}
          problem={problems.barcode}
          hint="Click here and scan it, or leave it empty."
          onChange={(barcode) => onChange({ barcode })}
        />
        <TextField
          label={FIELD_WORDS.lowStockAt}
          value={draft.lowStockAt}
          problem={problems.lowStockAt}
          hint={thresholdHint(threshold)}
          isNumber
          onChange={(lowStockAt) => onChange({ lowStockAt })}
        />
        {isNew && (
          <TextField
            label={FIELD_WORDS.quantity}
            value={draft.quantity}
            problem={problems.quantity}
            isNumber
            onChange={(quantity) => onChange({ quantity })}
          />
        )}
      </div>
    </>
  )
}

function thresholdHint(ofCategory: number | undefined): string {
  return ofCategory === undefined
    ? 'Told when so many or fewer are left. Empty: never.'
    : `Told when so many or fewer are left. Empty: at ${ofCategory.toLocaleString('en')}, as its category.`
}

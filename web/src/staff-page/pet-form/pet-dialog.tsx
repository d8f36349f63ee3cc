import { isPetstoreError, type Pet, type PetstoreClient, type SearchRow, VALUES } from '@petstore/client'
import { flushSync, useState } from 'preact/compat'
import { categoryName } from '../data/catalog/category-list.ts'
import { catalogFailure } from '../data/failure-words.ts'
import { useReadable } from '../data/observable.ts'
import { showToast } from '../data/toasts.ts'
import { askImplausible } from '../quantity/ask-implausible.ts'
import { isImplausible } from '../quantity/typed-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { DISCARD_QUESTION, Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { goTo, href } from '../ui/navigation.ts'
import { useScan } from '../ui/scanner.ts'
import { SelectField } from '../ui/select-field.tsx'
import { categoryOptions } from './category-choice.tsx'
import {
  draftOf,
  FIELD_LABELS,
  isSameDraft,
  newDraft,
  newPetOf,
  type PetDraft,
  type PetField,
  type PetProblems,
  problemsOf,
  rebaseDraft,
  updateOf,
} from './pet-draft.ts'
import './pets.css'

interface Props {
  /** The pet to edit, as it is now. Without it, the dialog adds a pet. */
  readonly pet?: SearchRow | undefined
  readonly isGone?: boolean
  /** The category of a new pet. */
  readonly categoryId?: bigint | undefined
  /** The barcode of a new pet. */
  readonly barcode?: string | undefined
  readonly onClose: () => void
  readonly onSaved?: (pet: Pet) => void
}

interface Failure {
  readonly text: string
  /** A pet to look at: the owner of the barcode, or the pet itself with its open orders. */
  readonly link?: { readonly petId: bigint; readonly label: string }
}

/** Adds a pet, or edits a pet that others may edit too: their changes appear, and only the user's changes are sent. */
export function PetDialog({ pet, isGone = false, categoryId, barcode, onClose, onSaved }: Props) {
  const { client } = useSession()
  const [base, setBase] = useState(() => (pet === undefined ? newDraft(categoryId) : draftOf(pet)))
  const [draft, setDraft] = useState(() => (barcode === undefined ? base : { ...base, barcode }))
  const [conflicts, setConflicts] = useState<readonly PetField[]>([])
  const [problems, setProblems] = useState<PetProblems>({})
  const [failure, setFailure] = useState<Failure>()
  const [isBusy, setBusy] = useState(false)
  const mayChangeStock = useMayChange('stock')

  const current = pet === undefined ? base : draftOf(pet)
  if (!isBusy && !isSameDraft(current, base)) {
    const next = rebaseDraft(draft, base, current)
    setBase(current)
    setDraft(next.draft)
    setConflicts([...new Set([...conflicts, ...next.conflicts])])
  }
  const change = (changes: Partial<PetDraft>) => {
    setDraft({ ...draft, ...changes })
    setProblems({
      ...problems,
      ...Object.fromEntries(Object.keys(changes).map((field) => [field, undefined])),
    })
  }
  useScan((scanned) => change({ barcode: scanned }), 'dialog')
  const attempt = async (request: () => Promise<void>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      await request()
    } catch (error) {
      setFailure(await failureOf(client, error, draft.barcode.trim(), pet))
      setBusy(false)
    }
  }
  const save = async (form: HTMLFormElement, close: () => void) => {
    const found = problemsOf(draft, pet === undefined)
    flushSync(() => setProblems(found))
    if (!isEmpty(found)) return form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    const update = updateOf(base, draft)
    if (pet !== undefined && isEmpty(update)) return close()
    const newPet = newPetOf(draft)
    if (pet === undefined && !(await isStockMeant(newPet))) return
    await attempt(async () => {
      const saved =
        pet === undefined ? await client.pets.create(newPet) : await client.pets.update(pet.petId, update)
      const text =
        pet === undefined ? `${saved.name} is added, with the id ${saved.id}.` : `${saved.name} is saved.`
      showToast({ name: 'pet', text })
      onSaved?.(saved)
      close()
    })
  }
  const remove = async ({ petId, name, quantity }: SearchRow, close: () => void) => {
    const text = [`${stockWords(quantity)}This cannot be undone. Its changes stay in the history.`]
    if (!(await ask({ title: `Remove ${name}?`, text, yes: 'Yes, remove it', no: 'Keep it' }))) return
    await attempt(async () => {
      await client.pets.remove(petId).catch((error: unknown) => {
        // Somebody else has removed it already.
        if (!isPetstoreError(error, 'not_found')) throw error
      })
      showToast({ name: 'pet', text: `${name} is removed.` })
      close()
    })
  }
  const hasInput = !isSameDraft(draft, base)
  const link = failure?.link
  const showPet = async (petId: bigint, close: () => void) => {
    if (hasInput && !(await ask(DISCARD_QUESTION))) return
    close()
    goTo({ view: 'pet', petId })
  }
  return (
    <Dialog
      title={pet === undefined ? 'Add a pet' : `Edit ${pet.name}`}
      hasUnsavedInput={hasInput}
      onClose={onClose}
      onSubmit={(close, form) => {
        if (!isBusy && !isGone) void save(form, close)
      }}
    >
      {(close) => (
        <div className="stack">
          {isGone && (
            <p className="notice notice--caution" role="alert">
              Somebody has removed this pet.
            </p>
          )}
          <Conflicts fields={conflicts} theirs={base} />
          <PetFields draft={draft} problems={problems} isNew={pet === undefined} onChange={change} />
          <p className="negative small" role="alert">
            {failure?.text}{' '}
            {link !== undefined && (
              <a
                href={href({ view: 'pet', petId: link.petId })}
                onClick={(event) => {
                  event.preventDefault()
                  void showPet(link.petId, close)
                }}
              >
                {link.label}
              </a>
            )}
          </p>
          <div className="dialog__actions">
            {pet !== undefined && !isGone && (mayChangeStock || pet.quantity === 0) && (
              <Button
                tone="danger"
                className="pet-dialog__remove"
                isDisabled={isBusy}
                onClick={() => void remove(pet, close)}
              >
                Remove…
              </Button>
            )}
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" tone="primary" isBusy={isBusy} isDisabled={isGone}>
              {pet === undefined ? 'Add' : 'Save'}
            </Button>
          </div>
          {pet !== undefined && (
            <p className="muted small">
              Change the quantity in the stock or on{' '}
              <a href={href({ view: 'pet', petId: pet.petId })} onClick={close}>
                the pet’s page
              </a>
              .
            </p>
          )}
        </div>
      )}
    </Dialog>
  )
}

const STATUS_OPTIONS = VALUES.PetStatus.map((status) => ({ value: status, label: status }))

interface FieldsProps {
  readonly draft: PetDraft
  readonly problems: PetProblems
  readonly isNew: boolean
  readonly onChange: (changes: Partial<PetDraft>) => void
}

function PetFields({ draft, problems, isNew, onChange }: FieldsProps) {
  const categories = useReadable(useSession().categories)
  const mayChangeStock = useMayChange('stock')
  const chosen = draft.categoryId === '' ? undefined : BigInt(draft.categoryId)
  const category = chosen === undefined ? undefined : categories.byId.get(chosen)
  const label = chosen === undefined ? 'Choose one' : categoryName(categories, chosen)
  const options = categoryOptions(categories)
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
        <SelectField
          label={FIELD_LABELS.categoryId}
          problem={problems.categoryId}
          options={category === undefined ? [{ value: draft.categoryId, label }, ...options] : options}
          value={draft.categoryId}
          onChange={(categoryId) => onChange({ categoryId })}
        />
        <SelectField
          label={FIELD_LABELS.status}
          options={STATUS_OPTIONS}
          value={draft.status}
          onChange={(status) => onChange({ status })}
        />
        {text('barcode', 'Scan it, or leave it empty.')}
        {text('lowStockAt', `Warns when this many or fewer are left. ${emptyWords(category?.lowStockAt)}`)}
        {isNew && mayChangeStock && text('quantity')}
      </div>
    </>
  )
}

function emptyWords(categoryThreshold: number | undefined): string {
  if (categoryThreshold === undefined) return 'Empty: never.'
  return `Empty: at ${categoryThreshold.toLocaleString('en')}, like its category.`
}

function Conflicts({ fields, theirs }: { readonly fields: readonly PetField[]; readonly theirs: PetDraft }) {
  if (fields.length === 0) return null
  const changes = fields.map((field) => {
    const value =
      field === 'categoryId' ? 'another one' : theirs[field] === '' ? 'nothing' : `“${theirs[field]}”`
    return `${FIELD_LABELS[field].toLowerCase()} to ${value}`
  })
  return (
    <p className="notice notice--caution" role="status">
      Somebody else just set the {changes.join(', the ')}. If you save, yours replaces it.
    </p>
  )
}

async function failureOf(
  client: PetstoreClient,
  error: unknown,
  barcode: string,
  pet: SearchRow | undefined,
): Promise<Failure> {
  const text = catalogFailure(error, 'pet')
  if (pet !== undefined && isPetstoreError(error, 'in_use')) {
    return { text, link: { petId: pet.petId, label: 'Show its orders' } }
  }
  if (!isPetstoreError(error, 'already_exists')) return { text }
  try {
    const { items } = await client.inventory.search({ q: barcode })
    const owner = items.find((row) => row.barcode === barcode)
    if (owner === undefined) return { text }
    return { text: `Barcode ${barcode} belongs to`, link: { petId: owner.petId, label: owner.name } }
  } catch {
    return { text }
  }
}

async function isStockMeant({ name, quantity = 0 }: ReturnType<typeof newPetOf>): Promise<boolean> {
  const lines = isImplausible(0, quantity) ? [`${name}: ${quantity.toLocaleString('en')} in stock`] : []
  return askImplausible(lines, 'Add it')
}

function stockWords(quantity: number): string {
  if (quantity === 0) return ''
  return quantity === 1
    ? 'The one in stock goes with it. '
    : `The ${quantity.toLocaleString('en')} in stock go with it. `
}

/** Whether no field has a value. */
function isEmpty(fields: object): boolean {
  return Object.values(fields).every((value) => value === undefined)
}

import { memo, useState } from 'preact/compat'
import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import { type Change, changeKey } from '../data/history/change-log.ts'
import type { PetEdit, PetFields } from '../data/history/pet-edits.ts'
import { isSameAdjustment } from '../data/history/reverse.ts'
import { whyWords } from '../data/reason-words.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Moment, QuantityChange } from '../ui/changes.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { href } from '../ui/navigation.ts'
import { askAndReverse, type RefusedPet, sizeWords } from './reverse-question.ts'

/** The changes of one adjustment, or one change that was made alone. */
export interface Adjustment {
  readonly first: Change
  readonly changes: readonly Change[]
}

export function groupAdjustments(changes: readonly Change[]): readonly Adjustment[] {
  const groups: { first: Change; changes: Change[] }[] = []
  for (const change of changes) {
    const last = groups.at(-1)
    if (last !== undefined && isSameAdjustment(last.first, change)) last.changes.push(change)
    else groups.push({ first: change, changes: [change] })
  }
  return groups
}

interface Props {
  readonly adjustment: Adjustment
  /** The next page may have more changes of this adjustment. */
  readonly mayHaveMore: boolean
  readonly now: number
}

export function ActivityEntry({ adjustment: { first, changes }, mayHaveMore, now }: Props) {
  const { stock } = useSession()
  const [isOpen, setOpen] = useState(false)
  if (changes.length === 1 && !(mayHaveMore && first.reason !== undefined))
    return <ChangeRow change={first} name={stock.nameOf(first.petId)} now={now} isAlone />
  const { at, keyId, keyName } = first
  return (
    <>
      <li className="list-row activity-row">
        <span className="activity-row__when">
          <Moment at={at} now={now} />
        </span>
        <button
          type="button"
          className="activity-row__pet activity-row__toggle"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {sizeWords(changes, mayHaveMore)}
        </button>
        <span className="activity-row__why">{whyWords(first)}</span>
        <span className="activity-row__who muted">{keyName ?? keyId}</span>
        <ReverseButton change={first} />
      </li>
      {isOpen &&
        changes.map((change) => (
          <ChangeRow
            key={changeKey(change)}
            change={change}
            name={stock.nameOf(change.petId)}
            now={now}
            isAlone={false}
          />
        ))}
    </>
  )
}

interface EditRowProps {
  readonly edit: PetEdit
  readonly who: string
  readonly now: number
}

export function EditRow({ edit, who, now }: EditRowProps) {
  const { stock, categories } = useSession()
  const { petId, at, type, fields } = edit
  const name = edit.name ?? `Pet ${petId}`
  return (
    <li className="list-row activity-row">
      <span className="activity-row__when">
        <Moment at={at} now={now} />
      </span>
      {stock.get().isComplete && stock.find(petId) === undefined ? (
        <span className="activity-row__pet">{name}</span>
      ) : (
        <a className="activity-row__pet list-row__name" href={href({ view: 'pet', petId })}>
          {name}
        </a>
      )}
      <span className="activity-row__edit">
        {EDIT_WORDS[type]}
        {type === 'edited' && `: ${fieldWords(fields, categories.get())}`}
      </span>
      <span className="activity-row__who muted">{who}</span>
    </li>
  )
}

const EDIT_WORDS = { added: 'Added', edited: 'Edited', removed: 'Removed' } as const

function fieldWords(fields: Partial<PetFields>, categories: CategoryList): string {
  const { name, categoryId, status, barcode, lowStockAt } = fields
  const words = [
    ...('name' in fields ? [`name ${name}`] : []),
    ...('categoryId' in fields ? [`category ${categoryName(categories, categoryId)}`] : []),
    ...('status' in fields ? [`status ${status}`] : []),
    ...('barcode' in fields ? [`barcode ${barcode ?? 'none'}`] : []),
    ...('lowStockAt' in fields ? [`warn at ${lowStockAt ?? 'none'}`] : []),
  ]
  return words.length === 0 ? 'nothing' : words.join(', ')
}

interface ChangeRowProps {
  readonly change: Change
  readonly name: string
  readonly now: number
  /** False inside an adjustment, whose first row has the rest. */
  readonly isAlone: boolean
}

const ChangeRow = memo(function ChangeRow({ change, name, now, isAlone }: ChangeRowProps) {
  const { petId, before, after, at, keyId, keyName } = change
  return (
    <li className={`list-row activity-row ${isAlone ? '' : 'activity-row--part'}`}>
      {isAlone && (
        <span className="activity-row__when">
          <Moment at={at} now={now} />
        </span>
      )}
      <a className="activity-row__pet list-row__name" href={href({ view: 'pet', petId })}>
        {name}
      </a>
      <span className="activity-row__change">
        <QuantityChange before={before} after={after} />
      </span>
      {isAlone && (
        <>
          <span className="activity-row__why">{whyWords(change)}</span>
          <span className="activity-row__who muted">{keyName ?? keyId}</span>
          <ReverseButton change={change} />
        </>
      )}
    </li>
  )
})

/** Deliveries, counts and bulk changes can be reversed; the sale of an order cannot: the order stays complete. */
function isReversible({ reason, reference }: Change): boolean {
  return reason !== undefined && !(reason === 'sold' && /^order \d+$/.test(reference ?? ''))
}

function ReverseButton({ change }: { readonly change: Change }) {
  const { saving } = useSession()
  const mayChange = useMayChange('stock')
  const [isBusy, setBusy] = useState(false)
  const [refused, setRefused] = useState<readonly RefusedPet[]>([])
  if (!mayChange || !isReversible(change)) return null
  const reverse = async () => {
    setBusy(true)
    setRefused(await askAndReverse(saving, change))
    setBusy(false)
  }
  return (
    <>
      <Button
        size="small"
        className="activity-row__reverse"
        aria-label={`Reverse ${whyWords(change)}`}
        isBusy={isBusy}
        onClick={() => void reverse()}
      >
        Reverse
      </Button>
      {refused.length > 0 && <Refused pets={refused} onClose={() => setRefused([])} />}
    </>
  )
}

interface RefusedProps {
  readonly pets: readonly RefusedPet[]
  readonly onClose: () => void
}

function Refused({ pets, onClose }: RefusedProps) {
  const { stock } = useSession()
  return (
    <Dialog title="Not reversed" onClose={onClose}>
      {(close) => (
        <>
          <p>Nothing was changed, because not all of it can be changed back:</p>
          <ul className="activity-refused">
            {pets.map(({ petId, why }) => (
              <li key={String(petId)}>
                <strong>{stock.nameOf(petId)}</strong>: {why}
              </li>
            ))}
          </ul>
          <div className="dialog__actions">
            <Button onClick={close}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}

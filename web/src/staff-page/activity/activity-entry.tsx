import type { PetEdit } from '@petstore/client'
import { memo, useState } from 'preact/compat'
import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import { failureWords } from '../data/failure-words.ts'
import type { Change } from '../data/history/change-log.ts'
import {
  findReversal,
  isSameAdjustment,
  loadAdjustment,
  newReversal,
  type Reversal,
  type ReversalResult,
  reverseAdjustment,
} from '../data/history/reverse.ts'
import { useReadable } from '../data/observable.ts'
import { whyWords } from '../data/reason-words.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { momentWords } from '../data/time-words.ts'
import { showToast, type Toast } from '../data/toasts.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Moment, QuantityChange } from '../ui/changes.tsx'
import { ask } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { href } from '../ui/navigation.ts'
import { petsWords } from '../ui/words.ts'
import { type Activity, keyOf } from './activity-source.ts'

/** The changes or edits of one request. */
type ActivityGroup = [first: Activity, ...rest: Activity[]]

export function groupActivities(rows: readonly Activity[]): readonly ActivityGroup[] {
  const groups: ActivityGroup[] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last !== undefined && isSameRequest(last[0], row)) last.push(row)
    else groups.push([row])
  }
  return groups
}

/** Edits that one key made at the same time, such as those of an import, count as one request. */
function isSameRequest(a: Activity, b: Activity): boolean {
  if (a.type === 'change') return b.type === 'change' && isSameAdjustment(a.change, b.change)
  return (
    b.type === 'edit' &&
    a.at === b.at &&
    a.keyId === b.keyId &&
    a.edit.change === b.edit.change &&
    a.petId !== b.petId
  )
}

interface Props {
  readonly rows: ActivityGroup
  /** The next page may have more rows of this group. */
  readonly mayHaveMore: boolean
  readonly now: number
}

export function ActivityEntry({ rows, mayHaveMore, now }: Props) {
  const { stock } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [first] = rows
  const rowOf = (row: Activity, isAlone: boolean) => {
    const name = (row.type === 'edit' ? row.edit.name : undefined) ?? stock.nameOf(row.petId)
    const isRemoved = stock.get().isComplete && stock.find(row.petId) === undefined
    return (
      <ActivityRow key={keyOf(row)} row={row} name={name} isRemoved={isRemoved} now={now} isAlone={isAlone} />
    )
  }
  const mayBePart = mayHaveMore && first.type === 'change' && first.change.reason !== undefined
  if (rows.length === 1 && !mayBePart) return rowOf(first, true)
  return (
    <>
      <li className="list-row activity-row">
        <When at={first.at} now={now} />
        <button
          type="button"
          className="activity-row__pet activity-row__toggle"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {groupWords(rows, mayHaveMore)}
        </button>
        {first.type === 'edit' && <span className="activity-row__why">{EDIT_WORDS[first.edit.change]}</span>}
        <Origin row={first} />
      </li>
      {isOpen && rows.map((row) => rowOf(row, false))}
    </>
  )
}

function groupWords(rows: readonly Activity[], mayHaveMore: boolean): string {
  const changes = rows.flatMap((row) => (row.type === 'change' ? [row.change] : []))
  return changes.length > 0 ? sizeWords(changes, mayHaveMore) : petWords(rows, mayHaveMore)
}

interface RowProps {
  readonly row: Activity
  readonly name: string
  readonly isRemoved: boolean
  readonly now: number
  /** False inside a group, whose first row has the rest. */
  readonly isAlone: boolean
}

const ActivityRow = memo(function ActivityRow({ row, name, isRemoved, now, isAlone }: RowProps) {
  const categories = useReadable(useSession().categories)
  return (
    <li className={`list-row activity-row ${isAlone ? '' : 'activity-row--part'}`}>
      {isAlone && <When at={row.at} now={now} />}
      {isRemoved ? (
        <span className="activity-row__pet">{name}</span>
      ) : (
        <a className="activity-row__pet list-row__name" href={href({ view: 'pet', petId: row.petId })}>
          {name}
        </a>
      )}
      {row.type === 'change' ? (
        <span className="activity-row__change">
          <QuantityChange before={row.change.before} after={row.change.after} />
        </span>
      ) : (
        <span className="activity-row__edit">{editWords(row.edit, categories)}</span>
      )}
      {isAlone && <Origin row={row} />}
    </li>
  )
})

function When({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <span className="activity-row__when">
      <Moment at={at} now={now} />
    </span>
  )
}

function Origin({ row }: { readonly row: Activity }) {
  return (
    <>
      {row.type === 'change' && <span className="activity-row__why">{whyWords(row.change)}</span>}
      <span className="activity-row__who muted">{row.keyName ?? row.keyId}</span>
      {row.type === 'change' && <ReverseButton change={row.change} />}
    </>
  )
}

const EDIT_WORDS = { created: 'Added', changed: 'Edited', removed: 'Removed' } as const

/** Such as `Edited: name Fern, barcode 77`. */
function editWords({ change, pet, fields = [] }: PetEdit, categories: CategoryList): string {
  if (pet === undefined || fields.length === 0) return EDIT_WORDS[change]
  const words = {
    name: `name ${pet.name}`,
    categoryId: `category ${categoryName(categories, pet.categoryId)}`,
    status: `status ${pet.status}`,
    barcode: `barcode ${pet.barcode ?? 'none'}`,
    lowStockAt: `warn at ${pet.lowStockAt ?? 'none'}`,
    metadata: 'metadata',
  }
  return `${EDIT_WORDS[change]}: ${fields.map((field) => words[field]).join(', ')}`
}

/** Deliveries, counts and bulk changes can be reversed; the sale of an order cannot: the order stays complete. */
function isReversible({ reason, reference }: Change): boolean {
  return reason !== undefined && !(reason === 'sold' && /^order \d+$/.test(reference ?? ''))
}

function ReverseButton({ change }: { readonly change: Change }) {
  const { saving, stock } = useSession()
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
      {refused.length > 0 && (
        <Dialog title="Not reversed" closeLabel="Close" onClose={() => setRefused([])}>
          <p>Nothing was changed, because not all of it can be changed back:</p>
          <ul className="activity-refused">
            {refused.map(({ petId, why }) => (
              <li key={String(petId)}>
                <strong>{stock.nameOf(petId)}</strong>: {why}
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  )
}

type RefusedPet = Extract<ReversalResult, { type: 'refused' }>['pets'][number]

/** Asks whether to reverse the whole adjustment that made this change. Returns the pets that do not allow it. */
async function askAndReverse(context: SaveContext, change: Change): Promise<readonly RefusedPet[]> {
  const { client, signal } = context
  const { reason, reference, at } = change
  if (reason === undefined) return []
  try {
    const purpose = { reason, reference, at }
    const changes = await loadAdjustment(client, change, signal)
    const earlier = await findReversal(client, changes, purpose, signal)
    const isSure = await ask({
      title: `Reverse ${whyWords(change)}?`,
      text: [
        `${sizeWords(changes)}, changed on ${momentWords(at)}. One correction changes all of them back, or none.`,
        ...(earlier === undefined
          ? []
          : [`Careful: ${earlier.keyName ?? 'somebody'} already reversed it on ${momentWords(earlier.at)}.`]),
      ],
      yes: 'Reverse',
      no: 'Keep it',
    })
    return isSure ? await reverse(context, newReversal(changes, purpose)) : []
  } catch (error) {
    if (!signal.aborted) warn(failureWords(error))
    return []
  }
}

async function reverse(context: SaveContext, reversal: Reversal): Promise<readonly RefusedPet[]> {
  const result = await reverseAdjustment(context, reversal)
  switch (result.type) {
    case 'refused':
      return result.pets
    case 'done':
      showToast({ name: 'reverse', text: `Reversed. Stock updated for ${petsWords(result.changes.length)}.` })
      return []
    case 'failed':
      warn(`Not reversed. ${result.why}`)
      return []
    case 'unsure':
      warn('Not sure it was saved. Check now; it is never counted twice.', {
        label: 'Check now',
        run: () => void reverse(context, result.repeat),
      })
      return []
  }
}

function warn(text: string, action?: Toast['action']): void {
  showToast({ name: 'reverse', tone: 'negative', text, ...(action === undefined ? {} : { action }) })
}

/** Such as `12 pets, 96 pieces`. */
function sizeWords(changes: readonly Change[], mayHaveMore = false): string {
  const pieces = changes.reduce((sum, { before, after }) => sum + Math.abs(after - before), 0)
  return `${petWords(changes, mayHaveMore)}, ${countWords(pieces, 'piece', mayHaveMore)}`
}

/** Such as `12 pets`. */
function petWords(rows: readonly { readonly petId: bigint }[], mayHaveMore: boolean): string {
  return countWords(new Set(rows.map(({ petId }) => petId)).size, 'pet', mayHaveMore)
}

function countWords(count: number, noun: string, mayHaveMore: boolean): string {
  return `${count.toLocaleString('en')}${mayHaveMore ? '+' : ''} ${noun}${count === 1 ? '' : 's'}`
}

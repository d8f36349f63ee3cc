import type { Adjustment, InventoryEvent, PetEdit } from '@petstore/client'
import { useEffect, useMemo, useState } from 'preact/compat'
import { AdjustmentDialog } from '../adjustment/adjustment-dialog.tsx'
import { reversedWords, sizeWords } from '../adjustment/adjustment-words.ts'
import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import { type ListSnapshot, type ListSource, useLiveList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { whyWords } from '../data/reason-words.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Moment, QuantityChange } from '../ui/changes.tsx'
import { useDebounced, useNow } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { href, routeOf } from '../ui/navigation.ts'
import {
  type ActivityFilter,
  ActivityFilters,
  fromAddress,
  isFilteringActivity,
  queryOf,
  toAddress,
} from './activity-filter.tsx'
import './activity.css'

const SEARCH_AFTER_MS = 300
const PAGE_SIZE = 50

/** All changes of the stock, or all edits of pets: who changed what, when and why. */
export function ActivityView() {
  const [filter, setFilter] = useState(() => fromAddress(routeOf(location.hash).query))
  const applied = useDebounced(filter, SEARCH_AFTER_MS)
  // Shows the names of pets once they are loaded.
  useStock()
  useEffect(() => {
    const address = href({ view: 'activity', query: toAddress(applied) })
    if (location.hash.startsWith('#/activity') && location.hash !== address) {
      history.replaceState(history.state, '', address)
    }
  }, [applied])
  return (
    <section className="view view--list activity" aria-label="Activity">
      <h1>Activity</h1>
      <ActivityFilters filter={filter} onChange={setFilter} />
      {applied.kind === 'stock' ? <Adjustments filter={applied} /> : <PetEdits filter={applied} />}
    </section>
  )
}

function Adjustments({ filter }: { readonly filter: ActivityFilter }) {
  const { client, feed, keyNames } = useSession()
  const [openId, setOpenId] = useState<bigint>()
  const list = useLiveList(
    useMemo((): ListSource<Adjustment, InventoryEvent> => {
      const query = { ...queryOf(filter), limit: PAGE_SIZE }
      return {
        events: feed.events,
        keyOf: ({ id }) => id,
        load: (cursor, signal) => client.adjustments.list({ ...query, cursor, signal }),
        concerns: (event) => event.type === 'change' && isAbout(event, filter),
      }
    }, [client, feed, filter]),
  )
  const snapshot = list.get()
  useEffect(() => void keyNames.load(snapshot.rows.map(({ keyId }) => keyId)), [keyNames, snapshot.rows])
  return (
    <>
      <Count snapshot={snapshot} filter={filter} />
      <ListFrame label="Changes" list={list} empty={<NoChanges filter={filter} />}>
        {snapshot.rows.map((adjustment) => (
          <AdjustmentRow key={String(adjustment.id)} adjustment={adjustment} onOpen={setOpenId} />
        ))}
      </ListFrame>
      {openId !== undefined && (
        <AdjustmentDialog adjustmentId={openId} onClose={() => setOpenId(undefined)} />
      )}
    </>
  )
}

function isAbout(event: InventoryEvent, { petId }: ActivityFilter): boolean {
  return petId === undefined || !('petId' in event) || event.petId === petId
}

interface AdjustmentRowProps {
  readonly adjustment: Adjustment
  readonly onOpen: (id: bigint) => void
}

function AdjustmentRow({ adjustment, onOpen }: AdjustmentRowProps) {
  const { stock, keyNames } = useSession()
  const names = useReadable(keyNames)
  const { id, keyId, lines, recordedAt } = adjustment
  const [first, ...others] = lines
  const state = reversedWords(adjustment)
  return (
    <li className="list-row activity-row">
      <When at={recordedAt} />
      <button type="button" className="activity-row__pet list-row__name" onClick={() => onOpen(id)}>
        {first !== undefined && others.length === 0 ? stock.nameOf(first.petId) : sizeWords(adjustment)}
      </button>
      <span className="activity-row__change">
        {first !== undefined && others.length === 0 && (
          <QuantityChange before={first.before} after={first.after} />
        )}
      </span>
      <span className="activity-row__why">
        {whyWords(adjustment)} {state !== undefined && <span className="badge badge--plain">{state}</span>}
      </span>
      <span className="activity-row__who muted">{names.get(keyId) ?? keyId}</span>
    </li>
  )
}

function When({ at }: { readonly at: string }) {
  const now = useNow(15_000)
  return (
    <span className="activity-row__when">
      <Moment at={Date.parse(at)} now={now} />
    </span>
  )
}

function PetEdits({ filter }: { readonly filter: ActivityFilter }) {
  const { client, feed, categories, stock } = useSession()
  const list = useLiveList(
    useMemo((): ListSource<PetEdit, InventoryEvent> => {
      const { petId, keyId: who, since, until } = queryOf(filter)
      return {
        events: feed.events,
        keyOf: ({ id }) => id,
        load: (cursor, signal) =>
          client.pets.history({ petId, who, since, until, limit: PAGE_SIZE, cursor, signal }),
        concerns: (event) => (event.type === 'pet' || event.type === 'removed') && isAbout(event, filter),
      }
    }, [client, feed, filter]),
  )
  const known = useReadable(categories)
  const snapshot = list.get()
  return (
    <>
      <Count snapshot={snapshot} filter={filter} />
      <ListFrame label="Edits" list={list} empty={<NoChanges filter={filter} />}>
        {snapshot.rows.map((edit) => (
          <li key={edit.id} className="list-row activity-row">
            <When at={edit.at} />
            <a className="activity-row__pet list-row__name" href={href({ view: 'pet', petId: edit.petId })}>
              {edit.name ?? stock.nameOf(edit.petId)}
            </a>
            <span className="activity-row__edit">{editWords(edit, known)}</span>
            <span className="activity-row__who muted">{edit.keyName}</span>
          </li>
        ))}
      </ListFrame>
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

function NoChanges({ filter }: { readonly filter: ActivityFilter }) {
  if (!isFilteringActivity(filter)) {
    return (
      <Empty title="Nothing was changed yet">
        <p>Every change of a quantity and every edit of a pet is listed here.</p>
      </Empty>
    )
  }
  const { from, to } = filter
  return (
    <Empty title="No changes match.">
      {from !== '' && to !== '' && from > to && <p>“From” is after “To”: swap the days.</p>}
    </Empty>
  )
}

interface CountProps {
  readonly snapshot: ListSnapshot<unknown>
  readonly filter: ActivityFilter
}

function Count({ snapshot, filter }: CountProps) {
  return (
    <p className="small muted number" role="status">
      {countWords(snapshot, isFilteringActivity(filter))}
    </p>
  )
}

function countWords({ rows, phase, next }: ListSnapshot<unknown>, isFiltered: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  const noun = rows.length === 1 ? 'change' : 'changes'
  if (next !== undefined) return `The last ${count} ${isFiltered ? 'matching ' : ''}${noun}, newest first`
  return isFiltered ? `${count} found` : `${count} ${noun}`
}

import type { InventoryEvent, SearchRow } from '@petstore/client'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import type { PetListSnapshot, PetListSource } from '../data/catalog/pet-list.ts'
import { usePetList } from '../data/catalog/use-pet-list.ts'
import { CategoryChoice } from '../pet-form/category-choice.tsx'
import { PetDialog } from '../pet-form/pet-dialog.tsx'
import { useMayChange, useSession } from '../session/session-context.ts'
import { useDebounced, useLostFocus, useSearchKey } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { CategoriesDialog } from './categories-dialog.tsx'
import { PetRow } from './pet-row.tsx'
import '../pet-form/pets.css'

const TO_A_PAGE = 50
/** Whoever types is not searched for at every letter: a search is a request. */
const SEARCH_AFTER_MS = 250

type Open = { readonly kind: 'new' | 'categories' } | { readonly kind: 'edit'; readonly pet: SearchRow }

/** The pets of the store as such: add, edit and remove them, and their categories. */
export function PetsView() {
  const { client, feed, categories } = useSession()
  const mayChange = useMayChange('pets')
  const [query, setQuery] = useState('')
  const [categoryId, setCategoryId] = useState<bigint>()
  const [open, setOpen] = useState<Open>()
  const search = useRef<HTMLInputElement>(null)
  const q = useDebounced(query, SEARCH_AFTER_MS).trim()
  const source = useMemo(
    (): PetListSource => ({
      events: feed.events,
      categories,
      mayAdd: isAdded,
      load: (cursor, signal) =>
        client.inventory.search({
          ...(q === '' ? {} : { q }),
          ...(categoryId === undefined ? {} : { categoryId }),
          ...{ sort: 'name', limit: TO_A_PAGE, cursor, signal },
        }),
    }),
    [client, feed, categories, q, categoryId],
  )
  const { list, found } = usePetList(source)
  useSearchKey(search)
  // Nobody tells of a category that somebody else renames.
  useEffect(() => void categories.reload(), [categories])
  const close = () => setOpen(undefined)
  const section = useRef<HTMLElement>(null)
  useLostFocus(section, `${open?.kind} ${found.rows.length}`)
  return (
    <section ref={section} className="view view--list pets" aria-label="Pets" tabIndex={-1}>
      <h1>Pets</h1>
      <div className="toolbar">
        <div className="toolbar__search">
          <Icon name="search" />
          <input
            ref={search}
            className="input"
            type="search"
            aria-label="Search by name, id or barcode"
            placeholder="Search name, id or barcode"
            aria-keyshortcuts="/"
            maxLength={200}
            value={query}
            onChange={({ currentTarget }) => setQuery(currentTarget.value)}
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key === 'Escape') setQuery('')
            }}
          />
        </div>
        <CategoryChoice chosen={categoryId} onChoose={setCategoryId} />
        {mayChange && (
          <div className="pets__actions">
            <button type="button" className="button button--primary" onClick={() => setOpen({ kind: 'new' })}>
              <Icon name="plus" />
              Add a pet
            </button>
            <button type="button" className="button" onClick={() => setOpen({ kind: 'categories' })}>
              Categories
            </button>
            <a className="button" href={href({ view: 'import' })}>
              Import…
            </a>
          </div>
        )}
      </div>
      <p className="pets__line muted number" role="status">
        {countWords(found, q !== '' || categoryId !== undefined)}
      </p>
      <div className="card">
        {found.phase === 'loading' && found.rows.length === 0 && <Loading />}
        {found.failure !== undefined && (
          <RetryNotice tone="negative" onRetry={() => void list.reload()}>
            {found.failure}
          </RetryNotice>
        )}
        <ul className="pets__list" aria-label="Pets">
          {found.rows.map((pet) => (
            <PetRow
              key={String(pet.petId)}
              pet={pet}
              onEdit={mayChange ? () => setOpen({ kind: 'edit', pet }) : undefined}
            />
          ))}
        </ul>
        {found.phase === 'ready' && found.rows.length === 0 && (
          <Empty isFiltered={q !== '' || categoryId !== undefined} />
        )}
        {found.next !== undefined && (
          <button
            type="button"
            className="button list__more"
            aria-disabled={found.isLoadingMore}
            onClick={() => void list.loadMore()}
          >
            {found.isLoadingMore ? 'Loading …' : 'Show more'}
          </button>
        )}
      </div>
      {open?.kind === 'categories' && <CategoriesDialog onClose={close} />}
      {open?.kind === 'new' && (
        <PetDialog categoryId={categoryId} onClose={close} onSaved={() => void list.reload()} />
      )}
      {open?.kind === 'edit' && <Edited pet={open.pet} rows={found.rows} onClose={close} />}
    </section>
  )
}

function isAdded(event: InventoryEvent): boolean {
  return event.type === 'pet' && event.change === 'created'
}

interface EditedProps {
  readonly pet: SearchRow
  readonly rows: readonly SearchRow[]
  readonly onClose: () => void
}

/** The pet as it is by now; as it was where it is gone. */
function Edited({ pet, rows, onClose }: EditedProps) {
  const now = rows.find(({ petId }) => petId === pet.petId)
  return <PetDialog pet={now ?? pet} isGone={now === undefined} onClose={onClose} />
}

function Empty({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <div className="empty">
      <p className="empty__title">{isFiltered ? 'Nothing found' : 'No pets yet'}</p>
      <p>
        {isFiltered ? 'No pet fits the search and the category.' : 'Add the first one, or import a file.'}
      </p>
    </div>
  )
}

function Loading() {
  return (
    <div className="list__loading" role="status" aria-label="Loading the pets">
      <span className="skeleton" />
      <span className="skeleton" />
      <span className="skeleton" />
    </div>
  )
}

function countWords({ rows, next, phase }: PetListSnapshot, isFiltered: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  const pets = rows.length === 1 ? 'pet' : 'pets'
  if (next !== undefined) return `The first ${count} ${pets} by name`
  return isFiltered ? `${count} found` : `${count} ${pets}`
}

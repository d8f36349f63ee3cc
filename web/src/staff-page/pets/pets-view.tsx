import type { SearchRow } from '@petstore/client'
import { memo, useMemo, useRef, useState } from 'preact/compat'
import { type PetListSnapshot, type PetListSource, usePetList } from '../data/catalog/pet-list.ts'
import { freeUnits } from '../data/stock/free-units.ts'
import { CategoryChoice } from '../pet-form/category-choice.tsx'
import { CategoryName } from '../pet-form/category-name.tsx'
import { PetDialog } from '../pet-form/pet-dialog.tsx'
import { StatusBadge } from '../quantity/status-badge.tsx'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useDebounced, useLostFocus } from '../ui/hooks.ts'
import { Empty, ListFrame } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { SearchField } from '../ui/search-field.tsx'
import { CategoriesDialog } from './categories-dialog.tsx'
import '../pet-form/pets.css'

const PETS_PER_PAGE = 50
/** Each search is a request, so the search waits until the user stops typing. */
const SEARCH_AFTER_MS = 250

type OpenDialog = { readonly type: 'new' | 'categories' } | { readonly type: 'edit'; readonly pet: SearchRow }

/** The catalogue of pets: add, edit and remove pets and their categories. */
export function PetsView() {
  const { client, feed } = useSession()
  const mayChange = useMayChange('pets')
  const [query, setQuery] = useState('')
  const [categoryId, setCategoryId] = useState<bigint>()
  const [open, setOpen] = useState<OpenDialog>()
  const q = useDebounced(query, SEARCH_AFTER_MS).trim()
  const source = useMemo(
    (): PetListSource => ({
      events: feed.events,
      load: (cursor, signal) =>
        client.inventory.search({
          q: q === '' ? undefined : q,
          categoryId,
          sort: 'name',
          limit: PETS_PER_PAGE,
          cursor,
          signal,
        }),
    }),
    [client, feed, q, categoryId],
  )
  const { list, found } = usePetList(source)
  const close = () => setOpen(undefined)
  const editedId = open?.type === 'edit' ? open.pet.petId : undefined
  const edited = found.rows.find(({ petId }) => petId === editedId)
  const section = useRef<HTMLElement>(null)
  useLostFocus(section, `${open?.type} ${found.rows.length}`)
  const isFiltered = q !== '' || categoryId !== undefined
  return (
    <section ref={section} className="view view--list pets" aria-label="Pets" tabIndex={-1}>
      <h1>Pets</h1>
      <div className="toolbar">
        <SearchField
          label="Search by name, id or barcode"
          placeholder="Search name, id or barcode"
          value={query}
          onChange={setQuery}
        />
        <CategoryChoice chosen={categoryId} onChoose={setCategoryId} />
        {mayChange && (
          <div className="cluster">
            <Button tone="primary" icon="plus" onClick={() => setOpen({ type: 'new' })}>
              Add a pet
            </Button>
            <Button onClick={() => setOpen({ type: 'categories' })}>Categories</Button>
            <a className="button" href={href({ view: 'import' })}>
              Import…
            </a>
          </div>
        )}
      </div>
      <p className="small muted number" role="status">
        {countWords(found, isFiltered)}
      </p>
      <ListFrame
        label="Pets"
        list={list}
        empty={
          <Empty title={isFiltered ? 'Nothing found' : 'No pets yet'}>
            <p>{isFiltered ? 'No pet matches.' : 'Add the first pet, or import a file.'}</p>
          </Empty>
        }
      >
        {found.rows.map((pet) => (
          <PetRow
            key={String(pet.petId)}
            pet={pet}
            onEdit={mayChange ? () => setOpen({ type: 'edit', pet }) : undefined}
          />
        ))}
      </ListFrame>
      {open?.type === 'categories' && <CategoriesDialog onClose={close} />}
      {open?.type === 'new' && (
        <PetDialog categoryId={categoryId} onClose={close} onSaved={() => void list.reload()} />
      )}
      {open?.type === 'edit' && (
        <PetDialog pet={edited ?? open.pet} isGone={edited === undefined} onClose={close} />
      )}
    </section>
  )
}

function countWords({ rows, next, phase }: PetListSnapshot, isFiltered: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  const pets = rows.length === 1 ? 'pet' : 'pets'
  if (next !== undefined) return `The first ${count} ${pets} by name`
  return isFiltered ? `${count} found` : `${count} ${pets}`
}

interface PetRowProps {
  readonly pet: SearchRow
  /** Absent if the key may not change pets. */
  readonly onEdit: (() => void) | undefined
}

const PetRow = memo(function PetRow({ pet, onEdit }: PetRowProps) {
  const { petId, name, categoryId, status, quantity, reserved, barcode, lowStockAt, ownLowStockAt } = pet
  return (
    <li className="list-row pet-row" aria-label={name}>
      <a className="list-row__name" href={href({ view: 'pet', petId })}>
        {name}
      </a>
      <span className="pet-row__category">
        <CategoryName id={categoryId} />
      </span>
      <span className="pet-row__codes cluster muted small number">
        #{String(petId)}
        {barcode !== undefined && (
          <span>
            <span className="visually-hidden">Barcode </span>
            {barcode}
          </span>
        )}
      </span>
      <span className="pet-row__low muted small number">
        {lowStockAt !== undefined && `Warn at ${lowStockAt.toLocaleString('en')}`}
        {lowStockAt !== undefined && ownLowStockAt === undefined && ', like its category'}
      </span>
      <span className="pet-row__status">
        <StatusBadge status={status} quantity={quantity} reserved={reserved} />
      </span>
      <span className="pet-row__quantity number">
        {quantity.toLocaleString('en')}
        <span className="visually-hidden"> in stock</span>
        {reserved > 0 && (
          <span className="pet-row__free muted small">
            {freeUnits(pet).toLocaleString('en')} free, {reserved.toLocaleString('en')} reserved
          </span>
        )}
      </span>
      <span className="pet-row__actions">
        {onEdit !== undefined && (
          <Button size="small" aria-label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
        )}
      </span>
    </li>
  )
})

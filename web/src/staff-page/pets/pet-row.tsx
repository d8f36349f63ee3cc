import type { SearchRow } from '@petstore/client'
import { memo } from 'react'
import { CategoryName } from '../pet-form/category-name.tsx'
import { href } from '../ui/navigation.ts'

interface Props {
  readonly pet: SearchRow
  /** Nothing where the key may not. */
  readonly onEdit: (() => void) | undefined
}

export const PetRow = memo(function PetRow({ pet, onEdit }: Props) {
  const { petId, name, categoryId, status, quantity, barcode, lowStockAt, ownLowStockAt } = pet
  return (
    <li className="pet-row" aria-label={name}>
      <a className="pet-row__name" href={href({ view: 'pet', petId })}>
        {name}
      </a>
      <span className="pet-row__category">
        <CategoryName id={categoryId} />
      </span>
      <span className="pet-row__codes number">
        <span className="pet-row__id">#{String(petId)}</span>
        {barcode !== undefined && (
          <span className="pet-row__barcode">
            <span className="visually-hidden">Barcode </span>
            {barcode}
          </span>
        )}
      </span>
      <span className="pet-row__low muted number">
        {lowStockAt !== undefined && `low at ${lowStockAt.toLocaleString('en')}`}
        {lowStockAt !== undefined && ownLowStockAt === undefined && ', as its category'}
      </span>
      <span className="pet-row__status">
        <span className={`badge badge--${status}`}>{status}</span>
      </span>
      <span className="pet-row__quantity number">
        {quantity.toLocaleString('en')}
        <span className="visually-hidden"> in stock</span>
      </span>
      <span className="pet-row__actions">
        {onEdit !== undefined && (
          <button type="button" className="button button--small" aria-label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </button>
        )}
      </span>
    </li>
  )
})

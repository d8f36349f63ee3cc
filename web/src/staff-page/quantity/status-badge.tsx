import type { PetStatus } from '@petstore/client'
import { isSoldOut } from '../data/stock/free-units.ts'

interface Props {
  readonly status: PetStatus
  readonly quantity: number
  readonly reserved: number
}

/** The status that the shop has set, unless nothing is left to sell. */
export function StatusBadge({ status, ...units }: Props) {
  if (!isSoldOut(units)) return <span className={`badge badge--${status}`}>{status}</span>
  return (
    <span className="badge badge--negative" title={`Status: ${status}`}>
      sold out
    </span>
  )
}

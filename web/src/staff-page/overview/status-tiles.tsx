import type { PetStatus } from '@petstore/client'
import { shortNumber, wholeNumber } from '../ui/charts/quantity-axis.ts'
import { type Share, ShareBar } from '../ui/charts/share-bar.tsx'
import type { StatusTotal, StockSummary } from './stock-summary.ts'

const LABELS: Readonly<Record<PetStatus, string>> = {
  available: 'Available',
  pending: 'Pending',
  sold: 'Sold',
}
const STATUSES = Object.keys(LABELS) as readonly PetStatus[]

/** How much there is in all and in each status: figures first, then their shares. */
export function StatusTiles({ summary }: { readonly summary: StockSummary }) {
  const { byStatus, pets, units } = summary
  return (
    <>
      <dl className="tiles">
        <Tile name="All units" total={{ pets, units }} />
        {STATUSES.map((status) => (
          <Tile key={status} name={LABELS[status]} total={byStatus[status]} />
        ))}
      </dl>
      <section className="card" aria-labelledby="shares-title">
        <div className="card__header">
          <h2 id="shares-title">By status</h2>
        </div>
        <div className="card__body status-shares">
          <Part name="Units" shares={sharesOf(summary, 'units')} />
          <Part name="Pets" shares={sharesOf(summary, 'pets')} />
        </div>
      </section>
    </>
  )
}

function sharesOf({ byStatus }: StockSummary, of: keyof StatusTotal): readonly Share[] {
  return STATUSES.map((status) => ({ status, label: LABELS[status], value: byStatus[status][of] }))
}

function Part({ name, shares }: { readonly name: string; readonly shares: readonly Share[] }) {
  return (
    <div className="status-shares__part">
      <h3>{name}</h3>
      <ShareBar name={`${name} by status`} shares={shares} />
    </div>
  )
}

function Tile({ name, total }: { readonly name: string; readonly total: StatusTotal }) {
  return (
    <div className="card tile">
      <dt className="tile__name">{name}</dt>
      <dd className="tile__value number" title={wholeNumber(total.units)}>
        {shortNumber(total.units)}
      </dd>
      <dd className="tile__note number">
        {total.pets === 1 ? 'units of 1 pet' : `units of ${wholeNumber(total.pets)} pets`}
      </dd>
    </div>
  )
}

import { useMemo } from 'react'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { href } from '../ui/navigation.ts'
import { availableOf, lowStock } from './low-stock-rows.ts'

const SHOWN = 8

/** What is running out, by the threshold of each pet or of its category. */
export function LowStockCard({ rows }: { readonly rows: readonly StockRow[] }) {
  const categories = useReadable(useSession().categories)
  const { count, empty, lowest } = useMemo(() => lowStock(rows, categories, SHOWN), [rows, categories])
  return (
    <section className="card" aria-labelledby="low-title">
      <div className="card__header">
        <h2 id="low-title">Low stock</h2>
      </div>
      <div className="card__body">
        <p className="overview__sum number" role="status">
          {sumWords(count, empty)}
        </p>
        <ol aria-label="Low stock">
          {lowest.map((row) => {
            const { petId, name, status } = row
            const available = availableOf(row)
            return (
              <li key={String(petId)} className="low-list__row">
                <a className="low-list__name" href={href({ view: 'pet', petId })}>
                  {name ?? `Pet ${petId}`}
                </a>
                <span className={`badge badge--${status}`}>{status}</span>
                <span
                  className={`low-list__quantity number ${available <= 0 ? 'low-list__quantity--none' : ''}`}
                >
                  {wholeNumber(available)}
                </span>
              </li>
            )
          })}
        </ol>
        <a className="overview__more" href={href({ view: 'low-stock' })}>
          {count > SHOWN ? `Show all ${wholeNumber(count)}` : 'Since when, and at what thresholds'}
        </a>
      </div>
    </section>
  )
}

function sumWords(count: number, empty: number): string {
  if (count === 0) return 'Nothing is low.'
  const pets = count === 1 ? '1 pet is' : `${wholeNumber(count)} pets are`
  const none = empty === 0 ? '' : `, ${wholeNumber(empty)} of them with nothing left`
  return `${pets} low${none}.`
}

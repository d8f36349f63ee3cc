import { useId, useMemo, useState } from 'react'
import { wholeNumber } from '../charts/quantity-axis.ts'
import { href } from '../navigation.ts'
import { useSession } from '../session/session-context.ts'
import { setLowStockThreshold, useLowStockThreshold } from '../stock/low-stock.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { NO_FILTER } from '../table/table-state.ts'
import { lowStock } from './low-stock-rows.ts'

const SHOWN = 8

/** What is running out, by the threshold that the user sets here or in the table. */
export function LowStockCard({ rows }: { readonly rows: readonly StockRow[] }) {
  const threshold = useLowStockThreshold()
  const { table } = useSession()
  const { count, empty, lowest } = useMemo(() => lowStock(rows, threshold, SHOWN), [rows, threshold])
  const showInTable = () => table.set({ ...table.get(), filter: { ...NO_FILTER, lowOnly: true } })
  return (
    <section className="card" aria-labelledby="low-title">
      <div className="card__header">
        <h2 id="low-title">Low stock</h2>
        <Threshold value={threshold} />
      </div>
      <div className="card__body">
        <p className="overview__sum number" role="status">
          {sumWords(count, empty, threshold)}
        </p>
        <ol aria-label="Low stock">
          {lowest.map(({ petId, name, status, quantity }) => (
            <li key={String(petId)} className="low-list__row">
              <a className="low-list__name" href={href({ view: 'pet', petId })}>
                {name ?? `Pet ${petId}`}
              </a>
              <span className={`badge badge--${status}`}>{status}</span>
              <span
                className={`low-list__quantity number ${quantity === 0 ? 'low-list__quantity--none' : ''}`}
              >
                {wholeNumber(quantity)}
              </span>
            </li>
          ))}
        </ol>
        {count > SHOWN && (
          <a className="overview__more" href={href({ view: 'stock' })} onClick={showInTable}>
            Show all {wholeNumber(count)} in the table
          </a>
        )}
      </div>
    </section>
  )
}

function sumWords(count: number, empty: number, threshold: number): string {
  if (count === 0) return `Nothing is at ${wholeNumber(threshold)} or below.`
  const pets = count === 1 ? '1 pet is' : `${wholeNumber(count)} pets are`
  const none = empty === 0 ? '' : `, ${wholeNumber(empty)} of them with nothing left`
  return `${pets} at ${wholeNumber(threshold)} or below${none}.`
}

function Threshold({ value }: { readonly value: number }) {
  const id = useId()
  const [draft, setDraft] = useState<string>()
  return (
    <span className="threshold">
      <label htmlFor={id}>Low means at most</label>
      <input
        id={id}
        className="input number"
        type="number"
        min={0}
        step={1}
        inputMode="numeric"
        value={draft ?? String(value)}
        onChange={({ target }) => {
          setDraft(target.value)
          if (/^\d+$/.test(target.value)) setLowStockThreshold(Number(target.value))
        }}
        onBlur={() => setDraft(undefined)}
      />
    </span>
  )
}

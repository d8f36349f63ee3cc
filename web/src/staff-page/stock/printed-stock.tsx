import { categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'
import { usePrinting } from '../ui/hooks.ts'

interface Props {
  readonly rows: readonly StockRow[]
  /** How many there are, and of how many. */
  readonly title: string
}

/** More than a hundred sheets of paper are a mistake. */
const MAX_PRINTED = 5_000

/** The rows for the printer: the grid renders only the visible ones. */
export function PrintedStock({ rows, title }: Props) {
  const categories = useReadable(useSession().categories)
  if (!usePrinting()) return null
  const left = rows.length - MAX_PRINTED
  return (
    <div className="sheet printed-stock">
      <p>
        <strong>Stock</strong> · {title} · {new Date().toLocaleString('en-GB')}
      </p>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>ID</th>
            <th>Category</th>
            <th>Status</th>
            <th className="number">Quantity</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_PRINTED).map((row) => (
            <tr key={String(row.petId)}>
              <td>{row.name}</td>
              <td>{String(row.petId)}</td>
              <td>{categoryName(categories, row.categoryId)}</td>
              <td>{row.status}</td>
              <td className="number">{row.quantity.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && (
        <p>
          {left.toLocaleString('en')} more are not printed. Search for fewer, or export all of them as a file.
        </p>
      )}
    </div>
  )
}

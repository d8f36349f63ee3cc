import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'
import { petsWords } from '../ui/words.ts'
import type { CountEntry, CountHead } from './kept-count.ts'
import { scopeWords } from './scope.ts'

/** Two hundred pages of paper. */
const MAX_PRINTED = 10_000

interface Props {
  readonly head: CountHead
  readonly rows: readonly StockRow[]
  readonly entries: ReadonlyMap<bigint, CountEntry>
}

/** The sheet to count on, which is there while the page is printed, however that was begun. */
export function PrintedSheet(props: Props) {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // The browser takes the page as it is when the event ends.
    const begin = () => flushSync(() => setPrinting(true))
    const end = () => setPrinting(false)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting ? <Sheet {...props} /> : null
}

function Sheet({ head: { scope }, rows, entries }: Props) {
  const { stock } = useSession()
  const barcodes = stock.barcodes.byPet()
  const rest = rows.length - MAX_PRINTED
  return (
    <section className="sheet" aria-label="Count sheet">
      <h2>Count sheet: {scopeWords(scope)}</h2>
      <p>
        {petsWords(rows.length)} · printed {new Date().toLocaleString()} · counted by ______________________
      </p>
      <table className="sheet__table">
        <thead>
          <tr>
            <th scope="col">Pet</th>
            <th scope="col">Id</th>
            <th scope="col">Barcode</th>
            <th scope="col" className="sheet__number">
              In stock
            </th>
            <th scope="col">Counted</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_PRINTED).map(({ petId, name }) => (
            <tr key={String(petId)}>
              <td>{name ?? `Pet ${petId}`}</td>
              <td className="number">{String(petId)}</td>
              <td className="number">{barcodes.get(petId)}</td>
              <td className="sheet__number">{stock.find(petId)?.quantity.toLocaleString('en')}</td>
              <td className="sheet__counted number">{entries.get(petId)?.quantity.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <p>And {rest.toLocaleString('en')} more: choose a category or a search to print those as well.</p>
      )}
    </section>
  )
}

import { flushSync, useEffect, useState } from 'preact/compat'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'
import { petsWords } from '../ui/words.ts'
import type { CountHead } from './count-draft.ts'
import { type CountEntry, scopeWords } from './scope.ts'

/** Two hundred pages of paper. */
const MAX_PRINTED = 10_000

interface Props {
  readonly head: CountHead
  readonly rows: readonly StockRow[]
  readonly entries: ReadonlyMap<bigint, CountEntry>
}

/** The sheet to count on. It exists only while the page is printed. */
export function PrintedSheet(props: Props) {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // The browser prints the page as it is when the event ends.
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

function Sheet({ head: { scope, isBlind }, rows, entries }: Props) {
  const { stock } = useSession()
  const barcodes = stock.barcodes.byPet()
  const rest = rows.length - MAX_PRINTED
  return (
    <section className="sheet" aria-label="Count sheet">
      <h2>Count sheet: {scopeWords(scope)}</h2>
      <p>
        {petsWords(rows.length)} · printed {new Date().toLocaleString()} · counted by ______________________
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Pet</th>
            <th scope="col">Id</th>
            <th scope="col">Barcode</th>
            {!isBlind && <th scope="col">In stock</th>}
            <th scope="col">Counted</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_PRINTED).map(({ petId, name }) => (
            <tr key={String(petId)}>
              <td>{name ?? `Pet ${petId}`}</td>
              <td className="number">{String(petId)}</td>
              <td className="number">{barcodes.get(petId)}</td>
              {!isBlind && <td className="number">{stock.find(petId)?.quantity.toLocaleString('en')}</td>}
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

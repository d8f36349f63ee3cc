import { type RefObject, useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import type { KeyOwner } from '../session/session.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { useLostFocus, usePrinting } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { petsWords } from '../ui/words.ts'
import { BeginCount, MAX_COUNTED, useScopePets } from './begin-count.tsx'
import { type CountHead, countOf } from './count-draft.ts'
import { CountReview } from './count-review.tsx'
import { Counting } from './counting.tsx'
import { type CountEntry, inOrder, scopeWords } from './scope.ts'
import './count.css'

const NO_ROWS: readonly StockRow[] = []

/** Corrects the stock by a count: choose the pets, count them, review the differences, apply them. */
export function CountView() {
  const section = useRef<HTMLElement>(null)
  return (
    <section ref={section} className="view count" aria-label="Count" tabIndex={-1}>
      <WorkFrame>{(owner) => <Count owner={owner} section={section} />}</WorkFrame>
    </section>
  )
}

interface Props {
  readonly owner: KeyOwner
  readonly section: RefObject<HTMLElement | null>
}

function Count({ owner, section }: Props) {
  const session = useSession()
  const { stock } = session
  const count = countOf(session, owner)
  const { head, lines: entries } = useReadable(count)
  const isKept = useReadable(count.isKept)
  const { connection } = useStock()
  const isOffline = useRequestState().isUnreachable || connection === 'lost'
  const [isReviewing, setReviewing] = useState(false)
  useLostFocus(section, isReviewing ? entries : isReviewing)
  const scopePets = useScopePets(head?.scope)
  const inScope = scopePets.type === 'ready' ? scopePets.rows : NO_ROWS
  const extraIds = useMemo(() => {
    const known = new Set(inScope.map(({ petId }) => petId))
    return [...entries.keys()].filter((petId) => !known.has(petId))
  }, [inScope, entries])
  const extraRows = extraIds.flatMap((petId) => stock.lookUp(petId) ?? [])
  const counted = useMemo(
    () => inOrder([...inScope, ...extraRows]),
    [inScope, extraRows.map(({ petId }) => petId).join()],
  )
  if (head === undefined) return <BeginCount count={count} />
  return (
    <>
      {!isKept && (
        <p className="notice notice--caution" role="alert">
          This browser has no room to keep the count. Apply it before you close or reload the page.
        </p>
      )}
      {isOffline && isKept && (
        <p className="notice" role="status">
          You can count without a connection: this browser keeps it. Apply it when the connection is back.
        </p>
      )}
      {scopePets.type === 'loading' && <p role="status">Loading the pets of this count</p>}
      {scopePets.type === 'failed' && (
        <RetryNotice tone="caution" onRetry={scopePets.retry}>
          The other pets of this count could not be loaded. {scopePets.failure}
        </RetryNotice>
      )}
      {scopePets.type === 'too many' && (
        <p className="notice notice--caution" role="alert">
          More than {MAX_COUNTED.toLocaleString('en')} pets are part of this count: only the pets that you
          have counted are listed. Scan or search the others.
        </p>
      )}
      {isReviewing ? (
        <CountReview
          count={count}
          reference={head.reference}
          rows={counted}
          isOffline={isOffline}
          onBack={() => setReviewing(false)}
        />
      ) : (
        <Counting count={count} head={head} rows={counted} onReview={() => setReviewing(true)} />
      )}
      <PrintedSheet head={head} rows={counted} entries={entries} />
    </>
  )
}

/** Two hundred pages of paper. */
const MAX_PRINTED = 10_000

interface SheetProps {
  readonly head: CountHead
  readonly rows: readonly StockRow[]
  readonly entries: ReadonlyMap<bigint, CountEntry>
}

/** The sheet to count on. It exists only while the page is printed. */
function PrintedSheet(props: SheetProps) {
  return usePrinting() ? <Sheet {...props} /> : null
}

function Sheet({ head: { scope, isBlind }, rows, entries }: SheetProps) {
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

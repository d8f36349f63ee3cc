import { type RefObject, useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import type { KeyOwner } from '../session/session.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { BeginCount } from './begin-count.tsx'
import { countOf } from './count-draft.ts'
import { CountReview } from './count-review.tsx'
import { PrintedSheet } from './count-sheet.tsx'
import { Counting } from './counting.tsx'
import { inOrder } from './scope.ts'
import { MAX_COUNTED, useScopePets } from './use-scope-pets.ts'
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
  const { head, lines: entries, version, isKept } = useReadable(count)
  const { connection } = useStock()
  const { isUnreachable } = useRequestState()
  const [isReviewing, setReviewing] = useState(false)
  useLostFocus(section, `${isReviewing} ${version}`)
  const scopePets = useScopePets(head?.scope)
  const inScope = scopePets.type === 'ready' ? scopePets.rows : NO_ROWS
  const extraIds = useMemo(() => {
    const known = new Set(inScope.map(({ petId }) => petId))
    return [...entries.keys()].filter((petId) => !known.has(petId))
  }, [inScope, entries, version])
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
      {(connection === 'lost' || isUnreachable) && isKept && (
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
        <CountReview count={count} head={head} rows={counted} onBack={() => setReviewing(false)} />
      ) : (
        <Counting count={count} head={head} rows={counted} onReview={() => setReviewing(true)} />
      )}
      <PrintedSheet head={head} rows={counted} entries={entries} />
    </>
  )
}

import { type RefObject, useMemo, useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { KeyOwner } from '../session/session.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { BeginCount } from './begin-count.tsx'
import { countOf } from './count-draft.ts'
import { CountReview } from './count-review.tsx'
import { PrintedSheet } from './count-sheet.tsx'
import { Counting } from './counting.tsx'
import { inOrder, isIn } from './scope.ts'
import './count.css'

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
  const { rows, structure, connection } = useStock()
  const { isUnreachable } = useRequestState()
  const [isReviewing, setReviewing] = useState(false)
  useLostFocus(section, `${isReviewing} ${version}`)
  const scope = head?.scope
  const inScope = useMemo(
    () => (scope === undefined ? [] : rows.filter(isIn(scope))),
    // Quantities are read when they are shown: the scope does not depend on them.
    [scope, structure],
  )
  const extraIds = useMemo(() => {
    const known = new Set(inScope.map(({ petId }) => petId))
    return [...entries.keys()].filter((petId) => !known.has(petId))
  }, [inScope, entries, version])
  const counted = useMemo(
    () => inOrder([...inScope, ...extraIds.flatMap((petId) => stock.find(petId) ?? [])]),
    [inScope, extraIds.join()],
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
      {isReviewing ? (
        <CountReview count={count} head={head} rows={counted} onBack={() => setReviewing(false)} />
      ) : (
        <Counting count={count} head={head} rows={counted} onReview={() => setReviewing(true)} />
      )}
      <PrintedSheet head={head} rows={counted} entries={entries} />
    </>
  )
}

import { type RefObject, useMemo, useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { KeyOwner } from '../session/session.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { BeginCount } from './begin-count.tsx'
import { countOf } from './count-of.ts'
import { CountReview } from './count-review.tsx'
import { PrintedSheet } from './count-sheet.tsx'
import { Counting } from './counting.tsx'
import { inOrder, isIn } from './scope.ts'
import './count.css'

/** What is really on the shelves: choose what to count, count it, look at the differences, apply them. */
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
  const desk = countOf(session, owner)
  const { head, entries, version, isKept } = useReadable(desk)
  const { rows, structure, connection } = useStock()
  const { isUnreachable } = useRequestState()
  const [isReviewing, setReviewing] = useState(false)
  useLostFocus(section, `${isReviewing} ${version}`)
  const scope = head?.scope
  const meant = useMemo(
    () => (scope === undefined ? [] : rows.filter(isIn(scope))),
    // Quantities are read where they are shown: which pets it is about does not depend on them.
    [scope, structure],
  )
  const beyond = useMemo(() => {
    const known = new Set(meant.map(({ petId }) => petId))
    return [...entries.keys()].filter((petId) => !known.has(petId))
  }, [meant, entries, version])
  const counted = useMemo(
    () => inOrder([...meant, ...beyond.flatMap((petId) => stock.find(petId) ?? [])]),
    [meant, beyond.join()],
  )
  if (head === undefined) return <BeginCount desk={desk} />
  return (
    <>
      {!isKept && (
        <p className="notice notice--caution" role="alert">
          This browser has no room to keep the count. Apply it before you close or reload the page.
        </p>
      )}
      {(connection === 'lost' || isUnreachable) && isKept && (
        <p className="notice count__offline" role="status">
          Go on counting: it is kept in this browser. Apply it when the connection is back.
        </p>
      )}
      {isReviewing ? (
        <CountReview desk={desk} head={head} rows={counted} onBack={() => setReviewing(false)} />
      ) : (
        <Counting desk={desk} head={head} rows={counted} onReview={() => setReviewing(true)} />
      )}
      <PrintedSheet head={head} rows={counted} entries={entries} />
    </>
  )
}

import { type RefObject, useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { KeyOwner } from '../session/session.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import type { Received } from './delivery-desk.ts'
import { DeliveryList } from './delivery-list.tsx'
import { deliveryOf } from './delivery-of.ts'
import { DeliveryReview } from './delivery-review.tsx'
import { DeliveryTrouble } from './delivery-trouble.tsx'
import { LineEntry } from './line-entry.tsx'
import './receive.css'

/** A delivery comes in: scan or search, say how many, look over it, and book all of it in at once. */
export function ReceiveView() {
  const section = useRef<HTMLElement>(null)
  return (
    <section ref={section} className="view receive" aria-label="Receive" tabIndex={-1}>
      <h1>Receive</h1>
      <WorkFrame>{(owner) => <Delivery owner={owner} section={section} />}</WorkFrame>
    </section>
  )
}

interface Props {
  readonly owner: KeyOwner
  readonly section: RefObject<HTMLElement | null>
}

function Delivery({ owner, section }: Props) {
  const desk = deliveryOf(useSession(), owner)
  const { lines, phase, received, isKept } = useReadable(desk)
  const [isReviewing, setReviewing] = useState(false)
  useStock()
  useLostFocus(section, `${phase} ${lines.length}`)
  if (phase === 'unsettled' || phase === 'forgotten') return <DeliveryTrouble desk={desk} />
  const isReview = phase === 'sending' || (isReviewing && lines.length > 0)
  return (
    <>
      {!isKept && (
        <p className="notice notice--caution" role="alert">
          This browser has no room to keep the delivery. Receive it before you close or reload the page.
        </p>
      )}
      {isReview ? (
        <DeliveryReview desk={desk} onBack={() => setReviewing(false)} />
      ) : (
        <>
          {received !== undefined && lines.length === 0 && <ReceivedNotice received={received} />}
          <LineEntry desk={desk} />
          <DeliveryList desk={desk} onReview={() => setReviewing(true)} />
        </>
      )}
    </>
  )
}

function ReceivedNotice({ received: { pets, pieces, reference } }: { readonly received: Received }) {
  return (
    <p className="notice notice--accent" role="status">
      <span>
        <strong>Received{reference !== undefined && ` ${reference}`}</strong>: {piecesWords(pieces)} of{' '}
        {petsWords(pets)} {pieces === 1 ? 'is' : 'are'} in stock now.
      </span>
    </p>
  )
}

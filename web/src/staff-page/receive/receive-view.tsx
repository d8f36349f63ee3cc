import { type RefObject, useRef, useState } from 'preact/compat'
import { lateWords } from '../data/late-words.ts'
import { useReadable } from '../data/observable.ts'
import { AmountInput } from '../quantity/amount-input.tsx'
import { UndoAdjustment } from '../quantity/undo-adjustment.tsx'
import { findScanned } from '../scanner/scan-layer.tsx'
import type { KeyOwner } from '../session/session.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { WorkFrame } from '../session/work-frame.tsx'
import { Button } from '../ui/button.tsx'
import { askToDiscard } from '../ui/confirm.tsx'
import { useLostFocus } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import { type DeliveryDraft, deliveryOf, piecesOf, type Received } from './delivery-draft.ts'
import { DeliveryReview } from './delivery-review.tsx'
import { LineEntry } from './line-entry.tsx'
import './receive.css'

/** Receives a delivery: scan or search, type how many, review it, and book all of it at once. */
export function ReceiveView() {
  const section = useRef<HTMLElement>(null)
  return (
    <section ref={section} className="view" aria-label="Receive" tabIndex={-1}>
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
  const delivery = deliveryOf(useSession(), owner)
  const { lines } = useReadable(delivery)
  const isKept = useReadable(delivery.isKept)
  const received = useReadable(delivery.received)
  const [isReviewing, setReviewing] = useState(false)
  useStock()
  useLostFocus(section, lines.size)
  const isReview = isReviewing && lines.size > 0
  const review = () => {
    delivery.openLine.set(undefined)
    setReviewing(true)
  }
  return (
    <>
      {!isKept && (
        <p className="notice notice--caution" role="alert">
          This browser has no room to keep the delivery. Receive it before you close or reload the page.
        </p>
      )}
      {isReview ? (
        <DeliveryReview delivery={delivery} onBack={() => setReviewing(false)} />
      ) : (
        <>
          {received !== undefined && (
            <ReceivedNotice key={String(received.changes[0]?.adjustmentId)} received={received} />
          )}
          <LineEntry delivery={delivery} />
          <DeliveryList delivery={delivery} onReview={review} />
        </>
      )}
    </>
  )
}

interface ListProps {
  readonly delivery: DeliveryDraft
  readonly onReview: () => void
}

/** The lines of the delivery, the latest first. */
function DeliveryList({ delivery, onReview }: ListProps) {
  const { lines, refusal } = useReadable(delivery)
  const received = useReadable(delivery.received)
  if (lines.size === 0) {
    return received !== undefined ? null : (
      <Empty title="Nothing received yet">
        <p>This browser keeps the list until you press Review and Receive.</p>
      </Empty>
    )
  }
  const discard = async () => {
    const effect = 'The list is emptied. The stock does not change.'
    if (await askToDiscard('Discard this delivery?', effect)) delivery.clear()
  }
  return (
    <div className="card">
      <div className="card__header">
        <strong className="number">
          {petsWords(lines.size)}, {piecesWords(piecesOf(lines))}
        </strong>
        <span className="cluster">
          <Button tone="quiet" onClick={() => void discard()}>
            Discard
          </Button>
          <Button tone="primary" onClick={onReview}>
            Review
          </Button>
        </span>
      </div>
      {refusal !== undefined && (
        <p className="notice notice--negative" role="alert">
          {refusal.message || 'Nothing was received. Remove the marked pets, then try again.'}
        </p>
      )}
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers */}
      <ul role="list" aria-label="Received so far">
        {[...lines].reverse().map(([petId, amount]) => (
          <Line key={String(petId)} delivery={delivery} petId={petId} amount={amount} />
        ))}
      </ul>
    </div>
  )
}

interface LineProps {
  readonly delivery: DeliveryDraft
  readonly petId: bigint
  readonly amount: number
}

function Line({ delivery, petId, amount }: LineProps) {
  const session = useSession()
  const { stock } = session
  const refusal = useReadable(delivery).refusal?.pets.find((refused) => refused.petId === petId)
  const name = stock.nameOf(petId)
  return (
    <li className="list-row amount-row">
      <span className="cluster">
        <a className="list-row__name" href={href({ view: 'pet', petId })}>
          {name}
        </a>
        <span className="muted number">#{String(petId)}</span>
        {delivery.isImplausible(petId, amount) && (
          <span className="badge badge--caution">Unusually many</span>
        )}
        <span className="negative small">{refusal?.why}</span>
      </span>
      <AmountInput
        label={`How many ${name}`}
        amount={amount}
        onChange={(wanted) => delivery.setAmount(petId, wanted)}
        onScan={(barcode) => void findScanned(session, barcode, (scanned) => void delivery.add(scanned, 1))}
      />
      <Button
        tone="quiet"
        icon="close"
        aria-label={`Remove ${name}`}
        onClick={() => delivery.setAmount(petId, 0)}
      />
    </li>
  )
}

function ReceivedNotice({ received }: { readonly received: Received }) {
  const { pieces, reference, changes } = received
  const { stock } = useSession()
  const adjustmentId = changes[0]?.adjustmentId
  const late = lateWords(changes, (petId) => stock.nameOf(petId))
  const [isUndone, setUndone] = useState(false)
  const title = reference === undefined ? 'Received' : `Received ${reference}`
  const amount = `${piecesWords(pieces)} of ${petsWords(changes.length)}`
  return (
    <div className="notice notice--accent" role="status">
      <span>
        <strong>{title}</strong>: {amount}{' '}
        {isUndone ? 'taken out of the stock again.' : `${pieces === 1 ? 'is' : 'are'} in stock now.`} {late}
      </span>
      {!isUndone && adjustmentId !== undefined && (
        <UndoAdjustment what="the delivery" adjustmentId={adjustmentId} onUndone={() => setUndone(true)} />
      )}
    </div>
  )
}

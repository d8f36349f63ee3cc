import { useReadable } from '../data/observable.ts'
import { momentWords } from '../data/time-words.ts'
import type { DeliveryDesk } from './delivery-desk.ts'
import { DeliveryTable } from './delivery-table.tsx'

/** It was sent, and nobody knows what came of it: what tells, and what is safe to do. */
export function DeliveryTrouble({ desk }: { readonly desk: DeliveryDesk }) {
  const { phase, failure, sent, lines } = useReadable(desk)
  return (
    <div className="card receive__card">
      <div className="notice notice--caution receive__notice" role="alert">
        {phase === 'unsettled' ? (
          <>
            <span className="receive__words">
              <strong>{failure ?? 'This delivery was sent, and no answer has come.'}</strong> It may have been
              booked in. Asking again tells, and books it in once at most.
            </span>
            <button type="button" className="button button--primary" onClick={() => void desk.book()}>
              Ask again
            </button>
          </>
        ) : (
          <>
            <span className="receive__words">
              <strong>
                This delivery was sent {sent === undefined ? 'before' : momentWords(sent.madeAt)}, and no
                answer came.
              </strong>{' '}
              That is too long ago to ask. Look at the history of one of its pets: does it say that it was
              received?
            </span>
            <button type="button" className="button" onClick={() => desk.clear()}>
              Yes, it was received
            </button>
            <button type="button" className="button" onClick={() => void desk.sendAnew()}>
              No, receive it now
            </button>
          </>
        )}
      </div>
      <DeliveryTable lines={lines} />
    </div>
  )
}

import { type FormEvent, useEffect, useId, useRef } from 'react'
import { useReadable } from '../data/observable.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import type { DeliveryDesk } from './delivery-desk.ts'
import { DeliveryTable } from './delivery-table.tsx'

/** Shorter than the service allows, so that an undo has room to name it. */
const MAX_REFERENCE_LENGTH = 190

interface Props {
  readonly desk: DeliveryDesk
  readonly onBack: () => void
}

/** All of it once more, with what the stock will be, before it is booked in. */
export function DeliveryReview({ desk, onBack }: Props) {
  const { lines, reference, phase } = useReadable(desk)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const isSending = phase === 'sending'
  const pieces = lines.reduce((sum, { amount }) => sum + amount, 0)
  useEffect(() => field.current?.focus(), [])
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    onBack()
    void desk.book()
  }
  return (
    <form className="card receive__card" onSubmit={onSubmit} aria-label="Review the delivery">
      <div className="receive__review-head">
        <div className="field receive__reference">
          <label className="field__label" htmlFor={`${id}-reference`}>
            Reference
          </label>
          <input
            ref={field}
            id={`${id}-reference`}
            className="input"
            autoComplete="off"
            placeholder="Delivery note or order, such as PO-1043"
            maxLength={MAX_REFERENCE_LENGTH}
            value={reference}
            readOnly={isSending}
            onChange={({ currentTarget }) => desk.setReference(currentTarget.value)}
          />
        </div>
        <div className="receive__question">
          <button type="button" className="button" disabled={isSending} onClick={onBack}>
            Back
          </button>
          <button type="submit" className="button button--primary" aria-disabled={isSending}>
            {isSending && <span className="spinner" aria-hidden="true" />}
            {isSending ? 'Receiving' : `Receive ${piecesWords(pieces)} of ${petsWords(lines.length)}`}
          </button>
        </div>
      </div>
      <DeliveryTable lines={lines} />
    </form>
  )
}

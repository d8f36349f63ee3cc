import { useRef, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { useLostFocus } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import type { DeliveryDesk } from './delivery-desk.ts'
import type { DeliveryLine } from './kept-delivery.ts'

interface Props {
  readonly desk: DeliveryDesk
  readonly onReview: () => void
}

/** What has come so far, the latest first. */
export function DeliveryList({ desk, onReview }: Props) {
  const { lines, refused, failure, received } = useReadable(desk)
  const [isGivingUp, setGivingUp] = useState(false)
  const safe = useRef<HTMLButtonElement>(null)
  useLostFocus(safe, isGivingUp)
  if (lines.length === 0 && received !== undefined) return null
  if (lines.length === 0) {
    return (
      <div className="empty">
        <p className="empty__title">Nothing received yet</p>
        <p>What you scan is kept in this browser until you book it in.</p>
      </div>
    )
  }
  const pieces = lines.reduce((sum, { amount }) => sum + amount, 0)
  return (
    <div className="card receive__card">
      <div className="receive__line-head">
        <strong className="number">
          {petsWords(lines.length)}, {piecesWords(pieces)}
        </strong>
        {isGivingUp ? (
          <span className="receive__question">
            Give up this list?
            <button
              type="button"
              className="button button--small button--danger"
              onClick={() => desk.clear()}
            >
              Give it up
            </button>
            <button
              ref={safe}
              type="button"
              className="button button--small"
              onClick={() => setGivingUp(false)}
            >
              Keep it
            </button>
          </span>
        ) : (
          <span className="receive__question">
            <button
              ref={safe}
              type="button"
              className="button button--quiet button--small"
              onClick={() => setGivingUp(true)}
            >
              Give up
            </button>
            <button type="button" className="button button--primary" onClick={onReview}>
              Review
            </button>
          </span>
        )}
      </div>
      {(failure !== undefined || refused.size > 0) && (
        <p className="notice notice--negative receive__notice" role="alert">
          {failure ??
            'Nothing was booked in, since some of it cannot be. Take out what is marked, then go on.'}
        </p>
      )}
      <ul className="receive__lines" aria-label="Received so far">
        {lines.map((line) => (
          <Line key={String(line.petId)} desk={desk} line={line} refusal={refused.get(line.petId)} />
        ))}
      </ul>
    </div>
  )
}

interface LineProps {
  readonly desk: DeliveryDesk
  readonly line: DeliveryLine
  readonly refusal: string | undefined
}

function Line({ desk, line: { petId, amount }, refusal }: LineProps) {
  const row = useSession().stock.find(petId)
  const [draft, setDraft] = useState<string>()
  const name = row?.name ?? `Pet ${petId}`
  const wanted = draft === undefined ? amount : readQuantity(draft)
  const isValid = wanted !== undefined && wanted > 0
  const end = () => {
    if (isValid && wanted !== amount) desk.setAmount(petId, wanted)
    setDraft(undefined)
  }
  return (
    <li className="receive__line">
      <span className="receive__name">
        <a href={href({ view: 'pet', petId })}>{name}</a>
        <span className="muted number">{String(petId)}</span>
        {refusal !== undefined && <span className="field__error">{refusal}</span>}
      </span>
      <input
        className="input number receive__pieces"
        inputMode="numeric"
        autoComplete="off"
        aria-label={`How many ${name}`}
        aria-invalid={!isValid}
        value={draft ?? String(amount)}
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
        onBlur={end}
        onKeyDown={({ key }) => {
          if (key === 'Enter') end()
          if (key === 'Escape') setDraft(undefined)
        }}
      />
      <button
        type="button"
        className="button button--quiet button--icon"
        aria-label={`Take out ${name}`}
        onClick={() => desk.remove(petId)}
      >
        <Icon name="close" />
      </button>
    </li>
  )
}

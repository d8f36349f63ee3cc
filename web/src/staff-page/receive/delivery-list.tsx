import { useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { Empty } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { petsWords, piecesWords } from '../ui/words.ts'
import { type DeliveryDraft, piecesOf } from './delivery-draft.ts'

interface Props {
  readonly delivery: DeliveryDraft
  readonly onReview: () => void
}

/** The lines of the delivery, the latest first. */
export function DeliveryList({ delivery, onReview }: Props) {
  const { lines, refused, failure } = useReadable(delivery)
  const received = useReadable(delivery.received)
  if (lines.size === 0 && received !== undefined) return null
  if (lines.size === 0) {
    return (
      <Empty title="Nothing received yet">
        <p>This browser keeps the list until you press Review and Receive.</p>
      </Empty>
    )
  }
  const discard = async () => {
    if (await ask(DISCARD_QUESTION)) delivery.clear()
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
      {(failure !== undefined || refused.size > 0) && (
        <p className="notice notice--negative" role="alert">
          {failure ?? 'Nothing was received. Remove the marked pets, then try again.'}
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

const DISCARD_QUESTION = {
  title: 'Discard this delivery?',
  text: ['The list is emptied. The stock does not change.'],
  yes: 'Discard',
  no: 'Keep it',
}

interface LineProps {
  readonly delivery: DeliveryDraft
  readonly petId: bigint
  readonly amount: number
}

function Line({ delivery, petId, amount }: LineProps) {
  const { stock } = useSession()
  const { refused } = useReadable(delivery)
  const [draft, setDraft] = useState<string>()
  const name = stock.nameOf(petId)
  const wanted = draft === undefined ? amount : readQuantity(draft)
  const isValid = wanted !== undefined && wanted > 0
  const save = () => {
    if (isValid && wanted !== amount) delivery.setAmount(petId, wanted)
    setDraft(undefined)
  }
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
        <span className="negative small">{refused.get(petId)}</span>
      </span>
      <input
        className="input number"
        inputMode="numeric"
        autoComplete="off"
        aria-label={`How many ${name}`}
        aria-invalid={!isValid}
        value={draft ?? String(amount)}
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
        onBlur={save}
        onKeyDown={({ key }) => {
          if (key === 'Enter') save()
          if (key === 'Escape') setDraft(undefined)
        }}
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

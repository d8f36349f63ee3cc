import { useState } from 'preact/compat'
import {
  type AdjustmentPurpose,
  newReversal,
  type Reversal,
  type ReversalResult,
  reverseAdjustment,
} from '../data/history/reverse.ts'
import type { QuantityChange } from '../data/stock/undo-history.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'

interface Props {
  /** Names the adjustment for screen readers, such as `the delivery`. */
  readonly what: string
  readonly changes: readonly QuantityChange[]
  readonly purpose: AdjustmentPurpose
  readonly onUndone: () => void
}

/** A button that undoes an adjustment by one compensating adjustment, and says why if that is not possible. */
export function UndoAdjustment({ what, changes, purpose, onUndone }: Props) {
  const { saving, stock } = useSession()
  const [result, setResult] = useState<ReversalResult>()
  const [isBusy, setBusy] = useState(false)
  const reverse = async (reversal: Reversal) => {
    setBusy(true)
    const reversed = await reverseAdjustment(saving, reversal)
    stock.publishNow()
    setBusy(false)
    setResult(reversed)
    if (reversed.type === 'done') onUndone()
  }
  const repeat = result?.type === 'unsure' ? result.repeat : undefined
  return (
    <>
      <Button
        size="small"
        isBusy={isBusy}
        onClick={() => void reverse(repeat ?? newReversal(changes, purpose))}
      >
        {repeat === undefined ? 'Undo' : 'Check now'}
        <span className="visually-hidden"> {what}</span>
      </Button>
      <span role="alert">
        {result?.type === 'unsure' && 'Not sure it was saved. Check now; it is never counted twice.'}
        {result?.type === 'failed' && `Not undone. ${result.why}`}
        {result?.type === 'refused' && 'Nothing was undone, since these pets do not allow it:'}
      </span>
      {result?.type === 'refused' && (
        <ul>
          {result.pets.map(({ petId, why }) => (
            <li key={String(petId)}>
              <strong>{stock.nameOf(petId)}</strong>: {why}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

import { useState } from 'preact/compat'
import { type ReversalOutcome, reverseAdjustment } from '../data/stock/reversal.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'

interface Props {
  /** Names the adjustment for screen readers, such as `the delivery`. */
  readonly what: string
  readonly adjustmentId: bigint
  readonly onUndone: () => void
}

/** A button that undoes an adjustment, and says why if that is not possible. */
export function UndoAdjustment({ what, adjustmentId, onUndone }: Props) {
  const { saving } = useSession()
  const [outcome, setOutcome] = useState<ReversalOutcome>()
  const [isBusy, setBusy] = useState(false)
  const undo = async () => {
    setBusy(true)
    const reversed = await reverseAdjustment(saving, adjustmentId)
    setBusy(false)
    setOutcome(reversed)
    if (reversed.type !== 'failed') onUndone()
  }
  return (
    <>
      <Button size="small" isBusy={isBusy} onClick={() => void undo()}>
        Undo
        <span className="visually-hidden"> {what}</span>
      </Button>
      <span role="alert">{outcome?.type === 'failed' && `Not undone. ${outcome.why}`}</span>
    </>
  )
}

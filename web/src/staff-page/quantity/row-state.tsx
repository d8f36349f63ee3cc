import { useLayoutEffect, useRef } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { type EditState, type StockEditor, wantedBy } from '../data/stock/stock-editor.ts'
import { Button } from '../ui/button.tsx'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { REASONS_FOR, ReasonSelect } from './purpose-fields.tsx'

interface Props {
  readonly petId: bigint
  readonly name: string
  readonly state: EditState | undefined
  readonly editor: StockEditor
  /** The buttons disappear after the choice, and the focus with them. */
  readonly onChosen?: (() => void) | undefined
}

/** If both quantities together are longer, the buttons show words instead. */
const MAX_ON_BUTTONS = 14

/** The state of a row's change, with buttons if it was not saved. */
export function RowState({ petId, name, state, editor, onChosen }: Props) {
  if (state === undefined) return null
  if (state.kind === 'stepping')
    return <Steps petId={petId} name={name} steps={state} editor={editor} onChosen={onChosen} />
  if (state.kind === 'saving') {
    return (
      <span className="row-state muted">
        <span className="spinner" aria-hidden="true" />
        Saving
      </span>
    )
  }
  if (state.kind === 'saved') {
    return (
      <span className="row-state row-state--saved">
        <Icon name="check" />
        Saved
      </span>
    )
  }
  const choose = (what: 'dismiss' | 'retry' | 'setMine') => () => {
    void editor[what](petId)
    onChosen?.()
  }
  const dismiss = choose('dismiss')
  if (state.kind === 'failed') {
    const change = wantedBy(state)
    const wanted = 'delta' in change ? signed(change.delta) : wholeNumber(change.quantity)
    const what = 'delta' in change ? `change ${name} by ${wanted}` : `set ${name} to ${wanted}`
    return (
      <span className="row-state negative">
        <span className="row-state__outcome" title={state.reason}>
          <span>Not saved: {wanted}.</span> <span className="row-state__text">{state.reason}</span>
        </span>
        <Button size="small" aria-label={`Try again to ${what}`} onClick={choose('retry')}>
          Try again
        </Button>
        <Button size="small" aria-label={`Leave it: ${name} stays as it is`} onClick={dismiss}>
          Leave it
        </Button>
      </span>
    )
  }
  const theirs = wholeNumber(state.theirs)
  const mine = wholeNumber(state.target)
  const isLong = theirs.length + mine.length > MAX_ON_BUTTONS
  return (
    <span className="row-state caution">
      <span className="row-state__text" title={`Somebody else set it to ${theirs} meanwhile`}>
        Somebody set {theirs}
      </span>
      <Button size="small" aria-label={`Keep ${theirs} for ${name}`} onClick={dismiss}>
        {isLong ? 'Keep theirs' : `Keep ${theirs}`}
      </Button>
      <Button size="small" aria-label={`Set ${mine} for ${name}`} onClick={choose('setMine')}>
        {isLong ? 'Set mine' : `Set ${mine}`}
      </Button>
    </span>
  )
}

interface StepsProps extends Omit<Props, 'state'> {
  readonly steps: Extract<EditState, { kind: 'stepping' }>
}

/** Steps that are not sent yet, and their reason. */
function Steps({ petId, name, steps, editor, onChosen }: StepsProps) {
  const element = useRef<HTMLSpanElement>(null)
  const giveBackFocus = useRef(onChosen)
  giveBackFocus.current = onChosen
  useLayoutEffect(() => {
    const span = element.current
    return () => {
      if (span?.contains(document.activeElement) === true) giveBackFocus.current?.()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the events are those of the select
    <span
      ref={element}
      className="row-state"
      onClick={(event) => event.stopPropagation()}
      onFocus={() => editor.holdSteps(petId)}
      onBlur={() => void editor.sendSteps(petId)}
      onKeyDown={(event) => {
        event.stopPropagation()
        if (event.key === 'Enter' || event.key === 'Escape') void editor.sendSteps(petId)
      }}
    >
      <strong className="number">{signed(steps.delta)}</strong>
      <ReasonSelect
        label={`Reason for ${name}`}
        reasons={REASONS_FOR[steps.delta > 0 ? 'add' : 'subtract']}
        reason={steps.reason}
        onReason={(reason) => editor.setReason(petId, reason)}
      />
    </span>
  )
}

function signed(delta: number): string {
  return `${delta < 0 ? '−' : '+'}${wholeNumber(Math.abs(delta))}`
}

import { Icon } from '../../design/icon.tsx'
import type { EditState, StockEditor } from '../data/stock/stock-editor.ts'

interface Props {
  readonly petId: bigint
  readonly name: string
  readonly state: EditState | undefined
  readonly editor: StockEditor
  /** The buttons go with the choice, and the focus with them. */
  readonly onChosen?: () => void
}

/** As many characters of both quantities fit on the buttons, also on a tablet. */
const MAX_ON_BUTTONS = 14

/** How the change of a row stands, and what can be done where it did not go through. */
export function RowState({ petId, name, state, editor, onChosen }: Props) {
  if (state === undefined) return null
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
    const { adjustment, target } = state
    const wanted = adjustment === undefined ? target.toLocaleString('en') : signed(adjustment.delta)
    const what = adjustment === undefined ? `set ${name} to ${wanted}` : `change ${name} by ${wanted}`
    return (
      <span className="row-state row-state--failed">
        <span className="row-state__text" title={state.reason}>
          Not saved: {wanted}. {state.reason}
        </span>
        <Choice label={`Try again to ${what}`} onClick={choose('retry')}>
          Try again
        </Choice>
        <Choice label={`Leave it: ${name} stays as it is`} onClick={dismiss}>
          Leave it
        </Choice>
      </span>
    )
  }
  const theirs = state.theirs.quantity.toLocaleString('en')
  const mine = state.target.toLocaleString('en')
  const isLong = theirs.length + mine.length > MAX_ON_BUTTONS
  return (
    <span className="row-state row-state--conflict">
      <span className="row-state__text" title={`Somebody else set it to ${theirs} meanwhile`}>
        Somebody set {theirs}
      </span>
      <Choice label={`Keep ${theirs} for ${name}`} onClick={dismiss}>
        {isLong ? 'Keep theirs' : `Keep ${theirs}`}
      </Choice>
      <Choice label={`Set ${mine} for ${name}`} onClick={choose('setMine')}>
        {isLong ? 'Set mine' : `Set ${mine}`}
      </Choice>
    </span>
  )
}

function signed(delta: number): string {
  return `${delta < 0 ? '−' : '+'}${Math.abs(delta).toLocaleString('en')}`
}

interface ChoiceProps {
  readonly label: string
  readonly onClick: () => void
  readonly children: React.ReactNode
}

function Choice({ label, onClick, children }: ChoiceProps) {
  return (
    <button type="button" className="button button--small" aria-label={label} onClick={onClick}>
      {children}
    </button>
  )
}

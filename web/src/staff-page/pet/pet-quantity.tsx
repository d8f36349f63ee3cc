import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { Reserved } from '../quantity/reserved.tsx'
import { RowState } from '../quantity/row-state.tsx'
import { saveAndTell } from '../quantity/save-and-tell.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'

interface Props {
  readonly row: StockRow
  /** By open orders; `undefined` where it is not known. */
  readonly reserved: number | undefined
}

/** How many there are, to be corrected by typing or one by one. Saves only over what the user saw. */
export function PetQuantity({ row, reserved }: Props) {
  const { petId } = row
  const session = useSession()
  const mayChange = useMayChange('stock')
  const { editor } = session
  const edit = useReadable(editor).get(petId)
  const [draft, setDraft] = useState<string>()
  const seen = useRef(row)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const shown = edit?.kind === 'saving' ? edit.target : row.quantity
  const target = draft === undefined ? undefined : readQuantity(draft)
  const isInvalid = draft !== undefined && target === undefined

  const type = (text: string) => {
    if (draft === undefined) seen.current = row
    setDraft(text)
  }
  const save = () => {
    if (target === undefined) return
    setDraft(undefined)
    if (target === seen.current.quantity) return
    void saveAndTell(session, seen.current, target).then((isMeant) => {
      if (!isMeant) setDraft(draft)
    })
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter') save()
    else if (event.key === 'Escape') setDraft(undefined)
  }
  return (
    <div className="pet-quantity">
      <label className="field__label" htmlFor={id}>
        In stock
      </label>
      <div className="pet-quantity__row">
        {mayChange && (
          <StepButton label="One less" icon="minus" onClick={() => void editor.step(petId, -1)} />
        )}
        <input
          ref={field}
          id={id}
          className="input number pet-quantity__input"
          inputMode="numeric"
          readOnly={!mayChange}
          autoComplete="off"
          value={draft ?? String(shown)}
          aria-invalid={isInvalid}
          aria-describedby={`${id}-state`}
          onChange={({ currentTarget }) => type(currentTarget.value)}
          onKeyDown={onKey}
        />
        {mayChange && <StepButton label="One more" icon="plus" onClick={() => void editor.step(petId, 1)} />}
        {draft !== undefined && (
          <button type="button" className="button button--primary" disabled={isInvalid} onClick={save}>
            Save
          </button>
        )}
      </div>
      <p className="pet-quantity__reserved">
        {reserved === 0 && <span className="muted">None of them is reserved.</span>}
        {reserved !== undefined && <Reserved quantity={shown} reserved={reserved} />}
      </p>
      <div id={`${id}-state`} className="pet-quantity__state" role="status">
        {isInvalid ? (
          <span className="field__error">A whole number of 0 or more.</span>
        ) : (
          <RowState
            petId={petId}
            name={row.name ?? `pet ${petId}`}
            state={edit}
            editor={editor}
            onChosen={() => field.current?.focus()}
          />
        )}
      </div>
    </div>
  )
}

interface StepButtonProps {
  readonly label: string
  readonly icon: 'minus' | 'plus'
  readonly onClick: () => void
}

function StepButton({ label, icon, onClick }: StepButtonProps) {
  return (
    <button type="button" className="button button--icon" aria-label={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  )
}

import { useId, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { shownQuantity } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { Reserved } from '../quantity/reserved.tsx'
import { RowState } from '../quantity/row-state.tsx'
import { saveTypedChange } from '../quantity/save-change.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'

/** The quantity of a pet, to be changed by typing or one by one. Saves only over the state that the user saw. */
export function PetQuantity({ row }: { readonly row: StockRow }) {
  const { petId, reserved } = row
  const session = useSession()
  const mayChange = useMayChange('stock')
  const { editor } = session
  const edit = useReadable(editor).get(petId)
  const [draft, setDraft] = useState<string>()
  const seen = useRef(row)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const shown = shownQuantity(row, edit)
  const target = draft === undefined ? undefined : readQuantity(draft)
  const isInvalid = draft !== undefined && target === undefined

  const type = (text: string) => {
    if (draft === undefined) seen.current = row
    setDraft(text)
  }
  const save = async () => {
    if (target === undefined) return
    setDraft(undefined)
    if (target === seen.current.quantity) return
    const isSaved = await saveTypedChange(session, seen.current, { kind: 'set', quantity: target })
    if (!isSaved) setDraft(draft)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setDraft(undefined)
    if (event.key !== 'Enter') return
    // Otherwise the same Enter answers the question that it opens.
    event.preventDefault()
    void save()
  }
  return (
    <div className="field pet-quantity">
      <label className="field__label" htmlFor={id}>
        In stock
      </label>
      <div className="cluster">
        {mayChange && (
          <Button
            icon="minus"
            aria-label="One less"
            isDisabled={shown === 0}
            onClick={() => editor.step(petId, -1)}
          />
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
        {mayChange && <Button icon="plus" aria-label="One more" onClick={() => editor.step(petId, 1)} />}
        {draft !== undefined && (
          <Button tone="primary" isDisabled={isInvalid} onClick={() => void save()}>
            Save
          </Button>
        )}
      </div>
      <p className="pet-quantity__reserved">
        {reserved === 0 && <span className="muted">None of them is reserved.</span>}
        <Reserved quantity={shown} reserved={reserved} />
      </p>
      <div id={`${id}-state`} className="pet-quantity__state">
        {isInvalid ? (
          <span className="negative small" role="alert">
            A whole number of 0 or more.
          </span>
        ) : (
          <RowState
            petId={petId}
            name={row.name ?? `pet ${petId}`}
            state={edit}
            editor={editor}
            onChosen={() => field.current?.focus()}
          />
        )}
        <span className="visually-hidden" role="status">
          {edit?.kind === 'stepping' ? `${shown.toLocaleString('en')} in stock` : ''}
          {edit?.kind === 'saved' ? `Saved, ${shown.toLocaleString('en')} in stock` : ''}
        </span>
      </div>
    </div>
  )
}

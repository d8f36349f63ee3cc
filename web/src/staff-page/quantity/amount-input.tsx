import { flushSync, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'preact/compat'
import { scannedIn } from '../scanner/find-pets.ts'
import { useSession } from '../session/session-context.ts'
import { readQuantity } from './typed-change.ts'

interface Props {
  readonly label: string
  readonly amount: number
  readonly onChange: (amount: number) => void
  /** The field takes the focus for each new object. */
  readonly focusFor?: object | undefined
  /** Enter was pressed. The amount is saved. */
  readonly onEnter?: () => void
  /** A scanner that is too slow to be recognized typed a barcode into the field. */
  readonly onScan: (barcode: string) => void
}

/** A field for an amount. Enter and leaving the field save it; Escape restores it. */
export function AmountInput({ label, amount, onChange, focusFor, onEnter, onScan }: Props) {
  const { stock } = useSession()
  const [draft, setDraft] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const isValid = draft === undefined || readQuantity(draft) !== undefined
  useLayoutEffect(() => {
    if (focusFor === undefined) return
    field.current?.focus()
    field.current?.select()
  }, [focusFor])
  const save = (text = draft) => {
    const wanted = readQuantity(text ?? '')
    if (wanted !== undefined && wanted !== amount) onChange(wanted)
    setDraft(undefined)
  }
  const onKeyDown = ({ key }: KeyboardEvent<HTMLInputElement>) => {
    const scanned = key === 'Enter' ? scannedIn(stock, draft ?? '') : undefined
    if (scanned !== undefined) {
      // Rendered at once, so that leaving the field does not save the barcode.
      flushSync(() => save(scanned.before))
      onScan(scanned.barcode)
    } else if (key === 'Enter' && isValid) {
      save()
      onEnter?.()
    } else if (key === 'Escape') setDraft(undefined)
  }
  return (
    <input
      ref={field}
      className="input number"
      inputMode="numeric"
      autoComplete="off"
      aria-label={label}
      aria-invalid={!isValid}
      value={draft ?? String(amount)}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={() => save()}
      onKeyDown={onKeyDown}
    />
  )
}

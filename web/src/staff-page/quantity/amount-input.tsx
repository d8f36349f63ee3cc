import { useState } from 'preact/compat'
import { readQuantity } from './typed-change.ts'

interface Props {
  readonly label: string
  readonly amount: number
  readonly onChange: (amount: number) => void
}

/** A field for an amount of 1 or more. Enter and leaving the field save it; Escape restores it. */
export function AmountInput({ label, amount, onChange }: Props) {
  const [draft, setDraft] = useState<string>()
  const wanted = draft === undefined ? amount : readQuantity(draft)
  const isValid = wanted !== undefined && wanted > 0
  const save = () => {
    if (isValid && wanted !== amount) onChange(wanted)
    setDraft(undefined)
  }
  return (
    <input
      className="input number"
      inputMode="numeric"
      autoComplete="off"
      aria-label={label}
      aria-invalid={!isValid}
      value={draft ?? String(amount)}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={save}
      onKeyDown={({ key }) => {
        if (key === 'Enter') save()
        if (key === 'Escape') setDraft(undefined)
      }}
    />
  )
}

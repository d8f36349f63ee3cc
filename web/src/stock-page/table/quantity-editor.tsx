import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { MAX_QUANTITY } from '../stock/stock-editor.ts'

interface Props {
  readonly label: string
  /** What it begins with; all of it is selected unless the user typed it. */
  readonly text: string
  readonly isTyped: boolean
  readonly onSave: (quantity: number) => void
  readonly onLeave: () => void
}

/** The field in which a quantity is typed: Enter and leaving it save, Esc does not. */
export function QuantityEditor({ label, text, isTyped, onSave, onLeave }: Props) {
  const [value, setValue] = useState(text)
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  const quantity = readQuantity(value)

  useEffect(() => {
    const input = field.current
    input?.focus()
    if (isTyped) input?.setSelectionRange(input.value.length, input.value.length)
    else input?.select()
  }, [isTyped])

  useEffect(() => {
    field.current?.setCustomValidity(quantity === undefined ? 'Enter a whole number of 0 or more.' : '')
  }, [quantity])

  const end = (saved: number | undefined) => {
    if (isDone.current) return
    isDone.current = true
    if (saved === undefined) onLeave()
    else onSave(saved)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'Escape') end(undefined)
    else if (event.key === 'Enter') {
      if (quantity === undefined) field.current?.reportValidity()
      else end(quantity)
    }
  }

  return (
    <input
      ref={field}
      className="input quantity-editor number"
      inputMode="numeric"
      autoComplete="off"
      aria-label={label}
      aria-invalid={quantity === undefined}
      value={value}
      onChange={({ currentTarget }) => setValue(currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end(quantity)}
    />
  )
}

/** A whole number of 0 or more, with or without separators of thousands; `undefined` for anything else. */
export function readQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[\s_'](?=\d{3})/g, '')
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value <= MAX_QUANTITY ? value : undefined
}

import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { MAX_QUANTITY } from '../stock/stock-editor.ts'

interface Props {
  readonly label: string
  /** What it begins with; all of it is selected unless the user typed it. */
  readonly text: string
  readonly isTyped: boolean
  /** Told once: what to save, if anything, and whether a key ended it or the focus has gone elsewhere. */
  readonly onEnd: (quantity: number | undefined, by: 'key' | 'blur') => void
}

/** The field in which a quantity is typed: Enter and leaving it save, Esc does not. */
export function QuantityEditor({ label, text, isTyped, onEnd }: Props) {
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

  const end = (saved: number | undefined, by: 'key' | 'blur') => {
    if (isDone.current) return
    isDone.current = true
    onEnd(saved, by)
  }
  const onBlur = () => {
    // Another window has the focus now, and the field gets it back: whoever types is not done.
    if (document.activeElement !== field.current) end(quantity, 'blur')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'Escape') end(undefined, 'key')
    else if (event.key === 'Enter') {
      if (quantity === undefined) field.current?.reportValidity()
      else end(quantity, 'key')
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
      onBlur={onBlur}
    />
  )
}

/** A whole number of 0 or more, with or without separators of thousands; `undefined` for anything else. */
export function readQuantity(text: string): number | undefined {
  const digits = text.trim().replace(/(?<=\d)[\s_'](?=\d{3})/g, '')
  const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
  return value <= MAX_QUANTITY ? value : undefined
}

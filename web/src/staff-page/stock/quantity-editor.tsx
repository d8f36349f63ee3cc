import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { readChange } from '../quantity/typed-change.ts'
import type { EditorKey } from './grid-machine.ts'

interface Props {
  readonly label: string
  /** What it begins with; all of it is selected unless the user typed it. */
  readonly text: string
  readonly isTyped: boolean
  readonly onKey: (key: EditorKey, text: string) => void
  /** The focus has gone elsewhere. */
  readonly onLeave: (text: string) => void
  /** Signs alone were typed, and nothing more for a moment. */
  readonly onPause: (text: string) => void
}

/** Whoever means `+12` has typed the 1 by then; whoever means one more does not wait long. */
const PAUSE_MS = 500
const KEYS: readonly string[] = ['Enter', 'Escape', 'ArrowUp', 'ArrowDown'] satisfies EditorKey[]

/** The field in which a quantity, or how many more or fewer, is typed. */
export function QuantityEditor({ label, text, isTyped, onKey, onLeave, onPause }: Props) {
  const [value, setValue] = useState(text)
  const field = useRef<HTMLInputElement>(null)
  const change = readChange(value)
  const isStep = change?.kind === 'step'
  const pause = useRef(onPause)
  pause.current = onPause

  useEffect(() => {
    const input = field.current
    input?.focus()
    if (isTyped) input?.setSelectionRange(input.value.length, input.value.length)
    else input?.select()
  }, [isTyped])

  useEffect(() => {
    field.current?.setCustomValidity(
      change === undefined ? 'Enter a whole number of 0 or more, or how many more or fewer: +12, -3.' : '',
    )
  }, [change])

  useEffect(() => {
    if (!isStep) return
    const timer = setTimeout(() => pause.current(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value, isStep])

  const onBlur = () => {
    // Another window has the focus now, and the field gets it back: whoever types is not done.
    if (document.activeElement !== field.current) onLeave(value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    const key = editorKeyOf(event)
    if (key === undefined) return
    event.preventDefault()
    if (change === undefined && key !== 'Escape') field.current?.reportValidity()
    else onKey(key, value)
  }

  return (
    <input
      ref={field}
      className="input quantity-editor number"
      // Not `numeric`: the keyboards of some phones have no signs then.
      inputMode="tel"
      autoComplete="off"
      aria-label={label}
      aria-invalid={change === undefined}
      value={value}
      onChange={({ currentTarget }) => setValue(currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    />
  )
}

function editorKeyOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): EditorKey | undefined {
  if (ctrlKey || metaKey || altKey) return undefined
  if (key === 'Tab') return shiftKey ? 'Shift+Tab' : 'Tab'
  return KEYS.includes(key) ? (key as EditorKey) : undefined
}

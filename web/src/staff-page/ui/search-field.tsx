import { type RefObject, useEffect, useRef } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { isTyping } from './hooks.ts'

interface Props {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly field?: RefObject<HTMLInputElement | null>
}

/** The search of a view. The key `/` focuses it and Escape clears it. */
export function SearchField({ label, placeholder, value, onChange, field }: Props) {
  const own = useRef<HTMLInputElement>(null)
  const input = field ?? own
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isShortcut = event.key === '/' && !event.altKey && !event.ctrlKey && !event.metaKey
      if (!isShortcut || isTyping(event.target)) return
      input.current?.focus()
      input.current?.select()
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [input])
  return (
    <div className="toolbar__search with-icon">
      <Icon name="search" />
      <input
        ref={input}
        className="input"
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={placeholder}
        maxLength={200}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onChange('')
        }}
      />
    </div>
  )
}

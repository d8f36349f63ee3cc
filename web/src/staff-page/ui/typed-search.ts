import { type RefObject, useEffect, useState } from 'react'
import { isTyping } from './typing.ts'

/** The value as it was when it had not changed for a while. */
export function useLater<Value>(value: Value, ms: number): Value {
  const [later, setLater] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return later
}

/** The key `/` goes to the search, with what was typed before selected. */
export function useSearchKey(search: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey || event.key !== '/')
        return
      search.current?.focus()
      search.current?.select()
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [search])
}

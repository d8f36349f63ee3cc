import { useEffect } from 'react'
import { isTyping } from '../ui/hooks.ts'

/** What is typed while nothing that takes text has the focus goes into a field: nobody has to click there first. */
export function useTypingInto(focus: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey || isTyping(target)) return
      // The key itself is typed after this, wherever the focus is then. The usual key for a search is none of the text.
      if (key === '/') event.preventDefault()
      focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [focus])
}

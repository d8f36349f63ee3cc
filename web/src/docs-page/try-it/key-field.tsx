import { useId, useState, useSyncExternalStore } from 'preact/compat'
import { keepDocsKey, onForgottenElsewhere, storedDocsKey } from '../../shared/key-storage.ts'

export function KeyField() {
  const id = useId()
  const [key, setKey] = useTabKey()
  const [isShown, setShown] = useState(false)
  return (
    <div className="field">
      <label className="field__label" htmlFor={id}>
        API key
      </label>
      <div className="key-field">
        <input
          id={id}
          className="input"
          // Preact's types check the role against one literal type. This input has no role.
          type={(isShown ? 'text' : 'password') as 'text'}
          value={key}
          autoComplete="off"
          spellcheck={false}
          placeholder="pst_live_…"
          aria-describedby={`${id}-hint`}
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
        />
        <button type="button" className="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span className="visually-hidden"> the key</span>
        </button>
      </div>
      <p id={`${id}-hint`} className="muted small">
        If you are signed in on the staff page, its key is used here. A key that you enter is kept for this
        tab only, and the staff page does not use it.
      </p>
    </div>
  )
}

const listeners = new Set<() => void>()

/** The key that requests are sent with. A key that is typed here is kept for this tab only. */
export function useTabKey(): readonly [string, (key: string) => void] {
  return [useSyncExternalStore(subscribe, storedDocsKey), setTabKey]
}

function setTabKey(key: string): void {
  keepDocsKey(key.trim())
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  const stopListening = onForgottenElsewhere(listener)
  return () => {
    listeners.delete(listener)
    stopListening()
  }
}

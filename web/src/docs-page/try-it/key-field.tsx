import { useId, useState } from 'react'
import { useTabKey } from './tab-key.ts'

/** Where the key is entered. It is hidden like a password, since screens are shared. */
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
          type={isShown ? 'text' : 'password'}
          value={key}
          autoComplete="off"
          spellCheck={false}
          placeholder="pst_live_…"
          aria-describedby={`${id}-hint`}
          onChange={(event) => setKey(event.target.value)}
        />
        <button type="button" className="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
          <span className="visually-hidden"> the key</span>
        </button>
      </div>
      <p id={`${id}-hint`} className="field__hint">
        Whoever is signed in on the staff page finds that key here. What you type is kept for this tab only,
        and the staff page does not use it.
      </p>
    </div>
  )
}

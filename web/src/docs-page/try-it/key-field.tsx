import { useId, useState } from 'preact/compat'
import { keepDocsKey, shareStaffKeyWithDocs, storedDocsKey, storedKey } from '../../shared/key-storage.ts'
import { announceStorageChange, useStoredValue } from '../../shared/stored-value.ts'

export function KeyField() {
  const id = useId()
  const key = useDocsKey()
  const [isShown, setShown] = useState(false)
  const setKey = (typed: string) => {
    keepDocsKey(typed.trim())
    announceStorageChange()
  }
  const staffKey = useStoredValue(storedKey)
  const shareStaffKey = () => {
    shareStaffKeyWithDocs()
    announceStorageChange()
  }
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
        A key that you enter is kept for this tab only, and the staff page does not use it.
      </p>
      {staffKey !== undefined && key !== staffKey && (
        <div>
          <button type="button" className="button button--small" onClick={shareStaffKey}>
            Use the key of the staff page
          </button>
        </div>
      )}
    </div>
  )
}

export function useDocsKey(): string {
  return useStoredValue(storedDocsKey)
}

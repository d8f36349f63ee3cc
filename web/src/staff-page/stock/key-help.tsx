import { useEffect, useRef } from 'react'
import { KEY_HELP } from './grid-keys.ts'

/** Lists what each key does. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="key-help-title" onClose={onClose}>
      <div className="dialog__body">
        <h2 id="key-help-title">Keyboard</h2>
        <dl className="key-help">
          {KEY_HELP.map(([keys, does]) => (
            <div key={does} className="key-help__row">
              <dt>
                {keys.map((key) => (
                  <kbd key={key} className="key">
                    {key}
                  </kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog" className="dialog__actions">
          <button type="submit" className="button">
            Close
          </button>
        </form>
      </div>
    </dialog>
  )
}

import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { Button } from './button.tsx'
import { ask, type OpenQuestion, openQuestion } from './confirm.tsx'
import { visitedPlaces } from './navigation.ts'

interface Props {
  readonly title: string
  /** Called once the dialog is closed. The browser has returned the focus by then. */
  readonly onClose: () => void
  /** Makes the content a form. `close` closes the dialog without a question. */
  readonly onSubmit?: (close: () => void, form: HTMLFormElement) => void
  /** The user has typed something: Escape asks before it discards the input. */
  readonly hasUnsavedInput?: boolean
  /** The label of a button below the content that closes the dialog without a question. */
  readonly closeLabel?: string
  /** The button beside it that submits the form. */
  readonly submitButton?: ReactNode
  /** A function gets `close`, which closes the dialog without a question. */
  readonly children: ReactNode | ((close: () => void) => ReactNode)
}

/** A modal dialog. It closes when the user leaves the view. */
export function Dialog(props: Props) {
  const { title, onClose, onSubmit, hasUnsavedInput = false, closeLabel, submitButton, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const close = () => dialog.current?.close()
  useEffect(() => {
    dialog.current?.showModal()
    return visitedPlaces.subscribe(() => dialog.current?.close())
  }, [])
  const cancel = async () => {
    const isSure = !hasUnsavedInput || (await ask(DISCARD_QUESTION))
    if (isSure) close()
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSubmit?.(close, event.currentTarget)
  }
  const content = (
    <>
      <h2 id={id}>{title}</h2>
      {typeof children === 'function' ? children(close) : children}
      {closeLabel !== undefined && (
        <div className="dialog__actions">
          <Button onClick={close}>{closeLabel}</Button>
          {submitButton}
        </div>
      )}
    </>
  )
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        // A `cancel` event of a file input inside bubbles up to here.
        if (event.target !== dialog.current) return
        event.preventDefault()
        void cancel()
      }}
      onClose={onClose}
    >
      {onSubmit === undefined ? (
        <div className="dialog__body">{content}</div>
      ) : (
        <form className="dialog__body" onSubmit={submit} noValidate>
          {content}
        </form>
      )}
    </dialog>
  )
}

/** Shows the question that is open, if any. The page has one of these. Leaving the view answers with no. */
export function Confirm() {
  const question = useReadable(openQuestion)
  useEffect(() => () => openQuestion.get()?.answer(false), [])
  return question === undefined ? null : <ConfirmDialog key={question.id} {...question} />
}

function ConfirmDialog({ title, text, yes, no, answer }: OpenQuestion) {
  const isYes = useRef(false)
  return (
    <Dialog title={title} onClose={() => answer(isYes.current)}>
      {(close) => (
        <>
          {text.map((paragraph) => (
            <p key={paragraph}>{paragraph}</p>
          ))}
          <div className="dialog__actions">
            {/* biome-ignore lint/a11y/noAutofocus: a dialog begins with its safe answer */}
            <button type="button" className="button" autoFocus onClick={close}>
              {no}
            </button>
            <button
              type="button"
              className="button button--primary"
              onClick={() => {
                isYes.current = true
                close()
              }}
            >
              {yes}
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

export const DISCARD_QUESTION = {
  title: 'Discard what you entered?',
  text: ['Nothing of it has been saved.'],
  yes: 'Discard',
  no: 'Keep editing',
}

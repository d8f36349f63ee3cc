import { useEffect, useId, useRef } from 'preact/compat'
import { Observable, useReadable } from '../data/observable.ts'
import { visitedPlaces } from './navigation.ts'

export interface Question {
  readonly title: string
  /** One paragraph each. */
  readonly text: readonly string[]
  /** The label of the button that confirms. */
  readonly yes: string
  /** The label of the button that changes nothing. It has the focus. */
  readonly no: string
}

interface OpenQuestion extends Question {
  readonly answer: (isYes: boolean) => void
}

const openQuestion = new Observable<OpenQuestion | undefined>(undefined)

/** Asks before an action that is hard to undo. A new question answers an open one with no. */
export function ask(question: Question): Promise<boolean> {
  openQuestion.get()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      openQuestion.set(undefined)
      resolve(isYes)
    }
    openQuestion.set({ ...question, answer })
  })
}

/** Asks before unsaved work is lost. */
export function askToDiscard(title: string, ...text: readonly string[]): Promise<boolean> {
  return ask({ title, text, yes: 'Discard', no: 'Keep it' })
}

/** Whether a question is open. */
export function isAsking(): boolean {
  return openQuestion.get() !== undefined
}

/** Shows the question that is open, if any. The page has one of these. Leaving the view answers with no. */
export function Confirm() {
  const question = useReadable(openQuestion)
  useEffect(() => {
    const dismiss = () => openQuestion.get()?.answer(false)
    const unsubscribe = visitedPlaces.subscribe(dismiss)
    return () => {
      unsubscribe()
      dismiss()
    }
  }, [])
  return question === undefined ? null : <ConfirmDialog key={question.title} {...question} />
}

function ConfirmDialog({ title, text, yes, no, answer }: OpenQuestion) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const close = (isYes: boolean) => {
    // Close it before it is removed, so that the browser returns the focus.
    dialog.current?.close()
    answer(isYes)
  }
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        close(false)
      }}
    >
      <div className="dialog__body">
        <h2 id={id}>{title}</h2>
        {text.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
        <div className="dialog__actions">
          {/* biome-ignore lint/a11y/noAutofocus: a dialog begins with its safe answer */}
          <button type="button" className="button" autoFocus onClick={() => close(false)}>
            {no}
          </button>
          <button type="button" className="button button--primary" onClick={() => close(true)}>
            {yes}
          </button>
        </div>
      </div>
    </dialog>
  )
}

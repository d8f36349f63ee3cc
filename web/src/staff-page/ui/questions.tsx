import { useEffect, useRef } from 'react'
import { Observable, useReadable } from '../data/observable.ts'

interface Question {
  readonly title: string
  /** Each is a paragraph. */
  readonly text: readonly string[]
  /** What the button says that goes on. */
  readonly yes: string
  /** What the button says that leaves all as it is; it has the focus. */
  readonly no: string
}

interface Asked extends Question {
  readonly answer: (isYes: boolean) => void
}

const asked = new Observable<Asked | undefined>(undefined)

/** Asks before something is done that is hard to take back. One at a time: another question answers the last with no. */
export function ask(question: Question): Promise<boolean> {
  asked.get()?.answer(false)
  return new Promise((resolve) => {
    const answer = (isYes: boolean) => {
      asked.set(undefined)
      resolve(isYes)
    }
    asked.set({ ...question, answer })
  })
}

export function Questions() {
  const question = useReadable(asked)
  return question === undefined ? null : <QuestionDialog key={question.title} {...question} />
}

function QuestionDialog({ title, text, yes, no, answer }: Asked) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const close = (isYes: boolean) => {
    // Before it goes: the browser gives the focus back to what had it.
    dialog.current?.close()
    answer(isYes)
  }
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby="question-title"
      onCancel={(event) => {
        event.preventDefault()
        close(false)
      }}
    >
      <div className="dialog__body">
        <h2 id="question-title">{title}</h2>
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

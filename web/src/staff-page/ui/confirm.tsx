import { Observable } from '../data/observable.ts'

export interface Question {
  readonly title: string
  /** One paragraph each. */
  readonly text: readonly string[]
  /** The label of the button that confirms. */
  readonly yes: string
  /** The label of the button that changes nothing. It has the focus. */
  readonly no: string
}

export interface OpenQuestion extends Question {
  /** Differs from question to question. */
  readonly id: number
  readonly answer: (isYes: boolean) => void
}

export const openQuestion = new Observable<OpenQuestion | undefined>(undefined)

let lastId = 0

/** Asks before an action that is hard to undo. A new question answers an open one with no. */
export function ask(question: Question): Promise<boolean> {
  openQuestion.get()?.answer(false)
  return new Promise((resolve) => {
    const asked: OpenQuestion = {
      ...question,
      id: ++lastId,
      answer: (isYes) => {
        if (openQuestion.get() === asked) openQuestion.set(undefined)
        resolve(isYes)
      },
    }
    openQuestion.set(asked)
  })
}

/** Asks before unsaved work is lost. */
export function askToDiscard(title: string, ...text: readonly string[]): Promise<boolean> {
  return ask({ title, text, yes: 'Discard', no: 'Keep it' })
}

export function isAsking(): boolean {
  return openQuestion.get() !== undefined
}

import { useMemo } from 'react'
import { CodeFrame, CodeLines } from '../samples/code-block.tsx'
import { plainLines } from '../samples/code-token.ts'
import { layOutJson } from '../samples/json-text.ts'
import type { ReceivedAnswer } from './received-answer.ts'

/** A page that shows more than this becomes slow to scroll; the copy button gives all of it. */
const MAX_CHARACTERS = 20_000

/** The body for reading, every digit as it came. */
export function AnswerBody({ answer: { text, status } }: { readonly answer: ReceivedAnswer }) {
  const { lines, isCut } = useMemo(() => layOut(text), [text])
  if (text === '')
    return <p className="muted">{status === 304 ? 'No body: nothing has changed.' : 'No body.'}</p>
  return (
    <>
      <CodeFrame
        header={<span className="code-frame__title">Body</span>}
        label="Body of the answer"
        copies={text}
      >
        <CodeLines lines={lines} />
      </CodeFrame>
      {isCut && (
        <p className="exchange__cut">
          These are the first {MAX_CHARACTERS.toLocaleString('en-US')} of{' '}
          {text.length.toLocaleString('en-US')} characters. Copy gives all of them.
        </p>
      )}
    </>
  )
}

function layOut(text: string) {
  return (
    layOutJson(text, MAX_CHARACTERS) ?? {
      lines: plainLines(text.slice(0, MAX_CHARACTERS)),
      isCut: text.length > MAX_CHARACTERS,
    }
  )
}

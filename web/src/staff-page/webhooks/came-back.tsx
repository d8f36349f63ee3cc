import type { WebhookTest } from '@petstore/client'
import './deliveries.css'

type Attempt = Pick<WebhookTest, 'delivered' | 'status' | 'durationMs' | 'error' | 'response'>

/** A longer answer is shown when it is asked for. */
const SHORT_CHARACTERS = 80

/** How the receiver took it, in a word and the status of its answer. */
export function Outcome({ delivered, status }: Attempt) {
  return (
    <span className={`badge badge--${delivered ? 'positive' : 'negative'}`}>
      {delivered ? 'Taken' : 'Failed'}
      {status === undefined ? '' : ` (${status})`}
    </span>
  )
}

/** Why it failed, and what the answer begins with. */
export function CameBack({ error, response }: Attempt) {
  const text = response.trim()
  return (
    <>
      {error !== undefined && <p className="came-back__error">{error}</p>}
      {text !== '' && <Answer text={text} />}
    </>
  )
}

function Answer({ text }: { readonly text: string }) {
  const [firstLine = ''] = text.split('\n', 1)
  if (text === firstLine && text.length <= SHORT_CHARACTERS) {
    return (
      <p className="came-back__short">
        <span className="visually-hidden">It answered: </span>
        <code>{text}</code>
      </p>
    )
  }
  return (
    <details className="came-back__answer">
      <summary>
        <span className="visually-hidden">It answered: </span>
        <code>{firstLine.slice(0, SHORT_CHARACTERS)} …</code>
      </summary>
      <pre>{text}</pre>
    </details>
  )
}

import { errorIn, type ReceivedAnswer } from './received-answer.ts'

/** What an answer that is not a success means for the one who tries, and what to do next. */
export interface Advice {
  readonly title: string
  readonly text: string
  /** The guide that tells more. */
  readonly guide?: 'limits' | 'errors' | 'concurrency' | 'change-stock-safely' | 'never-oversell'
}

const BY_CODE: Readonly<Record<string, Advice>> = {
  invalid_request: {
    title: 'Something in the request does not fit',
    text: 'The message in the body says which part, and what was expected. Correct it and send again.',
    guide: 'errors',
  },
  forbidden: {
    title: 'This key may not do that',
    text: 'The message in the body names the permission that it lacks. Use a key that has it; GET /limits tells what a key may change.',
  },
  not_found: {
    title: 'There is nothing under this id',
    text: 'Use an id that a list gives, such as the ones that GET /inventory answers with.',
  },
  gone: {
    title: 'This operation has ended',
    text: 'Its sunset date has passed. Use the operation that takes its place.',
  },
  insufficient_stock: {
    title: 'There is not that much in stock',
    text: 'Nothing was changed. The details in the body name each pet of which there is too little, and how many there are. Take less and send again.',
    guide: 'never-oversell',
  },
  order_closed: {
    title: 'The order is not open any more',
    text: 'Nothing was changed. The details in the body say what it is: complete, cancelled, or expired where its hold ran out.',
    guide: 'never-oversell',
  },
  precondition_failed: {
    title: 'Somebody was faster',
    text: 'If-Match or expected does not hold, so nothing was changed. Read the entry again, decide, and send its new ETag or quantity.',
    guide: 'change-stock-safely',
  },
  idempotency_key_reused: {
    title: 'This Idempotency-Key stands for another request',
    text: 'Nothing was changed. Use a new key for each change, and repeat one only with the very same request.',
    guide: 'change-stock-safely',
  },
  payload_too_large: {
    title: 'The body is too large',
    text: 'Send less: the answer says how much is accepted.',
  },
  rate_limit_exceeded: {
    title: 'The limit is used up',
    text: 'Wait until the time below has passed. Requests that are sent all the same are refused, and enough of them bring a ban.',
    guide: 'limits',
  },
  key_banned: {
    title: 'This key is banned for a while',
    text: 'It went on sending after its limit was used up. Wait for the end of the ban; the next one would last longer.',
    guide: 'limits',
  },
  internal_error: {
    title: 'Something broke inside the service',
    text: 'It is not your fault. Try again; if it stays, report it with the request id in the headers below.',
  },
  service_unavailable: {
    title: 'The service cannot answer at the moment',
    text: 'Its database is not there. Nothing is wrong with your request: wait a moment and send it again.',
  },
}

export function adviceOn(answer: ReceivedAnswer, sentKey: string): Advice | undefined {
  if (answer.status < 400) return undefined
  const code = errorIn(answer)?.code
  if (code === 'unauthorized') return unauthorized(sentKey)
  return (
    (code === undefined ? undefined : BY_CODE[code]) ?? {
      title: `The answer is ${answer.status}`,
      text: 'It does not have the Error body of this service, so it may come from a proxy in front of it.',
    }
  )
}

export const UNREACHABLE: Advice = {
  title: 'The service cannot be reached',
  text: 'No answer came: the service may have stopped, or the network is down. Check that it runs and send again.',
}

export const UNSENDABLE: Advice = {
  title: 'The request was not sent',
  text: 'The key or one of the headers holds a character that no header may hold. Look for spaces, line ends and curly quotes that came along when copying.',
}

function unauthorized(sentKey: string): Advice {
  return sentKey === ''
    ? { title: 'The key is missing', text: 'Enter an API key above and send again.', guide: 'errors' }
    : {
        title: 'The key was not accepted',
        text: 'It is mistyped, unknown here, expired or revoked; the message in the body says which. Enter another one above.',
        guide: 'errors',
      }
}

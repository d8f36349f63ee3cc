import type { Contract } from '../contract.ts'
import { WHAT_TO_DO } from '../guides/contract-tables.tsx'
import { href } from '../page-route.ts'
import { errorCodeOf, type ReceivedAnswer } from './exchange.ts'

/** Why a request failed, and what to do next. */
export interface Advice {
  readonly title: string
  readonly text: string
  /** The address of a guide. */
  readonly link?: string
}

export const UNREACHABLE: Advice = {
  title: 'The service cannot be reached',
  text: 'No response arrived. Check that the service runs and that you are online, then send again.',
}

export const UNSENDABLE: Advice = {
  title: 'The request was not sent',
  text: 'The key or a header has a character that headers cannot have. Look for line breaks and curly quotes.',
}

const NO_KEY: Advice = { title: 'The key is missing', text: 'Enter an API key above and send again.' }

export function adviceOn(contract: Contract, answer: ReceivedAnswer, sentKey: string): Advice | undefined {
  if (answer.status < 400) return undefined
  const code = errorCodeOf(answer)
  if (code === 'unauthorized' && sentKey === '') return NO_KEY
  const facts = contract.errorCodes.find((each) => each.code === code)
  if (facts === undefined)
    return {
      title: `The status is ${answer.status}`,
      text: 'The body is not an Error of this service, so the response may come from a proxy.',
    }
  return {
    title: facts.description,
    text: WHAT_TO_DO[facts.code] ?? '',
    link: href({ page: 'guide', id: 'errors' }, facts.code),
  }
}

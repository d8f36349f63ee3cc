import { isPetstoreError, type KeyWithSecret, PetstoreClient } from '@petstore/client'
import { failureWords } from '../data/failure-words.ts'
import { Observable } from '../data/observable.ts'
import { untilWords } from '../data/time-words.ts'

const CODE_FORM = /^[0-9A-Z]{8}$/
const LINK_FORM = /^#pair=([0-9A-Za-z-]{1,20})$/

/** The sign-in code of the link that was opened. */
export const linkedCode = new Observable<string | undefined>(undefined)

/** A link that signs in with the code. The code is in the fragment, which browsers do not send to servers. */
export function pairingLink(pairingCode: string): string {
  const page = new URL(document.baseURI)
  page.hash = `pair=${pairingCode.replaceAll('-', '')}`
  return page.href
}

/** Takes the code of a link out of the address and of the history of the browser. */
export function takeLinkedCode(): boolean {
  const linked = LINK_FORM.exec(location.hash)?.[1]
  if (linked === undefined) return false
  history.replaceState(null, '', location.pathname + location.search)
  linkedCode.set(linked)
  return true
}

/** The code without blanks and dashes; `undefined` if the text is not a code. */
export function parseCode(text: string): string | undefined {
  const characters = text.toUpperCase().replaceAll(/[\s-]/g, '')
  return CODE_FORM.test(characters) ? characters : undefined
}

/** Exchanges a code for the API key of a person. A code works once. */
export function pair(pairingCode: string): Promise<KeyWithSecret> {
  const baseUrl = new URL('v1', document.baseURI).href
  return new PetstoreClient({ baseUrl, apiKey: pairingCode }).keys.pair()
}

export function pairingFailure(error: unknown, now: number): string {
  if (isPetstoreError(error, 'rate_limit_exceeded')) {
    const reset = error.limits?.reset
    return `Too many attempts from this network. Try again ${reset === undefined ? 'in a minute' : untilWords(reset * 1_000, now)}.`
  }
  if (isPetstoreError(error) && error.mayHaveBeenMade)
    return 'No answer came, so the code may be used up. Try it again, or ask for a new code.'
  return failureWords(error, {
    unauthorized:
      'This code does not work: it is wrong, older than 10 minutes, or was used before. Ask for a new code.',
  })
}

import { type PetstoreError, type PetstoreErrorCode, stringify } from '@petstore/client'

const NEW_KEY = 'A new attempt needs a new idempotencyKey.'
const UNKNOWN_OUTCOME =
  'The change may have been made. Call the tool again with the same arguments and the same idempotencyKey: it is made at most once.'
const LATER = 'Call the tool again later, with the same arguments.'

/** What the agent can do about a refusal. */
const NEXT_STEPS: Readonly<Partial<Record<PetstoreErrorCode, string>>> = {
  insufficient_stock: `Ask for at most the available units, or receive a delivery first. ${NEW_KEY}`,
  not_found: `Look up the id with find_pets or list_adjustments. ${NEW_KEY}`,
  precondition_failed: `The stock has changed. Read it with get_stock, and count again. ${NEW_KEY}`,
  already_reversed: 'These units came back before. list_adjustments shows the adjustments that reversed it.',
  too_late: `Count the pets instead. ${NEW_KEY}`,
  invalid_request: 'Correct the arguments.',
  idempotency_key_reused: 'Another change has this idempotencyKey. Choose a new one.',
  unauthorized: 'Ask the user to check the API key: PETSTORE_KEY or, over HTTP, the header Authorization.',
  forbidden: 'Ask the user for a key that has the permission; an owner of the shop grants it.',
  connection_failed: `Ask the user whether the service runs at PETSTORE_URL. ${LATER}`,
  invalid_response: 'Ask the user to check PETSTORE_URL, which ends in /v1.',
}

/** The Error body of the service with the next step, as JSON. */
export function describeError(error: PetstoreError): string {
  const { code, message, status, field, details, mayHaveBeenMade } = error
  const next = mayHaveBeenMade ? UNKNOWN_OUTCOME : (NEXT_STEPS[code] ?? LATER)
  return stringify({ code, message, status, field, details, next })
}

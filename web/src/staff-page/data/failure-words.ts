import { isPetstoreError } from '@petstore/client'

/** Why a request failed, and what to do next. */
export function failureWords(error: unknown): string {
  if (!isPetstoreError(error)) return error instanceof Error ? error.message : String(error)
  switch (error.code) {
    case 'unauthorized':
      return 'This key is not valid. Check that it is complete, or ask whoever runs the service for another.'
    case 'forbidden':
      return 'This key may not change the stock. Sign in with one that may.'
    case 'not_found':
      return 'This pet is not in the store any more.'
    case 'precondition_failed':
      return 'Somebody else changed it in the meantime.'
    case 'rate_limit_exceeded':
      return 'The limit of this key is reached. Try again later.'
    case 'key_banned':
      return 'This key is locked for a while, because it kept exceeding its limit. Try again later.'
    case 'connection_failed':
      return 'The service cannot be reached. Check the connection and try again.'
    case 'service_unavailable':
      return 'The service is not available at the moment. Try again soon.'
    case 'insufficient_stock':
      return 'There are not that many in stock.'
    default:
      return error.message
  }
}

import { isPetstoreError } from '@petstore/client'

/** After this time a request that failed in an outage is sent again. */
export const RETRY_AFTER_OUTAGE_MS = 5_000

/** Whether the service could not be reached, or could not answer for a while. */
export function isOutage(error: unknown): boolean {
  if (!isPetstoreError(error)) return false
  return error.status === undefined || (error.status >= 502 && error.status <= 504)
}

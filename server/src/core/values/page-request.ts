import { ServiceError } from './errors.ts'

/** Which part of a long list is wanted. */
export interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

export function unknownCursor(cursor: string | undefined): ServiceError {
  return new ServiceError(
    'invalid_request',
    `cursor must be one that the Link header of a page gave, got ${JSON.stringify(cursor?.slice(0, 40))}; leave it out to begin anew`,
  )
}

import { isPetstoreError, type PetstoreErrorCode } from '@petstore/client'

type FailureWords = { readonly [Code in PetstoreErrorCode]?: string }

const WORDS: FailureWords = {
  unauthorized: 'This key is not valid. Check that it is complete, or ask your manager for another.',
  forbidden: 'This key may not change the stock. Sign in with one that may.',
  not_found: 'This pet is not in the store any more.',
  precondition_failed: 'Somebody else changed it in the meantime.',
  rate_limit_exceeded: 'The limit of this key is reached. Try again later.',
  key_banned: 'This key is locked for a while, because it kept exceeding its limit. Try again later.',
  connection_failed: 'The service cannot be reached. Check the connection and try again.',
  service_unavailable: 'The service is not available at the moment. Try again soon.',
  insufficient_stock: 'There are not that many in stock.',
  too_late: 'It happened too long ago to be booked at its time. Try again to book it as of now.',
}

const MAY_NOT_CHANGE_PETS = 'This key may not change pets. Sign in with one that may.'

const CATALOG_WORDS: Readonly<Record<'pet' | 'category', FailureWords>> = {
  pet: {
    in_use: 'It has open orders. Complete or cancel them first, then remove it.',
    already_exists: 'Another pet has this barcode already. Scan it in the search to see which one.',
    forbidden: MAY_NOT_CHANGE_PETS,
  },
  category: {
    in_use: 'It still has pets. Give them another category first, then remove it.',
    already_exists: 'There is such a category already.',
    forbidden: MAY_NOT_CHANGE_PETS,
    not_found: 'This category is not there any more.',
  },
}

/** Why a request failed, and what to do next. `special` has the words for codes that mean something else here. */
export function failureWords(error: unknown, special: FailureWords = {}): string {
  if (!isPetstoreError(error)) return error instanceof Error ? error.message : String(error)
  return special[error.code] ?? WORDS[error.code] ?? error.message
}

/** Why a pet or a category could not be changed. */
export function catalogFailure(error: unknown, of: 'pet' | 'category'): string {
  return failureWords(error, CATALOG_WORDS[of])
}

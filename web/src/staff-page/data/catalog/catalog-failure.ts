import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../failure-words.ts'

/** Why a pet or a category could not be changed, and what to do about it. */
export function catalogFailure(error: unknown, of: 'pet' | 'category'): string {
  if (isPetstoreError(error, 'in_use')) {
    return of === 'pet'
      ? 'It has open orders. Complete or cancel them first, then remove it.'
      : 'It still has pets. Give them another category first, then remove it.'
  }
  if (isPetstoreError(error, 'already_exists')) {
    return of === 'pet'
      ? 'Another pet has this barcode already. Scan it in the search to see which one.'
      : 'There is such a category already.'
  }
  if (isPetstoreError(error, 'forbidden')) return 'This key may not change pets. Sign in with one that may.'
  if (isPetstoreError(error, 'not_found')) {
    return of === 'pet' ? failureWords(error) : 'This category is not there any more.'
  }
  return failureWords(error)
}

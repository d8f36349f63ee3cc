// The rules for the fields of an adjustment, for requests, files and command-line flags.

import { MAX_REFERENCE_LENGTH, REASONS, type Reason } from './command.ts'
import { MAX_QUANTITY } from './inventory.ts'

const CONTROL_CHARACTER = /\p{Cc}/u

export const EXPECTED_REASON = `one of ${REASONS.join(', ')}`
export const EXPECTED_REFERENCE = `a string of at most ${MAX_REFERENCE_LENGTH} characters without control characters`
export const EXPECTED_DELTA = `an integer other than 0 from ${-MAX_QUANTITY} to ${MAX_QUANTITY}`

export function isReason(value: unknown): value is Reason {
  return REASONS.some((reason) => reason === value)
}

export function isReference(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.isWellFormed() &&
    !CONTROL_CHARACTER.test(value) &&
    (value.length <= MAX_REFERENCE_LENGTH || [...value].length <= MAX_REFERENCE_LENGTH)
  )
}

export function isDelta(value: unknown): value is number {
  return Number.isSafeInteger(value) && value !== 0
}

/** The problem of a change that has both fields or neither; `undefined` if it has exactly one. */
export function wrongChoice(delta: unknown, quantity: unknown): string | undefined {
  if ((delta === undefined) !== (quantity === undefined)) return undefined
  const got = delta === undefined ? 'neither' : 'both'
  return `a change must have exactly one of delta and quantity, got ${got}`
}

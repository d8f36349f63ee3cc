import { isWithinLength, Text } from '../values/field.ts'

export const MAX_NAME_LENGTH = 200
export const MAX_BARCODE_LENGTH = 48
/** Control characters, and U+FFFD, which decoders substitute for damaged text. */
const INVALID_IN_NAME = /[\p{Cc}\ufffd]/u
const BARCODE = new RegExp(`^[!-~]{1,${MAX_BARCODE_LENGTH}}$`)
export const EXPECTED_NAME = `1 to ${MAX_NAME_LENGTH} characters of UTF-8 text that are not all blank, without line ends and other control characters`
const EXPECTED_BARCODE = `1 to ${MAX_BARCODE_LENGTH} visible ASCII characters without blanks`

/** The name of a pet or a category. */
export const Name = (description: string) =>
  Text({ minLength: 1, maxLength: MAX_NAME_LENGTH, description }, EXPECTED_NAME, isName)

export const Barcode = Text(
  {
    minLength: 1,
    maxLength: MAX_BARCODE_LENGTH,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Barcode of the pet: visible ASCII characters. No two pets have the same barcode.',
  },
  EXPECTED_BARCODE,
  isBarcode,
)

export function isName(text: string): boolean {
  return (
    isWithinLength(text, MAX_NAME_LENGTH) &&
    text.trim() !== '' &&
    !INVALID_IN_NAME.test(text) &&
    // A lone surrogate cannot be written as UTF-8.
    text.isWellFormed()
  )
}

export function isBarcode(text: string): boolean {
  return BARCODE.test(text)
}

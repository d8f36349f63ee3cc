import { isCleanText, Text } from '../values/field.ts'

export const MAX_NAME_LENGTH = 200
const MAX_BARCODE_LENGTH = 48
/** Control characters, and U+FFFD, which decoders substitute for damaged text. */
const INVALID_IN_NAME = /[\p{Cc}\ufffd]/u
const BARCODE = new RegExp(`^[!-~]{1,${MAX_BARCODE_LENGTH}}$`)
export const EXPECTED_NAME = `1 to ${MAX_NAME_LENGTH} characters of UTF-8 text, not only blanks, without line ends or other control characters`

export const Name = (description: string) =>
  Text({ minLength: 1, maxLength: MAX_NAME_LENGTH, description }, EXPECTED_NAME, isName)

export const Barcode = Text(
  {
    minLength: 1,
    maxLength: MAX_BARCODE_LENGTH,
    pattern: '^[\\x21-\\x7e]+$',
    description: 'Barcode of the pet: visible ASCII characters. No two pets have the same barcode.',
  },
  `1 to ${MAX_BARCODE_LENGTH} visible ASCII characters without blanks`,
  isBarcode,
)

export function isName(text: string): boolean {
  return text.trim() !== '' && isCleanText(text, MAX_NAME_LENGTH, INVALID_IN_NAME)
}

export function isBarcode(text: string): boolean {
  return BARCODE.test(text)
}

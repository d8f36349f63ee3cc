import { isCleanText, Text } from '../values/field.ts'

export const MAX_NAME_LENGTH = 200
const MAX_BARCODE_LENGTH = 48
/**
 * Control characters; U+FFFD, which decoders substitute for damaged text; and the characters that change the direction of text,
 * with which a name can alter how the text around it is shown.
 */
const INVALID_IN_NAME = /[\p{Cc}\p{Bidi_Control}\ufffd]/u
/** Zero-width characters are allowed only beside visible ones, because emoji and some scripts need them. U+2800 looks blank. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u
const BARCODE = new RegExp(`^[!-~]{1,${MAX_BARCODE_LENGTH}}$`)
export const EXPECTED_NAME = `1 to ${MAX_NAME_LENGTH} characters of UTF-8 text, at least one of them visible, without line ends, other control characters and characters that change the direction of text`

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
  return VISIBLE.test(text) && isCleanText(text, MAX_NAME_LENGTH, INVALID_IN_NAME)
}

/** Names with the same key count as equal: case and surrounding blanks are ignored. */
export function nameKey(text: string): string {
  // Upper case first, because it makes ß and SS equal.
  return text.trim().normalize('NFC').toUpperCase().toLowerCase()
}

export function isBarcode(text: string): boolean {
  return BARCODE.test(text)
}

const MAX_NOTE_LENGTH = 1_000
/** U+FFFD, with which decoders replace invalid bytes, and all control characters except line breaks. */
const INVALID_IN_NOTE = /(?![\n\r])[\p{Cc}\ufffd]/u

export const Note = (description: string) =>
  Text(
    { minLength: 1, maxLength: MAX_NOTE_LENGTH, description },
    `1 to ${MAX_NOTE_LENGTH} characters of UTF-8 text, not only blanks, without control characters other than line breaks`,
    (text) => text.trim() !== '' && isCleanText(text, MAX_NOTE_LENGTH, INVALID_IN_NOTE),
  )

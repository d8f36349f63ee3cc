// What pets and categories may say of themselves. Whoever reads one asks here.
export const MAX_NAME_LENGTH = 200
export const MAX_BARCODE_LENGTH = 48
/** U+FFFD stands where text was spoilt on its way: it is refused, not kept for good. */
const NOT_IN_A_NAME = /[\p{Cc}\ufffd]/u
const BARCODE = new RegExp(`^[!-~]{1,${MAX_BARCODE_LENGTH}}$`)

export const EXPECTED_NAME = `1 to ${MAX_NAME_LENGTH} characters of UTF-8 text that are not all blank, without line ends and other control characters`
export const EXPECTED_BARCODE = `1 to ${MAX_BARCODE_LENGTH} visible ASCII characters without blanks`

/** A lone surrogate could not be written out again. */
export function isName(text: string): boolean {
  if (text.length > MAX_NAME_LENGTH && [...text].length > MAX_NAME_LENGTH) return false
  return text.trim() !== '' && !NOT_IN_A_NAME.test(text) && text.isWellFormed()
}

export function isBarcode(text: string): boolean {
  return BARCODE.test(text)
}

import { MAX_URL_LENGTH } from './webhook.ts'

const EXAMPLE = 'https://shop.example/hooks'
/** URL.parse silently removes some of these, so the stored url would differ from the one that was sent. */
const BLANK_OR_CONTROL = /[\s\p{Cc}]/u
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i
const PORT = /^[^/?#]*:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/

/** Returns the url in normal form, which is stored, or its problem. The sender decides whether the url may be called. */
export function normalizeUrl(text: string): { readonly url: string } | { readonly problem: string } {
  const problem = problemOf(text)
  if (problem !== undefined) return { problem }
  const parsed = URL.parse(text)
  if (parsed === null) return { problem: parseProblemOf(text) }
  if (parsed.username !== '' || parsed.password !== '') {
    return { problem: 'must not contain a user name or a password; deliveries are signed instead' }
  }
  // Percent-encoding makes it longer.
  return parsed.href.length > MAX_URL_LENGTH ? { problem: tooLong(parsed.href) } : { url: parsed.href }
}

function problemOf(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return tooLong(text)
  const unwanted = BLANK_OR_CONTROL.exec(text)
  if (unwanted !== null) {
    return `must not contain blanks or control characters, got ${codePoint(unwanted[0])} at position ${unwanted.index + 1}; percent-encode it`
  }
  if (!text.isWellFormed()) return 'must be valid Unicode, got half of a surrogate pair'
  if (text.includes('\\')) return 'must not contain a backslash; separate the parts of the path with /'
  if (!SCHEME_AND_HOST.test(text)) {
    return `must be a full address with a scheme, two slashes and a host, such as ${EXAMPLE}, got ${shortened(text)}`
  }
  return undefined
}

function parseProblemOf(text: string): string {
  const port = PORT.exec(text)?.[1]
  return port !== undefined && Number(port) > 65_535
    ? `must have a port of at most 65535, got ${shortened(port)}`
    : `must have a valid host name and port, such as ${EXAMPLE}, got ${shortened(text)}`
}

function tooLong({ length }: string): string {
  return `must have at most ${MAX_URL_LENGTH} characters, got ${length}`
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

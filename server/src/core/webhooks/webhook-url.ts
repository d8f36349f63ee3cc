import { quote } from '../values/field.ts'

export const MAX_URL_LENGTH = 2_000
const EXAMPLE_URL = 'https://shop.example/hooks'
/** Rejected because URL.parse silently removes some of these characters, which would change the url. */
const BLANK_OR_CONTROL = /[\s\p{Cc}]/u
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i
const PORT = /^[^/?#]*:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/
/** The other low ports belong to services that do not expect webhooks. The default port of a scheme is ''. */
const ALLOWED_LOW_PORTS = ['', '443', '80']
const MAX_LOW_PORT = 1_024
const EXPECTED_PORT = `port 443, port 80 or a port above ${MAX_LOW_PORT}`

export const URL_DESCRIPTION = `The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and uses ${EXPECTED_PORT}.`

/** The url of a receiver, or why it cannot be one: `problem` completes the sentence "url …". */
export type ParsedUrl =
  | { readonly type: 'parsed'; readonly url: URL }
  | { readonly type: 'refused'; readonly problem: string }

/** Checks everything but the address of the host. */
export function parseWebhookUrl(text: string, allowsPrivate: boolean): ParsedUrl {
  const refused = (problem: string) => ({ type: 'refused', problem }) as const
  const problem = findProblemOfText(text)
  if (problem !== undefined) return refused(problem)
  const url = URL.parse(text)
  if (url === null) return refused(describeParseProblem(text))
  const urlProblem = findProblemOfUrl(url, allowsPrivate)
  return urlProblem === undefined ? { type: 'parsed', url } : refused(urlProblem)
}

function findProblemOfText(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return describeTooLong(text)
  const invalidCharacter = BLANK_OR_CONTROL.exec(text)
  if (invalidCharacter !== null) {
    return `must not contain blanks or control characters, got ${formatCodePoint(invalidCharacter[0])} at position ${invalidCharacter.index + 1}; percent-encode it`
  }
  if (!text.isWellFormed()) return 'must be valid Unicode, got half of a surrogate pair'
  if (text.includes('\\')) return 'must not contain a backslash; separate the parts of the path with /'
  if (!SCHEME_AND_HOST.test(text)) {
    return `must be an absolute url with a scheme and a host, such as ${EXAMPLE_URL}, got ${quote(text)}`
  }
  return undefined
}

function findProblemOfUrl(
  { protocol, port, username, password, href }: URL,
  allowsPrivate: boolean,
): string | undefined {
  if (username !== '' || password !== '') {
    return 'must not contain a user name or a password; deliveries are signed instead'
  }
  // Percent-encoding can make the url longer.
  if (href.length > MAX_URL_LENGTH) return describeTooLong(href)
  if (protocol !== 'https:' && !(allowsPrivate && protocol === 'http:')) {
    return `must begin with https://${allowsPrivate ? ' or http://' : ''}`
  }
  return !ALLOWED_LOW_PORTS.includes(port) && Number(port) <= MAX_LOW_PORT
    ? `must use ${EXPECTED_PORT}`
    : undefined
}

function describeParseProblem(text: string): string {
  const port = PORT.exec(text)?.[1]
  return port !== undefined && Number(port) > 65_535
    ? `must have a port of at most 65535, got ${quote(port)}`
    : `must have a valid host name and port, such as ${EXAMPLE_URL}, got ${quote(text)}`
}

function describeTooLong({ length }: string): string {
  return `must have at most ${MAX_URL_LENGTH} characters, got ${length}`
}

function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

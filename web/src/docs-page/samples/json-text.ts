/** A string (a key if a colon follows), a number, a literal or punctuation. */
const TOKEN = /\s*("(?:[^"\\]|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*|true|false|null|[{}[\],])/y
const LONG_INTEGER = /^-?\d{16,}$/
const MAX_LINE = 84

interface FormatOptions {
  /** The text is only the beginning of the JSON, so its last token may be incomplete. */
  readonly isCut?: boolean
  readonly indent?: string
  /** Inside the braces of an object on one line. */
  readonly padding?: string
}

/**
 * Formats JSON for reading. It works on the text, never on parsed values, so that ids beyond 2^53 keep every digit.
 * `undefined` if the text is not JSON.
 */
export function formatJson(text: string, options: FormatOptions = {}): string | undefined {
  const { isCut = false, indent = '  ', padding = ' ' } = options
  const tokens = tokensOf(text, isCut)
  if (tokens === undefined) return undefined
  let formatted = ''
  let depth = 0
  const newLine = () => `\n${indent.repeat(depth)}`
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? ''
    const end = isOpening(token) ? endOnOneLine(tokens, at, depth) : undefined
    if (end !== undefined) {
      formatted += oneLine(tokens.slice(at, end + 1), padding)
      at = end
    } else if (isOpening(token)) {
      depth++
      formatted += token + newLine()
    } else if (isClosing(token)) {
      depth--
      formatted += newLine() + token
    } else formatted += token === ',' ? token + newLine() : spaced(token)
  }
  return formatted.trimEnd()
}

/** The JSON without white space, digit for digit; the text itself if it is not JSON. */
export function compactJson(text: string): string {
  return tokensOf(text)?.join('') ?? text
}

/** Parses JSON, with large integers as strings of their digits; `undefined` if the text is not JSON. */
export function exactValue(text: string): unknown {
  const parts = tokensOf(text)?.map((token) => (LONG_INTEGER.test(token) ? `"${token}"` : token))
  try {
    return parts === undefined ? undefined : JSON.parse(parts.join(''))
  } catch {
    return undefined
  }
}

/** A key and its colon are one token. */
function tokensOf(text: string, isCut = false): readonly string[] | undefined {
  const tokens: string[] = []
  const end = text.trimEnd().length
  let depth = 0
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) return isCut ? tokens : undefined
    if (isOpening(token)) depth++
    if (isClosing(token)) depth--
    tokens.push(token.replace(/\s*:$/, ':'))
  }
  return tokens.length === 0 || (depth !== 0 && !isCut) ? undefined : tokens
}

/** The index of the closing bracket of an object or array of plain values that fits on one line. */
function endOnOneLine(tokens: readonly string[], open: number, depth: number): number | undefined {
  const end = tokens.findIndex((token, index) => index > open && (isOpening(token) || isClosing(token)))
  const isPlain = isClosing(tokens[end] ?? '')
  const isShort = tokens.slice(open + 1, end + 1).join(' ').length < MAX_LINE
  const isWholeObject = depth === 0 && tokens[open] === '{' && end > open + 1
  return isPlain && isShort && !isWholeObject ? end : undefined
}

function oneLine(tokens: readonly string[], padding: string): string {
  const content = tokens.slice(1, -1).map(spaced).join('')
  const edge = content !== '' && tokens[0] === '{' ? padding : ''
  return `${tokens[0]}${edge}${content}${edge}${tokens.at(-1)}`
}

function spaced(token: string): string {
  return token === ',' || token.endsWith(':') ? `${token} ` : token
}

function isOpening(token: string): boolean {
  return token === '{' || token === '['
}

function isClosing(token: string): boolean {
  return token === '}' || token === ']'
}

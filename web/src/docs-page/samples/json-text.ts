import type { CodeLine, CodeToken } from './code-tokens.ts'

type JsonToken = CodeToken & { readonly sign?: string }

/** White space, then a string (a key if a colon follows), a number, a literal or a sign. */
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],]))/y
const ONE_LINE = 84
const LONG_INTEGER = /^-?\d{16,}$/

/**
 * Formats JSON for reading. It works on the text, never on parsed values, so that ids beyond 2^53 keep every digit. Cuts
 * off longer text. `undefined` if the text is not JSON.
 */
export function layOutJson(
  text: string,
  mostCharacters = Number.POSITIVE_INFINITY,
): { readonly lines: readonly CodeLine[]; readonly isCut: boolean } | undefined {
  const isCut = text.length > mostCharacters
  const tokens = tokensOf(isCut ? text.slice(0, mostCharacters) : text, isCut)
  if (tokens === undefined) return undefined
  const layout = new Layout()
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined) break
    const end = layout.depth > 0 || token.sign === '[' ? closeOnOneLine(tokens, at) : emptyEnd(tokens, at)
    if (end === undefined) layout.add(token)
    else {
      layout.addTogether(tokens.slice(at, end + 1))
      at = end
    }
  }
  return { lines: layout.finish(), isCut }
}

/** The JSON without white space, digit for digit; the text itself if it is not JSON. */
export function compactJson(text: string): string {
  return (
    tokensOf(text, false)
      ?.map((token) => token.text.replace(/\s*:$/, ':'))
      .join('') ?? text
  )
}

/** Parses JSON, with large integers as strings of their digits; `undefined` if the text is not JSON. */
export function exactValue(text: string): unknown {
  const tokens = tokensOf(text, false)
  const parts = tokens?.map(({ kind, text }) =>
    LONG_INTEGER.test(text) && kind === 'number' ? `"${text}"` : text,
  )
  try {
    return parts === undefined ? undefined : JSON.parse(parts.join(''))
  } catch {
    return undefined
  }
}

function tokensOf(text: string, isCut: boolean): readonly JsonToken[] | undefined {
  const tokens: JsonToken[] = []
  const end = text.trimEnd().length
  let depth = 0
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(text)
    // The last token of cut-off text may be incomplete.
    if (found === null) return isCut ? tokens : undefined
    const [, string, colon, number, word, sign] = found
    if (sign === '{' || sign === '[') depth++
    if (sign === '}' || sign === ']') depth--
    if (string !== undefined)
      tokens.push({ kind: colon === undefined ? 'string' : 'key', text: string + (colon ?? '') })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (word !== undefined) tokens.push({ kind: 'keyword', text: word })
    else if (sign !== undefined) tokens.push({ kind: 'plain', text: sign, sign })
  }
  return tokens.length === 0 || (depth !== 0 && !isCut) ? undefined : tokens
}

/** The index of the closing sign of an object or array of plain values that fits on one line. */
function closeOnOneLine(tokens: readonly JsonToken[], open: number): number | undefined {
  const sign = tokens[open]?.sign
  if (sign !== '{' && sign !== '[') return undefined
  let length = 0
  for (let at = open + 1; at < tokens.length && length <= ONE_LINE; at++) {
    const token = tokens[at]
    length += (token?.text.length ?? 0) + 1
    if (token?.sign === '{' || token?.sign === '[') return undefined
    if (token?.sign === '}' || token?.sign === ']') return length <= ONE_LINE ? at : undefined
  }
  return undefined
}

function emptyEnd(tokens: readonly JsonToken[], open: number): number | undefined {
  const isEmpty = tokens[open]?.sign === '{' && tokens[open + 1]?.sign === '}'
  return isEmpty ? open + 1 : undefined
}

class Layout {
  depth = 0
  readonly #lines: CodeToken[][] = []
  #line: CodeToken[] = []

  add(token: JsonToken): void {
    const { sign } = token
    if (sign === '}' || sign === ']') {
      this.#endLine()
      this.depth--
    }
    this.#put(token)
    if (sign === '{' || sign === '[') {
      this.#endLine()
      this.depth++
    }
    if (sign === ',') this.#endLine()
  }

  addTogether(tokens: readonly JsonToken[]): void {
    const isPadded = tokens.length > 2 && tokens[0]?.sign === '{'
    tokens.forEach((token, place) => {
      if (isPadded && place === tokens.length - 1) this.#space()
      this.#put(token)
      if (token.sign === ',' || (isPadded && place === 0)) this.#space()
    })
  }

  finish(): readonly CodeLine[] {
    this.#endLine()
    return this.#lines
  }

  #put({ kind, text }: JsonToken): void {
    if (this.#line.length === 0 && this.depth > 0) {
      this.#line.push({ kind: 'plain', text: '  '.repeat(this.depth) })
    }
    if (kind === 'key') {
      this.#line.push({ kind, text: text.replace(/\s*:$/, '') }, { kind: 'plain', text: ': ' })
    } else this.#line.push({ kind, text })
  }

  #space(): void {
    this.#line.push({ kind: 'plain', text: ' ' })
  }

  #endLine(): void {
    if (this.#line.length > 0) this.#lines.push(this.#line)
    this.#line = []
  }
}

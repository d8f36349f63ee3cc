import { formatJson } from './json-text.ts'

interface CodeToken {
  readonly kind: 'plain' | 'key' | 'string' | 'number' | 'keyword' | 'comment'
  readonly text: string
}

export type CodeLine = readonly CodeToken[]

export type Language = 'typescript' | 'python' | 'shell' | 'http' | 'json'

const KEYWORDS = 'import|from|const|let|new|await|async|for|of|if|else|try|catch|throw|return|break|function'

const PYTHON_KEYWORDS =
  'import|from|def|with|as|return|yield|for|in|try|except|if|elif|else|is|not|and|break|raise|None|True|False'

/** Each group of a pattern is named after the kind of its token. */
const PATTERNS: Readonly<Record<Language, RegExp>> = {
  typescript: new RegExp(
    `(?<comment>//.*)|(?<string>'(?:[^'\\\\]|\\\\.)*'|\`[^\`]*\`)|\\b(?<keyword>${KEYWORDS})\\b|(?<number>\\b\\d[\\d_]*n?\\b)`,
    'g',
  ),
  python: new RegExp(
    `(?<comment>#.*)|(?<string>'(?:[^'\\\\]|\\\\.)*'|"[^"]*")|\\b(?<keyword>${PYTHON_KEYWORDS})\\b|(?<number>\\b\\d+\\b)`,
    'g',
  ),
  shell:
    /(?<comment>(?:^|(?<= ))#.*)|(?<string>'[^']*'|"[^"]*")|(?<key>(?<=^|\s)-{1,2}[\w-]+)|(?<keyword>^(?:curl|npm|npx)\b)/g,
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\d[\d.eE+-]*)|(?<keyword>true|false|null)/g,
  http: /(?<key>^[A-Za-z-]+(?=: ))|(?<keyword>^(?:GET|PATCH|POST|HTTP\/1\.1)\b)|(?<comment>^#.*)/g,
}

/** JSON as `formatJson` formats it; text that is not JSON as it is, without colours. */
export function jsonLines(text: string, isCut = false): readonly CodeLine[] {
  const formatted = formatJson(text, { isCut })
  if (formatted !== undefined) return colourCode(formatted, 'json')
  return text.split('\n').map((line) => [{ kind: 'plain', text: line }])
}

/** Works line by line: a string of several lines is coloured in its first line only. */
export function colourCode(code: string, language: Language): readonly CodeLine[] {
  return code.split('\n').map((line) => colourLine(line, PATTERNS[language]))
}

function colourLine(line: string, pattern: RegExp): CodeLine {
  const tokens: CodeToken[] = []
  let done = 0
  for (const match of line.matchAll(pattern)) {
    if (match.index > done) tokens.push({ kind: 'plain', text: line.slice(done, match.index) })
    const [kind = 'plain', text = ''] =
      Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    tokens.push({ kind: kind as CodeToken['kind'], text })
    done = match.index + match[0].length
  }
  if (done < line.length || tokens.length === 0) tokens.push({ kind: 'plain', text: line.slice(done) })
  return tokens
}

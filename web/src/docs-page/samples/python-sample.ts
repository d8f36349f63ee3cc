import type { CodeLine } from './code-token.ts'
import { exactValue, layOutJson } from './json-text.ts'
import type { PreparedRequest } from './request-draft.ts'
import { inQuotes } from './string-literal.ts'

/** What comes back: JSON, nothing at all, or events without an end. */
export type AnswerKind = 'json' | 'empty' | 'stream'

const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

const READING: Readonly<Record<AnswerKind, readonly string[]>> = {
  json: ['    print(json.load(answer))'],
  empty: [],
  stream: ['    for line in answer:', '        print(line.decode().rstrip())'],
}

/** With what every Python brings along. */
export function pythonSample(request: PreparedRequest, baseUrl: string, answer: AnswerKind): string {
  const { method, path, headers, body } = request
  const value = body === undefined ? undefined : pythonValue(body)
  const lines = [
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${inQuotes(baseUrl + path)},`,
    ...(method === 'GET' ? [] : [`    method='${method}',`]),
    '    headers={',
    ...headers.map(([name, text]) => `        ${inQuotes(name)}: ${inQuotes(text)},`),
    '    },',
    ...(value !== undefined ? [`    data=json.dumps(${value}).encode(),`] : []),
    ...(body !== undefined && value === undefined ? [`    data=${inQuotes(body)}.encode(),`] : []),
    ')',
    'with urlopen(request) as answer:',
    '    print(answer.status)',
    ...READING[answer],
  ]
  const isJsonUsed = lines.some((line) => line.includes('json.'))
  return [...(isJsonUsed ? ['import json'] : []), ...lines].join('\n')
}

/** The same in the words of Python, digit for digit, as an argument in four spaces; `undefined` where it is not JSON. */
function pythonValue(json: string): string | undefined {
  if (exactValue(json) === undefined) return undefined
  return layOutJson(json)?.lines.map(pythonLine).join('\n    ')
}

function pythonLine(line: CodeLine): string {
  const words = line.map(({ kind, text }, index) => {
    if (kind === 'string' || kind === 'key') return inQuotes(JSON.parse(text))
    if (kind === 'keyword') return WORDS[text] ?? text
    if (text !== ' ') return index === 0 && text.trim() === '' ? text.repeat(2) : text
    // Braces of Python have no space inside.
    return line[index - 1]?.text === '{' || line[index + 1]?.text === '}' ? '' : text
  })
  return words.join('')
}

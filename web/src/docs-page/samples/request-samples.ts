import type { Contract, Operation } from '../contract.ts'
import { clientSample, inQuotes } from './client-sample.ts'
import type { CodeSample } from './code-block.tsx'
import type { CodeLine } from './code-tokens.ts'
import { compactJson, exactValue, layOutJson } from './json-text.ts'
import { isEventStream, type PreparedRequest, prepareRequest, type RequestDraft } from './request-draft.ts'

/** Samples never show a real key. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** The request in each language, with the values that the reader has entered. */
export function requestSamples(
  contract: Contract,
  operation: Operation,
  draft: RequestDraft,
  baseUrl: string,
): readonly CodeSample[] {
  const request = prepareRequest(operation, draft)
  const isStream = isEventStream(operation)
  return [
    { id: 'curl', title: 'curl', language: 'shell', code: curlSample(request, baseUrl, isStream) },
    {
      id: 'client',
      title: 'TypeScript client',
      language: 'typescript',
      code: clientSample(contract, operation, draft, { baseUrl, apiKey: KEY_PLACEHOLDER }),
    },
    { id: 'fetch', title: 'fetch', language: 'typescript', code: fetchSample(request, baseUrl, isStream) },
    {
      id: 'python',
      title: 'Python',
      language: 'python',
      code: pythonSample({ ...request, headers: allHeaders(request) }, baseUrl, answerKindOf(operation)),
    },
  ]
}

function curlSample(request: PreparedRequest, baseUrl: string, isStream: boolean): string {
  const parts = [`curl ${isStream ? '-N ' : ''}${inShell(baseUrl + request.path)}`]
  if (request.method !== 'GET') parts.push(`-X ${request.method}`)
  for (const [name, value] of allHeaders(request)) parts.push(`-H ${inShell(`${name}: ${value}`)}`)
  if (request.body !== undefined) parts.push(`-d ${inShell(compactJson(request.body))}`)
  return parts.join(' \\\n  ')
}

function fetchSample(request: PreparedRequest, baseUrl: string, isStream: boolean): string {
  const headers = allHeaders(request).map(([name, value]) => `    ${inQuotes(name)}: ${inQuotes(value)},`)
  const lines = [
    `const response = await fetch(${inQuotes(baseUrl + request.path)}, {`,
    ...(request.method === 'GET' ? [] : [`  method: '${request.method}',`]),
    '  headers: {',
    ...headers,
    '  },',
    ...(request.body === undefined ? [] : [`  body: ${inQuotes(compactJson(request.body))},`]),
    '})',
    'console.log(response.status)',
  ]
  if (!isStream) return [...lines, 'console.log(await response.text())'].join('\n')
  return [
    ...lines,
    'const decoder = new TextDecoder()',
    'for await (const bytes of response.body) {',
    '  console.log(decoder.decode(bytes, { stream: true }))',
    '}',
  ].join('\n')
}

function answerKindOf(operation: Operation): AnswerKind {
  if (isEventStream(operation)) return 'stream'
  return operation.answers.some(({ status }) => status === 204) ? 'empty' : 'json'
}

function allHeaders({ headers }: PreparedRequest): readonly (readonly [string, string])[] {
  return [['Authorization', `Bearer ${KEY_PLACEHOLDER}`], ...headers]
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

type AnswerKind = 'json' | 'empty' | 'stream'

const PYTHON_LITERALS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

const READ_ANSWER: Readonly<Record<AnswerKind, readonly string[]>> = {
  json: ['    print(json.load(answer))'],
  empty: [],
  stream: ['    for line in answer:', '        print(line.decode().rstrip())'],
}

/** Uses only the standard library. */
function pythonSample(request: PreparedRequest, baseUrl: string, answer: AnswerKind): string {
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
    ...READ_ANSWER[answer],
  ]
  const isJsonUsed = lines.some((line) => line.includes('json.'))
  return [...(isJsonUsed ? ['import json'] : []), ...lines].join('\n')
}

/** JSON as a Python value, digit for digit, indented by four spaces; `undefined` if the text is not JSON. */
function pythonValue(json: string): string | undefined {
  if (exactValue(json) === undefined) return undefined
  return layOutJson(json)?.lines.map(pythonLine).join('\n    ')
}

function pythonLine(line: CodeLine): string {
  const words = line.map(({ kind, text }, index) => {
    if (kind === 'string' || kind === 'key') return inQuotes(JSON.parse(text))
    if (kind === 'keyword') return PYTHON_LITERALS[text] ?? text
    if (text !== ' ') return index === 0 && text.trim() === '' ? text.repeat(2) : text
    // Python has no spaces inside of braces.
    return line[index - 1]?.text === '{' || line[index + 1]?.text === '}' ? '' : text
  })
  return words.join('')
}

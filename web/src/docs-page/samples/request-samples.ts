import type { Contract, Operation } from '../contract.ts'
import { clientSample, inQuotes } from './client-sample.ts'
import type { CodeSample } from './code-block.tsx'
import { colourCode } from './code-tokens.ts'
import { compactJson, exactValue, formatJson } from './json-text.ts'
import { answerKindOf, type PreparedRequest, prepareRequest, type RequestDraft } from './request-draft.ts'

/** Samples never show a real key. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** The request in each language, with the values that the reader has entered. */
export function requestSamples(
  contract: Contract,
  operation: Operation,
  draft: RequestDraft,
  baseUrl: string,
): readonly CodeSample[] {
  const { method, path, headers, body } = prepareRequest(operation, draft)
  const request: SampleRequest = {
    method,
    url: baseUrl + path,
    headers: [['Authorization', `Bearer ${KEY_PLACEHOLDER}`], ...headers],
    body,
    answerKind: answerKindOf(operation),
  }
  const clientCode = clientSample(contract, operation, draft, { baseUrl, apiKey: KEY_PLACEHOLDER })
  return [
    { id: 'curl', title: 'curl', language: 'shell', code: curlSample(request) },
    { id: 'client', title: 'TypeScript client', language: 'typescript', code: clientCode },
    { id: 'fetch', title: 'fetch', language: 'typescript', code: fetchSample(request) },
    { id: 'python', title: 'Python', language: 'python', code: pythonSample(request) },
  ]
}

interface SampleRequest extends Omit<PreparedRequest, 'path'> {
  readonly url: string
  readonly answerKind: ReturnType<typeof answerKindOf>
}

function curlSample({ method, url, headers, body, answerKind }: SampleRequest): string {
  const parts = [`curl ${answerKind === 'stream' ? '-N ' : ''}${inShell(url)}`]
  if (method !== 'GET') parts.push(`-X ${method}`)
  for (const [name, value] of headers) parts.push(`-H ${inShell(`${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`-d ${inShell(compactJson(body))}`)
  return parts.join(' \\\n  ')
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

const READ_IN_TYPESCRIPT = ['console.log(await response.text())']

const READ_STREAM_IN_TYPESCRIPT = [
  'const decoder = new TextDecoder()',
  'for await (const bytes of response.body) {',
  '  console.log(decoder.decode(bytes, { stream: true }))',
  '}',
]

function fetchSample({ method, url, headers, body, answerKind }: SampleRequest): string {
  return [
    `const response = await fetch(${inQuotes(url)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers.map(([name, value]) => `    ${inQuotes(name)}: ${inQuotes(value)},`),
    '  },',
    ...(body === undefined ? [] : [`  body: ${inQuotes(compactJson(body))},`]),
    '})',
    'console.log(response.status)',
    ...(answerKind === 'stream' ? READ_STREAM_IN_TYPESCRIPT : READ_IN_TYPESCRIPT),
  ].join('\n')
}

const READ_IN_PYTHON: Readonly<Record<SampleRequest['answerKind'], readonly string[]>> = {
  json: ['    print(json.load(answer))'],
  empty: [],
  stream: ['    for line in answer:', '        print(line.decode().rstrip())'],
}

/** Uses only the standard library. */
function pythonSample({ method, url, headers, body, answerKind }: SampleRequest): string {
  const lines = [
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${inQuotes(url)},`,
    ...(method === 'GET' ? [] : [`    method='${method}',`]),
    '    headers={',
    ...headers.map(([name, text]) => `        ${inQuotes(name)}: ${inQuotes(text)},`),
    '    },',
    ...(body === undefined ? [] : [`    data=${pythonBody(body)}.encode(),`]),
    ')',
    'with urlopen(request) as answer:',
    '    print(answer.status)',
    ...READ_IN_PYTHON[answerKind],
  ]
  const isJsonUsed = lines.some((line) => line.includes('json.'))
  return [...(isJsonUsed ? ['import json'] : []), ...lines].join('\n')
}

const PYTHON_LITERALS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** JSON as a Python value, digit for digit. Other text is sent as it is. */
function pythonBody(body: string): string {
  const json = exactValue(body) === undefined ? undefined : formatJson(body, { indent: '    ', padding: '' })
  if (json === undefined) return inQuotes(body)
  const lines = colourCode(json, 'json').map((tokens) =>
    tokens
      .map(({ kind, text }) => {
        if (kind === 'string' || kind === 'key') return inQuotes(JSON.parse(text))
        return PYTHON_LITERALS[text] ?? text
      })
      .join(''),
  )
  return `json.dumps(${lines.join('\n    ')})`
}

import type { Contract, Operation } from '../contract.ts'
import { clientSample } from './client-sample.ts'
import type { CodeSample } from './code-tabs.tsx'
import { compactJson } from './json-text.ts'
import { type AnswerKind, pythonSample } from './python-sample.ts'
import { isEventStream, type PreparedRequest, prepareRequest, type RequestDraft } from './request-draft.ts'
import { inQuotes } from './string-literal.ts'

/** Stands where the key belongs: a sample on the screen never shows a real one. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** The request in the words of each tool, with what the reader has filled in. */
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

import { clientCalls } from './client-calls.ts'
import type { Sample } from './code.ts'
import type { Contract, Operation } from './contract.ts'
import { exampleOf, exampleOfParameter } from './schema-text.ts'

/** The page replaces its origin with its own. */
export const SAMPLE_BASE_URL = 'http://127.0.0.1:8080/v1'
/** Samples never show a real key. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY'

/** The first lines of a sample that uses a client. */
export function clientSetup(language: ClientLanguage, imports: readonly string[]): string {
  return language === 'typescript'
    ? `import { ${[...imports, 'PetstoreClient'].join(', ')} } from '@petstore/client'

const client = new PetstoreClient({ baseUrl: '${SAMPLE_BASE_URL}', apiKey: '${KEY_PLACEHOLDER}' })`
    : `from petstore_inventory import ${['Petstore', ...imports].join(', ')}

store = Petstore('${SAMPLE_BASE_URL}', '${KEY_PLACEHOLDER}')`
}

type ClientLanguage = 'typescript' | 'python'
type Values = Readonly<Record<string, string>>

/** The request of an operation with curl and with both clients. `values` replace the examples of parameters. */
export function samplesOf(contract: Contract, operation: Operation, values: Values = {}): readonly Sample[] {
  const examples = operation.parameters.map((each) => [each.name, exampleOfParameter(contract, each)])
  const given: Values = { ...Object.fromEntries(examples), ...values }
  const body = operation.body && exampleOf(contract, operation.body)
  const { typescript, python } = clientCalls(operation.operationId)
  const clientSample = (language: ClientLanguage, call: string): Sample => {
    return { language, code: clientCode(operation, language, fill(call, language, given, body)) }
  }
  return [
    { language: 'shell', code: curlCode(operation, given, body) },
    clientSample('typescript', typescript),
    ...(python === null ? [] : [clientSample('python', python)]),
  ]
}

function curlCode({ method, path, parameters, success }: Operation, values: Values, body: unknown): string {
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const given = parameters.filter(({ name, in: place }) => place === 'query' && values[name] !== '')
  const query = new URLSearchParams(given.map(({ name }) => [name, values[name] ?? '']))
  const search = query.size === 0 ? '' : `?${query}`
  const parts = [`curl ${success.events === undefined ? '' : '-N '}'${SAMPLE_BASE_URL}${address}${search}'`]
  if (method !== 'GET') parts.push(`-X ${method}`)
  parts.push(`-H 'Authorization: Bearer ${KEY_PLACEHOLDER}'`)
  if (body !== undefined) {
    parts.push(`-H 'Content-Type: application/json'`)
    parts.push(`-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`)
  }
  return parts.join(' \\\n  ')
}

function clientCode({ success }: Operation, language: ClientLanguage, filled: string): string {
  const isPython = language === 'python'
  const call = isPython ? `store.${filled}` : `client.${filled}`
  const setup = `${clientSetup(language, [])}\n`
  if (success.status === 204) return `${setup}${isPython ? '' : 'await '}${call}`
  const item = success.events === undefined ? 'item' : 'event'
  const isLoop = success.events !== undefined || success.schema?.items !== undefined
  if (!isLoop) return setup + (isPython ? `print(${call})` : `console.log(await ${call})`)
  if (isPython) return `${setup}for ${item} in ${call}:\n    print(${item})`
  return `${setup}for await (const ${item} of ${call}) console.log(${item})`
}

/** Puts values into the braces of a call. */
function fill(call: string, language: ClientLanguage, values: Values, body: unknown): string {
  return call.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'body') return literal(body, language)
    const value = values[name]
    if (value !== undefined) return /^-?\d+$/.test(value) ? value : quoted(value)
    const field = (body as Readonly<Record<string, unknown>> | undefined)?.[name]
    if (field === undefined) throw new Error(`${call}: there is no example of ${name}`)
    return literal(field, language)
  })
}

const MAX_LINE = 70
const PYTHON_CONSTANTS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** A JSON value in the syntax of a language, on one line if it is short. */
function literal(value: unknown, language: ClientLanguage): string {
  const lines = JSON.stringify(value, null, language === 'python' ? 4 : 2)
  const line = lines.replaceAll(/\n */g, ' ')
  const json = line.length <= MAX_LINE ? line : lines
  return json.replaceAll(/("(?:[^"\\]|\\.)*")(:?)|true|false|null/g, (token, text?: string, colon = '') => {
    if (text === undefined) return language === 'python' ? (PYTHON_CONSTANTS[token] ?? token) : token
    const value = JSON.parse(text)
    return (colon !== '' && language === 'typescript' ? value : quoted(value)) + colon
  })
}

/** A string literal in single quotes, the same in both languages. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}

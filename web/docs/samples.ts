import { METHODS } from '@petstore/client'
import type { Sample } from './code.ts'
import type { Contract, Operation, Schema } from './contract.ts'
import { exampleOfBody, exampleOfParameter, exampleValueOfBody } from './schema-text.ts'

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
  return [
    { language: 'shell', code: curlCode(contract, operation, given) },
    { language: 'typescript', code: clientCode(contract, operation, 'typescript', given) },
    { language: 'python', code: clientCode(contract, operation, 'python', given) },
  ]
}

function curlCode(contract: Contract, operation: Operation, values: Values): string {
  const { method, path, parameters, body, success } = operation
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const given = parameters.filter(({ name, in: place }) => place === 'query' && values[name] !== '')
  const query = new URLSearchParams(given.map(({ name }) => [name, values[name] ?? '']))
  const search = query.size === 0 ? '' : `?${query}`
  const parts = [`curl ${success.events === undefined ? '' : '-N '}'${SAMPLE_BASE_URL}${address}${search}'`]
  if (method !== 'GET') parts.push(`-X ${method}`)
  parts.push(`-H 'Authorization: Bearer ${KEY_PLACEHOLDER}'`)
  if (body !== undefined) {
    parts.push(`-H 'Content-Type: ${body.type}'`)
    parts.push(`--data-binary '${exampleOfBody(contract, body).replaceAll("'", `'\\''`)}'`)
  }
  return parts.join(' \\\n  ')
}

/** Operations that are not generated in both clients. */
const OTHER_METHODS: Readonly<Record<string, Readonly<Record<ClientLanguage, string>>>> = {
  inventoryEvents: { typescript: 'inventory.events', python: 'events' },
  getPet: { typescript: 'pets.get', python: 'pets.get' },
}

function methodName(operationId: string, language: ClientLanguage): string {
  const generated = METHODS[operationId as keyof typeof METHODS] as string | undefined
  const name = OTHER_METHODS[operationId]?.[language] ?? generated
  if (name === undefined)
    throw new Error(`the clients have no method ${operationId}: npm run contract:client`)
  return language === 'python' ? inSnakeCase(name) : name
}

/** Every method takes the parameters of the path, then the body, then those of the query. */
function clientCode(
  contract: Contract,
  operation: Operation,
  language: ClientLanguage,
  values: Values,
): string {
  const { operationId, parameters, body, success } = operation
  const isPython = language === 'python'
  const valuesIn = (place: 'path' | 'query') => {
    const given = parameters.filter((each) => each.in === place && values[each.name] !== '')
    return given.map(
      ({ name, schema }) => [name, literal(typedValue(schema, values[name] ?? ''), language)] as const,
    )
  }
  const args = valuesIn('path').map(([, value]) => value)
  if (body !== undefined) args.push(literal(exampleValueOfBody(contract, body), language))
  const options = valuesIn('query')
  if (isPython) args.push(...options.map(([name, value]) => `${inSnakeCase(name)}=${value}`))
  else if (options.length > 0) args.push(`{ ${options.map((option) => option.join(': ')).join(', ')} }`)
  const call = `${isPython ? 'store' : 'client'}.${methodName(operationId, language)}(${args.join(', ')})`
  const setup = `${clientSetup(language, [])}\n`
  if (success.status === 204) return `${setup}${isPython ? '' : 'await '}${call}`
  const item = success.events === undefined ? 'item' : 'event'
  const isLoop = success.events !== undefined || success.schema?.items !== undefined
  if (!isLoop) return setup + (isPython ? `print(${call})` : `console.log(await ${call})`)
  if (isPython) return `${setup}for ${item} in ${call}:\n    print(${item})`
  return `${setup}for await (const ${item} of ${call}) console.log(${item})`
}

/** A parameter as the clients take it. */
function typedValue({ type, items = {} }: Schema, text: string): unknown {
  if (type === 'array') return text.split(',').map((part) => typedValue(items, part))
  return type === 'integer' ? Number(text) : text
}

function inSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const MAX_LINE = 70
const PYTHON_CONSTANTS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** A JSON value in the syntax of a language. Short objects and arrays are on one line. */
function literal(value: unknown, language: ClientLanguage): string {
  const lines = JSON.stringify(value, null, language === 'python' ? 4 : 2)
  const json = lines.replaceAll(/([{[])\n *([^{}[\]]*)\n *([}\]])/g, (block, open, content, close) => {
    const edge = language === 'typescript' && open === '{' ? ' ' : ''
    const line = open + edge + content.replaceAll(/\n */g, ' ') + edge + close
    return line.length <= MAX_LINE ? line : block
  })
  return json.replaceAll(/("(?:[^"\\]|\\.)*")(:?)|true|false|null/g, (token, text?: string, colon = '') => {
    if (text === undefined) return language === 'python' ? (PYTHON_CONSTANTS[token] ?? token) : token
    const content = JSON.parse(text)
    return (colon !== '' && language === 'typescript' ? content : quoted(content)) + colon
  })
}

/** A string literal in single quotes, the same in both languages. */
function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped}'`
}

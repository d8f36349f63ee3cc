import Ajv2020 from 'ajv/dist/2020'
import contract from '../../../openapi.json'

/** The checked-in contract counts, not the code that generates it. */
const ajv = new Ajv2020({ strict: false, allErrors: true })
ajv.addFormat('int64', true)
ajv.addFormat('int32', true)
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)
ajv.addFormat('date-time', (text: string) => !Number.isNaN(Date.parse(text)))
ajv.addSchema(contract, 'contract')

interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, unknown>>
}

interface OperationEntry {
  readonly operationId: string
  readonly deprecated?: boolean
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>
}

const sharedResponses: Readonly<Record<string, Response>> = contract.components.responses

const paths = contract.paths as unknown as Readonly<Record<string, Readonly<Record<string, OperationEntry>>>>

/** Every response that the contract documents, as `operationId status`. */
export const documentedResponses: readonly string[] = Object.values(paths)
  .flatMap((methods) => Object.values(methods))
  .flatMap(({ operationId, responses }) => Object.keys(responses).map((status) => `${operationId} ${status}`))

const DEPRECATION_HEADERS = ['Deprecation', 'Sunset', 'Link']
/** Headers that HTTP, Fetch and W3C Trace Context define for every response, one for nginx, and Cache-Control, which has a default. */
const UNSTATED_HEADERS =
  /^(?:access-control-.*|cache-control|connection|content-.*|cross-origin-resource-policy|date|keep-alive|strict-transport-security|traceresponse|transfer-encoding|vary|x-accel-buffering|x-content-type-options)$/

/** Throws if the contract does not document the response for its operation. Returns the operation's name. */
export function checkAgainstContract(
  method: string,
  path: string,
  answer: { status: number; headers: Headers; text: string },
): string | undefined {
  const found = findOperation(method === 'HEAD' ? 'GET' : method, path)
  if (found === undefined) {
    if (answer.status >= 400 && method !== 'HEAD')
      checkBody('contract#/components/schemas/Error', answer.text)
    return undefined
  }
  const { template, entry } = found
  const described = entry.responses[String(answer.status)]
  const sharedName =
    described !== undefined && '$ref' in described ? described.$ref.split('/').at(-1) : undefined
  const response = sharedName === undefined ? described : sharedResponses[sharedName]
  if (response === undefined || '$ref' in response)
    throw new Error(`${entry.operationId} does not document ${answer.status}`)
  for (const [name, { $ref }] of Object.entries(response.headers)) {
    const { required, schema } = describedHeader($ref)
    const value = answer.headers.get(name)
    if (required && value === null) throw new Error(`${entry.operationId} ${answer.status} lacks ${name}`)
    if (schema.const !== undefined && value !== schema.const)
      throw new Error(
        `${entry.operationId} ${answer.status} has ${name}: ${value} instead of ${schema.const}`,
      )
  }
  const stated = [...Object.keys(response.headers), ...(entry.deprecated ? DEPRECATION_HEADERS : [])]
  const unstated = [...answer.headers.keys()].filter(
    (name) => !UNSTATED_HEADERS.test(name) && !stated.some((one) => one.toLowerCase() === name),
  )
  if (unstated.length > 0)
    throw new Error(
      `${entry.operationId} ${answer.status} has ${unstated}, which the contract does not state`,
    )
  if (!stated.includes('Cache-Control') && answer.headers.get('Cache-Control') !== 'no-store')
    throw new Error(`${entry.operationId} ${answer.status} may be stored, which the contract does not state`)
  const mediaTypes = Object.keys(response.content ?? {})
  const mediaType = answer.headers.get('Content-Type') ?? ''
  if (mediaTypes.length > 0 && !mediaTypes.includes(mediaType))
    throw new Error(`${entry.operationId} ${answer.status} is not ${mediaTypes.join(' or ')}`)
  if (mediaTypes.includes(mediaType) && mediaType.endsWith('json') && method !== 'HEAD') {
    const place =
      sharedName === undefined
        ? ['paths', template, method.toLowerCase(), 'responses', answer.status]
        : ['components', 'responses', sharedName]
    const pointer = [...place, 'content', mediaType, 'schema']
    checkBody(`contract#/${pointer.map(escaped).join('/')}`, answer.text)
  }
  return entry.operationId
}

/** Throws if the body of a delivery does not match the contract for webhooks of its type. */
export function checkPayload(type: string, body: string): void {
  const pointer = ['webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema']
  checkBody(`contract#/${pointer.map(escaped).join('/')}`, body)
}

interface DescribedHeader {
  readonly required: boolean
  readonly schema: { readonly type: string; readonly const?: string }
}

/** `reference` names one of the contract's headers. */
function describedHeader(reference: string): DescribedHeader {
  const headers: Readonly<Record<string, DescribedHeader>> = contract.components.headers
  const header = headers[reference.replace('#/components/headers/', '')]
  if (header === undefined) throw new Error(`the contract has no ${reference}`)
  return header
}

function checkBody(reference: string, text: string): void {
  const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference })
  if (!validate(JSON.parse(text)))
    throw new Error(`${text.slice(0, 200)} does not fit ${reference}: ${ajv.errorsText(validate.errors)}`)
}

function findOperation(
  method: string,
  path: string,
): { template: string; entry: OperationEntry } | undefined {
  const relative = path.replace(/\?.*$/, '').replace(/^\/v1/, '')
  const exact = paths[relative]
  if (exact !== undefined) {
    const entry = exact[method.toLowerCase()]
    return entry === undefined ? undefined : { template: relative, entry }
  }
  for (const [template, methods] of Object.entries(paths)) {
    const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]*')}$`)
    const entry = methods[method.toLowerCase()]
    if (pattern.test(relative) && entry !== undefined) return { template, entry }
  }
  return undefined
}

function escaped(part: string | number): string {
  return encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
}

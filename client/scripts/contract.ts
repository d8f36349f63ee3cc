/** The operations of openapi.json as both generators of clients need them. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly const?: boolean | string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  /** The schema of all values of a map. */
  readonly additionalProperties?: Schema | boolean
  readonly required?: readonly string[]
  readonly description?: string
}

interface Content {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, Body>>
}

interface Body {
  readonly schema: Schema
  /** The data of each event of a stream, by the event's name. */
  readonly 'x-event-data'?: Readonly<Record<string, Schema>>
}

export interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface ContractOperation {
  readonly operationId: string
  readonly description: string
  readonly deprecated?: boolean
  readonly parameters: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly requestBody: Content } }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters?: Readonly<Record<string, Parameter>>
    readonly responses?: Readonly<Record<string, Content>>
  }
}

/** An operation that has a generated method: all but the stream of events and deprecated ones. */
export interface Operation {
  readonly id: string
  /** The method is `client.<resource>.<name>`, in camelCase. */
  readonly resource: string
  readonly name: string
  readonly method: string
  readonly path: string
  readonly description: string
  readonly params: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly takesIdempotencyKey: boolean
  readonly takesIfMatch: boolean
  readonly body: Schema | undefined
  /** The media type of a body that is not JSON, but text. */
  readonly contentType: string | undefined
  /** Whether the body may be left out, because none of its fields is required. */
  readonly isBodyOptional: boolean
  /** The JSON of a successful response; `undefined` if it has no body. */
  readonly answer: Schema | undefined
  /** The largest page of a list. */
  readonly maxLimit: number | undefined
}

/** Operations whose id does not make a good name. */
const NAMES: Readonly<Record<string, readonly [resource: string, name: string]>> = {
  getInventoryItem: ['inventory', 'get'],
  updateInventory: ['inventory', 'set'],
  listEvents: ['inventory', 'readEvents'],
  listAvailability: ['inventory', 'availabilities'],
  listRecentChanges: ['inventory', 'changes'],
  getCatalogPet: ['pets', 'get'],
  listPetEdits: ['pets', 'history'],
  getMovementReport: ['reports', 'movements'],
  importFile: ['imports', 'file'],
}

export async function readContract(): Promise<Contract> {
  // The service generates the file, and a test holds it against the meta-schema of OpenAPI.
  return (await Bun.file(new URL('../../openapi.json', import.meta.url)).json()) as Contract
}

export function operationsOf(contract: Contract): readonly Operation[] {
  const operations = operationEntries(contract)
    .filter(({ operation }) => operation.deprecated !== true && eventsOf(operation) === undefined)
    .map((entry) => readOperation(contract, entry))
  const methods = new Map<string, string>()
  for (const { id, resource, name } of operations) {
    const method = `${resource}.${name}`
    const other = methods.get(method)
    if (other !== undefined) throw new Error(`${method} is both ${other} and ${id}: give one a name in NAMES`)
    methods.set(method, id)
  }
  const ids = new Set(operations.map(({ id }) => id))
  const gone = Object.keys(NAMES).filter((id) => !ids.has(id))
  if (gone.length > 0) throw new Error(`NAMES has operations that the contract lacks: ${gone.join(', ')}`)
  return operations
}

/** The data of each event of the stream, by the event's name. */
export function streamedEvents(contract: Contract): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...operationEntries(contract).map(({ operation }) => eventsOf(operation)))
}

/** The schema of each webhook payload, by the type of its event. */
export function payloads({ webhooks }: Contract): readonly (readonly [type: string, schema: Schema])[] {
  return Object.entries(webhooks).map(([type, { post }]) => [type, jsonOf(post.requestBody, type)])
}

interface Entry {
  readonly method: string
  readonly path: string
  readonly operation: ContractOperation
}

function operationEntries({ paths }: Contract): readonly Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

function readOperation({ components }: Contract, { method, path, operation }: Entry): Operation {
  const { operationId: id, description, requestBody } = operation
  const parameters = operation.parameters.map((each) => component(components.parameters, each))
  const hasHeader = (name: string) => parameters.some((each) => each.in === 'header' && each.name === name)
  const success = successOf(operation)
  const answer = success === undefined ? undefined : component(components.responses, success)
  const [contentType, { schema: body }] = bodyOf(requestBody)
  const [resource, name] = NAMES[id] ?? nameOf(id, path)
  return {
    id,
    resource,
    name,
    method,
    path,
    description,
    params: parameters.filter((each) => each.in === 'path'),
    query: parameters.filter((each) => each.in === 'query'),
    takesIdempotencyKey: hasHeader('Idempotency-Key'),
    takesIfMatch: hasHeader('If-Match'),
    body,
    contentType,
    isBodyOptional: body !== undefined && method === 'POST' && hasNoRequiredField(components.schemas, body),
    answer: answer?.content === undefined ? undefined : jsonOf(answer, id),
    maxLimit: parameters.find((each) => each.name === 'limit')?.schema.maximum,
  }
}

/**
 * `listOrders` of /store/orders is `orders.list`, `rotateWebhookSecret` of /webhooks/{webhookId}/rotate-secret is
 * `webhooks.rotateSecret`, and `listWebhookDeliveries` is `webhooks.deliveries`.
 */
function nameOf(operationId: string, path: string): readonly [resource: string, name: string] {
  const words = operationId.split(/(?=[A-Z])/)
  const collections = path.split('/{')[0]?.split('/').filter(Boolean) ?? []
  const collectionOf = (word: string) =>
    collections.find((each) => [each, singular(each)].includes(word.toLowerCase()))
  const at = words.findIndex((word, index) => index > 0 && collectionOf(word) !== undefined)
  const resource = at === -1 ? collections[0] : collectionOf(words[at] ?? '')
  if (resource === undefined) throw new Error(`${operationId} has no resource: give it a name in NAMES`)
  const verb = at === -1 ? words.slice(0, 1) : words.slice(0, at)
  const rest = words.slice(at === -1 ? 1 : at + 1)
  const isRead = ['list', 'get'].includes(verb.join(''))
  return [camelCase([resource]), camelCase(isRead && rest.length > 0 ? rest : [...verb, ...rest])]
}

function singular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '')
}

function camelCase(words: readonly string[]): string {
  const [first = '', ...others] = words.flatMap((word) => word.split('-'))
  const capitalised = others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return [first.charAt(0).toLowerCase() + first.slice(1), ...capitalised].join('')
}

function hasNoRequiredField(schemas: Contract['components']['schemas'], { $ref = '' }: Schema): boolean {
  const schema = schemas[schemaName($ref)]
  return schema?.properties !== undefined && (schema.required ?? []).length === 0
}

export function schemaName($ref: string): string {
  return $ref.replace('#/components/schemas/', '')
}

function successOf({ responses }: ContractOperation): Content | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
}

function eventsOf(operation: ContractOperation): Readonly<Record<string, Schema>> | undefined {
  return successOf(operation)?.content?.['text/event-stream']?.['x-event-data']
}

const JSON_TYPE = 'application/json'

/** The body of a request, with its media type unless it is JSON. */
function bodyOf(requestBody: Content = {}): readonly [contentType: string | undefined, Partial<Body>] {
  const { [JSON_TYPE]: json, ...others } = requestBody.content ?? {}
  return json === undefined ? (Object.entries(others)[0] ?? [undefined, {}]) : [undefined, json]
}

function jsonOf({ content }: Content, name: string): Schema {
  const schema = content?.[JSON_TYPE]?.schema
  if (schema === undefined)
    throw new Error(`the generators of clients support only answers in JSON, unlike ${name}`)
  return schema
}

/** The parameter or response itself, or the component that it refers to. */
function component<Part extends { readonly $ref?: string }>(
  parts: Readonly<Record<string, Part>> = {},
  part: Part,
): Part {
  if (part.$ref === undefined) return part
  const found = parts[part.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the contract has no ${part.$ref}`)
  return found
}

/** Writes the generated files (`--write`), or fails if one differs from the contract (`--check`). */
export async function writeOrCheck(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = Bun.file(new URL(`../../${path}`, import.meta.url))
    if (process.argv.includes('--write')) await file.write(text)
    else if (!(await file.exists()) || (await file.text()) !== text) {
      console.error(`${path} differs from openapi.json: run "npm run contract:client"`)
      process.exit(1)
    }
  }
}

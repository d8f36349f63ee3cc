/**
 * Writes petstore_inventory/types.py and petstore_inventory/resources.py from openapi.json (`--write`), or fails if a
 * file differs from the contract (`--check`). It throws on a schema that it does not support.
 */

import {
  type Operation,
  operationsOf,
  readContract,
  type Schema,
  schemaName,
  writeOrCheck,
} from '../../client/scripts/contract.ts'

const TYPES_HEADER = `"""The records of the contract. Generated from openapi.json by npm run contract:client; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`

const RESOURCES_HEADER = `"""The methods of the contract. Generated from openapi.json by npm run contract:client; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Literal, Optional
from urllib.parse import quote

from .transport import CallOptions, ConditionalCallOptions, ConditionalWriteOptions, Transport, WriteOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types


class Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def int64(value: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"an id must be an int, got {value!r}")
    return value
`

/** Errors are PetstoreError, and deliveries are WebhookEvent. */
function isGenerated(name: string): boolean {
  return name !== 'Error' && !name.endsWith('Payload')
}

/** The prefix is that of the module of the types. */
function typeOf(schema: Schema, prefix = ''): string {
  if (schema.$ref !== undefined) return prefix + schemaName(schema.$ref)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return unionOf(choices, prefix)
  if (schema.enum !== undefined) return `Literal[${schema.enum.map((value) => `"${value}"`).join(', ')}]`
  if (typeof schema.const === 'boolean') return schema.const ? 'Literal[True]' : 'Literal[False]'
  if (schema.type === 'integer') return 'int'
  if (schema.type === 'string') return 'str'
  if (schema.type === 'boolean') return 'bool'
  if (schema.type === 'array' && schema.items !== undefined) return `List[${typeOf(schema.items, prefix)}]`
  if (typeof schema.additionalProperties === 'object')
    return `Dict[str, ${typeOf(schema.additionalProperties, prefix)}]`
  if (schema.type === 'object') return 'Dict[str, Any]'
  throw new Error(`contract-types.ts does not support ${JSON.stringify(schema)}`)
}

function unionOf(choices: readonly Schema[], prefix: string): string {
  const types = choices.filter(({ type }) => type !== 'null').map((choice) => typeOf(choice, prefix))
  const union = types.length === 1 ? types.join() : `Union[${types.join(', ')}]`
  return types.length === choices.length ? union : `Optional[${union}]`
}

function classOf(name: string, { properties = {}, required = [], description }: Schema): string {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const type = typeOf(schema)
    return `    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}`
  })
  const docstring = description === undefined ? [] : [`    """${description}"""`, '']
  return [`class ${name}(TypedDict):`, ...docstring, ...fields, ''].join('\n')
}

/** The methods of Petstore itself, which are by hand. */
const METHODS_OF_CLIENT = ['events', 'close']

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function className(resource: string): string {
  return `${resource.charAt(0).toUpperCase()}${resource.slice(1)}Methods`
}

/** Lists request each page themselves, and `limit` is the size of a page. */
function queryParameters({ query, answer }: Operation) {
  return query
    .filter(({ name }) => name !== 'cursor' || answer?.type !== 'array')
    .map(({ name, required, schema }) => {
      const python = name === 'limit' && answer?.type === 'array' ? 'page_size' : snakeCase(name)
      const type = typeOf(schema, 'types.')
      return {
        name,
        python,
        declared: required ? `${python}: ${type}` : `${python}: Optional[${type}] = None`,
      }
    })
}

function optionsType({ takesIdempotencyKey, takesIfMatch }: Operation): string {
  if (takesIdempotencyKey) return takesIfMatch ? 'ConditionalWriteOptions' : 'WriteOptions'
  return takesIfMatch ? 'ConditionalCallOptions' : 'CallOptions'
}

function pathOf({ path, params }: Operation): string {
  if (params.length === 0) return `"${path}"`
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const isInteger = params.some((each) => each.name === name && each.schema.type === 'integer')
    return isInteger ? `{int64(${snakeCase(name)})}` : `{quote(${snakeCase(name)}, safe='')}`
  })
  return `f"${filled}"`
}

function methodOf(operation: Operation): string {
  const { name, method, params, body, isBodyOptional, contentType, answer, takesIdempotencyKey } = operation
  const query = queryParameters(operation)
  const bodyType = body === undefined ? '' : typeOf(body, 'types.')
  const args = [
    'self',
    ...params.map((each) => `${snakeCase(each.name)}: ${typeOf(each.schema, 'types.')}`),
    ...(body === undefined ? [] : [`body: ${isBodyOptional ? `Optional[${bodyType}] = None` : bodyType}`]),
    ...(query.length === 0 ? [] : ['*', ...query.map(({ declared }) => declared)]),
    `**options: Unpack[${optionsType(operation)}]`,
  ]
  const fields = query.map((each) => `"${each.name}": ${each.python}`).join(', ')
  const queryText = query.length === 0 ? [] : [`query={${fields}}`]
  const bodyText = body === undefined ? [] : [isBodyOptional ? 'body or {}' : 'body']
  const typeText = contentType === undefined ? [] : [`content_type="${contentType}"`]
  const write = takesIdempotencyKey ? 'write' : 'write_once'
  const isList = answer?.type === 'array' && answer.items !== undefined
  const call =
    method === 'GET'
      ? `${isList ? 'pages' : 'read'}(${[pathOf(operation), ...queryText, '**options'].join(', ')})`
      : `${write}(${[`"${method}"`, pathOf(operation), ...bodyText, ...queryText, ...typeText, '**options'].join(', ')})`
  const answerType = answer === undefined ? 'None' : typeOf(answer, 'types.')
  const result = isList ? answerType.replace(/^List/, 'Iterator') : answerType
  return [
    `    def ${snakeCase(name)}(`,
    ...args.map((arg) => `        ${arg},`),
    `    ) -> ${result}:`,
    ...docstringOf(operation.description),
    `        ${answer === undefined ? '' : 'return '}self._transport.${call}`,
  ].join('\n')
}

function docstringOf(description: string): readonly string[] {
  return ['        """', ...wrapped(description, 104).map((line) => `        ${line}`), '        """']
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines.splice(-1, 1, `${last} ${word}`)
    else lines.push(word)
  }
  return lines
}

const contract = await readContract()

function typesModule(): string {
  const schemas = Object.entries(contract.components.schemas).filter(([name]) => isGenerated(name))
  const classes = schemas
    .filter(([, schema]) => schema.properties !== undefined)
    .map(([name, schema]) => classOf(name, schema))
  // Python evaluates these, so they follow the classes that they name.
  const aliases = schemas
    .filter(([, schema]) => schema.properties === undefined)
    .map(([name, schema]) => `${name} = ${typeOf(schema)}\n`)
  return [TYPES_HEADER, ...classes, aliases.join('')].join('\n\n')
}

function resourcesModule(): string {
  const operations = operationsOf(contract)
  const resources = [...new Set(operations.map(({ resource }) => resource))]
  const clash = resources.find((resource) => METHODS_OF_CLIENT.includes(resource))
  if (clash !== undefined)
    throw new Error(`Petstore has a method ${clash}: give its operations other names in NAMES`)
  const classes = resources.map((resource) => {
    const methods = operations.filter((each) => each.resource === resource).map(methodOf)
    return `class ${className(resource)}(Resource):\n${methods.join('\n\n')}\n`
  })
  const fields = resources.map(
    (resource) => `        self.${snakeCase(resource)} = ${className(resource)}(transport)`,
  )
  const all = `class Resources:
    """The methods of the contract, by resource."""

    def __init__(self, transport: Transport) -> None:
${fields.join('\n')}
`
  return [RESOURCES_HEADER, ...classes, all].join('\n\n')
}

await writeOrCheck({
  'client-python/petstore_inventory/types.py': typesModule(),
  'client-python/petstore_inventory/resources.py': resourcesModule(),
})

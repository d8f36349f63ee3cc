/**
 * Writes petstore_inventory/types.py from openapi.json (`--write`), or fails if the file differs from the contract
 * (`--check`). It throws on a schema that it does not support.
 */

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: boolean | string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
}

interface Contract {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const CONTRACT = new URL('../../openapi.json', import.meta.url)
const TYPES = new URL('../petstore_inventory/types.py', import.meta.url)

const HEADER = `"""The records of the contract. Generated from openapi.json by npm run contract:client; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`

/** Errors are PetstoreError, and deliveries are WebhookEvent. */
function isGenerated(name: string): boolean {
  return name !== 'Error' && !name.endsWith('Payload')
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return unionOf(choices)
  if (schema.enum !== undefined) return `Literal[${schema.enum.map((value) => `"${value}"`).join(', ')}]`
  if (typeof schema.const === 'boolean') return schema.const ? 'Literal[True]' : 'Literal[False]'
  if (schema.type === 'integer') return 'int'
  if (schema.type === 'string') return 'str'
  if (schema.type === 'boolean') return 'bool'
  if (schema.type === 'array' && schema.items !== undefined) return `List[${typeOf(schema.items)}]`
  if (schema.type === 'object') return 'Dict[str, Any]'
  throw new Error(`contract-types.ts does not support ${JSON.stringify(schema)}`)
}

function unionOf(choices: readonly Schema[]): string {
  const types = choices.filter(({ type }) => type !== 'null').map(typeOf)
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

const contract = (await Bun.file(CONTRACT).json()) as Contract
const schemas = Object.entries(contract.components.schemas).filter(([name]) => isGenerated(name))
const classes = schemas
  .filter(([, schema]) => schema.properties !== undefined)
  .map(([name, schema]) => classOf(name, schema))
// Python evaluates these, so they follow the classes that they name.
const aliases = schemas
  .filter(([, schema]) => schema.properties === undefined)
  .map(([name, schema]) => `${name} = ${typeOf(schema)}\n`)
const text = [HEADER, ...classes, aliases.join('')].join('\n\n')

if (process.argv.includes('--write')) await Bun.write(TYPES, text)
else if (!(await Bun.file(TYPES).exists()) || (await Bun.file(TYPES).text()) !== text) {
  console.error(
    'client-python/petstore_inventory/types.py differs from openapi.json: npm run contract:client',
  )
  process.exit(1)
}
